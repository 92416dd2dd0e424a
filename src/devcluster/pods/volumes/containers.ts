/** The containers of a Pod, the uid that these containers have in common, and the names of the volumes that these containers use. */
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { ReadonlyContainer } from '../environment/sources.ts'

/** Returns all containers of a Pod: init containers, regular and ephemeral containers. */
export function containersOf({ spec }: ReadonlyPod): readonly ReadonlyContainer[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])]
}

/**
 * Returns the uid that all containers of a Pod declare. Returns undefined if the uids differ, or if a container declares no uid
 * (k8s.io/kubernetes/pkg/volume/util: FsUserFrom).
 */
export function commonUserOf(pod: ReadonlyPod): number | undefined {
  const users = new Set(containersOf(pod).map(({ securityContext }) => securityContext?.runAsUser ?? pod.spec?.securityContext?.runAsUser))
  const [user] = users
  return users.size === 1 ? user : undefined
}

/** Returns the names of the volumes that containers use (k8s.io/kubernetes/pkg/volume/util: GetPodVolumeNames). */
export function usedVolumesOf(pod: ReadonlyPod): { readonly mounted: ReadonlySet<string>; readonly devices: ReadonlySet<string> } {
  const containers = containersOf(pod)
  return {
    mounted: new Set(containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name))),
    devices: new Set(containers.flatMap(({ volumeDevices = [] }) => volumeDevices.map(({ name }) => name))),
  }
}
