/** `containerMounts`: the mounts of the volumes for one container (k8s.io/kubernetes/pkg/kubelet: makeMounts). */
import { posix } from 'node:path'
import { quote } from '../../../api/field-error.ts'
import type { Mount } from '../driver.ts'
import { ContainerConfigError } from '../environment/container-config-error.ts'
import { expand } from '../environment/expansion.ts'
import type { ReadonlyContainer } from '../environment/sources.ts'
import { prepareSubPath } from './sub-path.ts'

type VolumeMount = NonNullable<ReadonlyContainer['volumeMounts']>[number]

/** A volume that is ready. */
export interface ReadyVolume {
  /** The folder of the volume, or the file of a hostPath. */
  readonly path: string
  /** True for a volume to which no container may write. */
  readonly isReadOnly: boolean
}

/**
 * Resolves with the mounts for one start of a container. Every start needs new mounts, because an update of a ConfigMap or Secret volume
 * removes the files of the previous version of the volume. A `subPath` mount from an earlier start may refer to such a removed file.
 *
 * @param variables the environment variables of the container, to which `subPathExpr` refers.
 * @throws {ContainerConfigError} with the message of the kubelet when a mount cannot be used.
 */
export async function containerMounts(
  container: ReadonlyContainer,
  variables: ReadonlyMap<string, string>,
  volumes: ReadonlyMap<string, ReadyVolume>,
): Promise<readonly Mount[]> {
  const mounts: Mount[] = []
  for (const mount of container.volumeMounts ?? []) {
    const volume = volumes.get(mount.name)
    if (volume === undefined) {
      throw new ContainerConfigError(`cannot find volume ${quote(mount.name)} to mount into container ${quote(container.name)}`)
    }
    const subPath = subPathOf(mount, variables)
    checkReadOnlyMode(mount)
    mounts.push({
      source: subPath === '' ? volume.path : await subPathSource(volume, subPath, { mount, container }),
      target: posix.resolve('/', mount.mountPath),
      isReadOnly: mount.readOnly === true || volume.isReadOnly,
    })
  }
  return mounts
}

/** Returns the `subPath`, or the expanded `subPathExpr` (k8s.io/kubernetes/pkg/kubelet/container: ExpandContainerVolumeMounts). */
function subPathOf({ subPath = '', subPathExpr = '' }: VolumeMount, variables: ReadonlyMap<string, string>): string {
  const missing = new Set<string>()
  const expanded = expand(subPathExpr, (name) => {
    const value = variables.get(name) ?? ''
    if (value === '') missing.add(name)
    return value
  })
  if (missing.size > 0) throw new ContainerConfigError(`missing value for ${[...missing].sort().join(', ')}`)
  const path = subPathExpr === '' ? subPath : expanded
  if (path.startsWith('/')) throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`)
  if (path.split('/').includes('..')) throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`)
  return path
}

async function subPathSource(
  { path }: ReadyVolume,
  subPath: string,
  { mount, container }: { readonly mount: VolumeMount; readonly container: ReadonlyContainer },
): Promise<string> {
  try {
    return await prepareSubPath(path, subPath)
  } catch (error) {
    // Like the message of the kubelet, this message contains no paths of this machine.
    const message = `failed to prepare subPath for volumeMount ${quote(mount.name)} of container ${quote(container.name)}`
    throw new ContainerConfigError(message, { cause: error })
  }
}

/**
 * Checks the field `recursiveReadOnly` of a volume mount, like a kubelet whose container runtime does not support recursive read-only
 * mounts (k8s.io/kubernetes/pkg/kubelet: resolveRecursiveReadOnly):
 *
 * - `Enabled` is refused.
 * - `IfPossible` is accepted if the mount is read-only and its mount propagation is `None`. The mounts below such a mount stay writable.
 */
function checkReadOnlyMode({ name, readOnly, recursiveReadOnly: mode = 'Disabled', mountPropagation = 'None' }: VolumeMount): void {
  if (mode === 'Disabled') return
  const refused = (detail: string): ContainerConfigError =>
    new ContainerConfigError(
      `failed to resolve recursive read-only mode: volume ${quote(name)} requested recursive read-only mode, but it is ${detail}`,
    )
  if (readOnly !== true) throw refused('not read-only')
  if (mountPropagation !== 'None') throw refused(`not compatible with propagation ${quote(mountPropagation)}`)
  if (mode !== 'IfPossible') throw refused('not supported by the runtime')
}
