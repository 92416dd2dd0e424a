/** `VolumePayload`: the files of a volume whose content comes from API objects. The total size of the files is limited. */
import type { ProjectedFile } from './atomic-writer.ts'

/**
 * Maximum total size of the files of a volume, in bytes. The kubelet has no such limit. Proreus needs the limit, because all files are in
 * memory before they are written. The items of a volume can list one key thousands of times, and the value of the key can have up to 1 MiB
 * (k8s.io/api/core/v1: MaxSecretSize).
 */
const maxBytes = 64 * 1024 * 1024

/** Thrown when the files of a volume are too large. The message of this error becomes part of the message of the Event `FailedMount`. */
export class VolumeSizeError extends Error {
  override readonly name = 'VolumeSizeError'

  constructor() {
    super(`the files of the volume are larger than ${maxBytes} bytes together: show fewer or smaller keys in it`)
  }
}

/** A map of the files of a volume, keyed by their path relative to the volume. */
export class VolumePayload extends Map<string, ProjectedFile> {
  #bytes = 0

  /** @throws {VolumeSizeError} when the total size of the files exceeds the limit. */
  override set(path: string, file: ProjectedFile): this {
    this.#bytes += file.data.length - (this.get(path)?.data.length ?? 0)
    if (this.#bytes > maxBytes) throw new VolumeSizeError()
    return super.set(path, file)
  }
}
