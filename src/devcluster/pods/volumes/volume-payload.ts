/** `VolumePayload`: the files of one volume that shows objects of the API. Their total size is limited. */
import type { ProjectedFile } from './atomic-writer.ts'

/**
 * Maximum size of all files of a volume, in bytes. The kubelet has no limit, but the items of a volume can show the same key of a ConfigMap
 * thousands of times, and all files are in memory before they are written. An object has at most 1 MiB (k8s.io/api/core/v1: MaxSecretSize).
 */
const maxBytes = 64 * 1024 * 1024

/** The message becomes part of the message of the Event `FailedMount`. */
export class VolumeSizeError extends Error {
  override readonly name = 'VolumeSizeError'

  constructor() {
    super(`the files of the volume are larger than ${maxBytes} bytes together: show fewer or smaller keys in it`)
  }
}

/** The files are keyed by their relative path. */
export class VolumePayload extends Map<string, ProjectedFile> {
  #bytes = 0

  /** @throws {VolumeSizeError} when the files are too large together. */
  override set(path: string, file: ProjectedFile): this {
    this.#bytes += file.data.length - (this.get(path)?.data.length ?? 0)
    if (this.#bytes > maxBytes) throw new VolumeSizeError()
    return super.set(path, file)
  }
}
