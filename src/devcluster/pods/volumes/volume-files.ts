/** `volumeFiles`: the files of a volume whose content comes from API objects (secret, configMap, downwardAPI, projected). */
import { quote } from '../../../api/field-error.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { ConfigSources, ResourceList } from '../environment/sources.ts'
import { combinedError } from './combined-error.ts'
import { commonUserOf } from './containers.ts'
import type { Files, KeyToPath } from './projected-files.ts'
import { configMapFiles, downwardFiles, secretFiles } from './projected-files.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'
import { VolumePayload, VolumeSizeError } from './volume-payload.ts'

type Volume = NonNullable<NonNullable<ReadonlyPod['spec']>['volumes']>[number]
type ProjectedSource = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

export interface FileSources {
  readonly objects: ConfigSources
  readonly tokens: ServiceAccountTokens
  /** The allocatable resources of the node. Default: none. */
  readonly allocatable?: ResourceList | undefined
}

/** The default of `defaultMode` in the API (k8s.io/api/core/v1: ConfigMapVolumeSourceDefaultMode and others). */
const standardMode = 0o644
/**
 * The permissions of a token file if all containers run as the same user, or if the Pod has an `fsGroup`
 * (k8s.io/kubernetes/pkg/volume/projected: collectData).
 */
const tokenMode = 0o600

/**
 * Resolves with the files of a volume.
 *
 * @throws {Error} when an object or a key is missing, with the message of the kubelet, e.g. `configmap "x" not found`; when a projected
 *   source is not supported; when the total size of the files exceeds the limit of `VolumePayload`.
 */
export async function volumeFiles(pod: ReadonlyPod, volume: Volume, sources: FileSources): Promise<Files> {
  const { allocatable } = sources
  if (volume.configMap !== undefined || volume.secret !== undefined) return objectFiles(pod, volume, sources.objects)
  if (volume.downwardAPI !== undefined) {
    const { items = [], defaultMode = standardMode } = volume.downwardAPI
    return downwardFiles(pod, items, { defaultMode, allocatable })
  }
  const { sources: parts = [], defaultMode } = volume.projected ?? {}
  return projected(parts, (part) => projectedPart(pod, part, defaultMode, sources))
}

/**
 * Returns true if the volume contains files from ConfigMaps or Secrets. Returns false for a volume with a ServiceAccount token, even if the
 * volume also contains such files. The API server adds a volume with a token to almost every Pod, so a check of such volumes would need
 * additional requests for almost every Pod.
 */
export function refersToObjects({ configMap, secret, projected }: Volume): boolean {
  if (configMap !== undefined || secret !== undefined) return true
  const parts = projected?.sources ?? []
  return !parts.some((part) => part.serviceAccountToken !== undefined) && parts.some((part) => part.configMap ?? part.secret)
}

/**
 * Resolves with the files of ConfigMaps and Secrets in a volume.
 *
 * @throws {Error} when an object or a key is missing, with the message of the kubelet.
 */
export async function objectFiles(pod: ReadonlyPod, volume: Volume, objects: ConfigSources): Promise<Files> {
  if (volume.configMap !== undefined) return configMap(pod, volume.configMap, volume.configMap.defaultMode, { objects })
  if (volume.secret !== undefined)
    return secret(pod, { ...volume.secret, name: volume.secret.secretName }, volume.secret.defaultMode, { objects })
  const sources = (volume.projected?.sources ?? []).filter((part) => part.configMap ?? part.secret)
  return projected(sources, (part) => objectPart(pod, part, standardMode, { objects }))
}

interface Reference {
  readonly name?: string | undefined
  readonly items?: readonly KeyToPath[]
  readonly optional?: boolean
}

async function configMap(
  pod: ReadonlyPod,
  ref: Reference,
  defaultMode = standardMode,
  { objects }: Pick<FileSources, 'objects'>,
): Promise<Files> {
  const { name = '', items, optional: isOptional = false } = ref
  const found = await objects.configMap(pod.metadata.namespace, name)
  if (found === undefined && !isOptional) throw new Error(`configmap ${quote(name)} not found`)
  return configMapFiles(found, { items, defaultMode, isOptional })
}

async function secret(
  pod: ReadonlyPod,
  ref: Reference,
  defaultMode = standardMode,
  { objects }: Pick<FileSources, 'objects'>,
): Promise<Files> {
  const { name = '', items, optional: isOptional = false } = ref
  const found = await objects.secret(pod.metadata.namespace, name)
  if (found === undefined && !isOptional) throw new Error(`secret ${quote(name)} not found`)
  return secretFiles(found, { items, defaultMode, isOptional })
}

/**
 * Combines the files of all sources. If two sources have a file with the same path, the file of the later source is used
 * (k8s.io/kubernetes/pkg/volume/projected: collectData).
 */
async function projected(parts: readonly ProjectedSource[], filesOf: (part: ProjectedSource) => Promise<Files>): Promise<Files> {
  const errors: unknown[] = []
  const files = new VolumePayload()
  for (const part of parts) {
    try {
      for (const [path, file] of await filesOf(part)) files.set(path, file)
    } catch (error) {
      errors.push(error)
      if (error instanceof VolumeSizeError) break
    }
  }
  if (errors.length > 0) throw combinedError(errors)
  return files
}

/** Resolves with the files of a ConfigMap or a Secret. For another source, resolves with an empty map. */
async function objectPart(
  pod: ReadonlyPod,
  part: ProjectedSource,
  defaultMode: number,
  sources: Pick<FileSources, 'objects'>,
): Promise<Files> {
  if (part.secret !== undefined) return secret(pod, part.secret, defaultMode, sources)
  if (part.configMap !== undefined) return configMap(pod, part.configMap, defaultMode, sources)
  return new Map()
}

async function projectedPart(pod: ReadonlyPod, part: ProjectedSource, defaultMode = standardMode, sources: FileSources): Promise<Files> {
  if (part.secret !== undefined || part.configMap !== undefined) return objectPart(pod, part, defaultMode, sources)
  if (part.downwardAPI !== undefined)
    return downwardFiles(pod, part.downwardAPI.items ?? [], { defaultMode, allocatable: sources.allocatable })
  if (part.serviceAccountToken !== undefined) {
    const { path, audience, expirationSeconds } = part.serviceAccountToken
    const token = await sources.tokens.get({
      ...(audience !== undefined && { audience }),
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    })
    const uid = commonUserOf(pod)
    const isPrivate = uid !== undefined || pod.spec?.securityContext?.fsGroup !== undefined
    return new Map([[path, { data: Buffer.from(token), mode: isPrivate ? tokenMode : defaultMode, ...(uid !== undefined && { uid }) }]])
  }
  const [kind = 'an empty source'] = Object.entries(part).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  throw new Error(
    `the projected source ${kind} is not supported for Pods that run as processes. ` +
      'Supported are secret, configMap, downwardAPI and serviceAccountToken.',
  )
}
