/**
 * Determines the ConfigMaps and Secrets that the volumes of a Pod contain (k8s.io/kubernetes/pkg/api/v1/pod: VisitPodConfigmapNames,
 * VisitPodSecretNames).
 */
import type { ReadonlyPod } from '../../controllers/api-types.ts'

export interface VolumeReferences {
  readonly configMaps: ReadonlySet<string>
  readonly secrets: ReadonlySet<string>
}

/**
 * Returns the names of the ConfigMaps and Secrets that the volumes of a Pod contain. When one of these objects changes, the volumes must be
 * updated.
 */
export function volumeReferencesOf({ spec }: ReadonlyPod): VolumeReferences {
  const volumes = spec?.volumes ?? []
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const names = (list: readonly (string | undefined)[]): ReadonlySet<string> => new Set(list.filter((name) => name !== undefined))
  return {
    configMaps: names([...volumes, ...sources].map(({ configMap }) => configMap?.name)),
    secrets: names([...volumes.map(({ secret }) => secret?.secretName), ...sources.map(({ secret }) => secret?.name)]),
  }
}
