/** The files that a volume contains for a ConfigMap, for a Secret or for the downward API. */
import { posix } from 'node:path'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import { podFieldText } from '../environment/pod-field.ts'
import { resourceText } from '../environment/resource-field.ts'
import type { ReadonlyConfigMap, ReadonlySecret, ResourceList } from '../environment/sources.ts'
import { entryOf } from '../environment/sources.ts'
import { combinedError } from './combined-error.ts'
import type { ProjectedFile } from './atomic-writer.ts'
import { VolumePayload } from './volume-payload.ts'

export type Files = ReadonlyMap<string, ProjectedFile>
type Volume = NonNullable<NonNullable<ReadonlyPod['spec']>['volumes']>[number]
type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number]

export interface KeyToPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

export interface ProjectionOptions {
  /** The keys that become files, and the paths of the files. By default, each key becomes a file with the name of the key. */
  readonly items?: readonly KeyToPath[] | undefined
  /** The permissions of a file whose item has no `mode`. */
  readonly defaultMode: number
  /** True when missing keys are ignored. */
  readonly isOptional: boolean
}

/**
 * Returns the files of a ConfigMap (k8s.io/kubernetes/pkg/volume/configmap: MakePayload). A missing ConfigMap counts as an empty ConfigMap.
 *
 * @throws {Error} with the message of the kubelet for a missing key.
 * @throws {VolumeSizeError} when the total size of the files is too large.
 */
export function configMapFiles(configMap: ReadonlyConfigMap | undefined, options: ProjectionOptions): Files {
  const { data = {}, binaryData = {} } = configMap ?? {}
  return filesOf(options, {
    keys: [...Object.keys(data), ...Object.keys(binaryData)],
    read(key) {
      const text = entryOf(data, key)
      return text === undefined ? decoded(entryOf(binaryData, key)) : Buffer.from(text)
    },
    missing: (key) => `configmap references non-existent config key: ${key}`,
  })
}

/** Returns the files of a Secret (k8s.io/kubernetes/pkg/volume/secret: MakePayload). A missing Secret counts as an empty Secret. */
export function secretFiles(secret: ReadonlySecret | undefined, options: ProjectionOptions): Files {
  const { data = {} } = secret ?? {}
  return filesOf(options, {
    keys: Object.keys(data),
    read: (key) => decoded(entryOf(data, key)),
    missing: (key) => `references non-existent secret key: ${key}`,
  })
}

interface KeyReader {
  readonly keys: readonly string[]
  read(key: string): Buffer | undefined
  missing(key: string): string
}

function filesOf({ items = [], defaultMode, isOptional }: ProjectionOptions, { keys, read, missing }: KeyReader): Files {
  const files = new VolumePayload()
  const wanted: readonly KeyToPath[] = items.length > 0 ? items : keys.map((key) => ({ key, path: key }))
  for (const { key, path, mode = defaultMode } of wanted) {
    const data = read(key)
    if (data !== undefined) files.set(path, { data, mode })
    else if (!isOptional) throw new Error(missing(key))
  }
  return files
}

function decoded(base64: string | undefined): Buffer | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64')
}

/**
 * Returns the files of a downward API volume (k8s.io/kubernetes/pkg/volume/downwardapi: CollectData).
 *
 * @throws {Error} with all problems of the items.
 * @throws {VolumeSizeError} when the total size of the files is too large.
 */
export function downwardFiles(
  pod: ReadonlyPod,
  items: readonly DownwardItem[],
  { defaultMode, allocatable }: { readonly defaultMode: number; readonly allocatable?: ResourceList | undefined },
): Files {
  const errors: unknown[] = []
  const files = new VolumePayload()
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    let text = ''
    try {
      if (fieldRef !== undefined) text = podFieldText(pod, fieldRef.fieldPath)
      else if (resourceFieldRef !== undefined) text = resourceText(pod, resourceFieldRef, allocatable)
    } catch (error) {
      errors.push(error)
    }
    files.set(posix.normalize(path), { data: Buffer.from(text), mode })
  }
  if (errors.length > 0) throw combinedError(errors)
  return files
}
