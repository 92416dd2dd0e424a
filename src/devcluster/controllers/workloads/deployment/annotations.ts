/** The annotations of a Deployment and its ReplicaSets. `kubectl rollout history` and `kubectl rollout undo` read these annotations. */
import type { apps } from '../../../../api/kubernetes/apps.ts'
import type { DeepReadonly } from '../../../../api/json.ts'

type Deployment = DeepReadonly<apps.Deployment>
type Annotations = Readonly<Record<string, string>>

export const annotations = {
  /** The number of the revision. The new ReplicaSet has the highest number. */
  revision: 'deployment.kubernetes.io/revision',
  /**
   * The earlier revisions of a ReplicaSet, separated by commas. A ReplicaSet has earlier revisions if it has become the new ReplicaSet more
   * than once.
   */
  revisionHistory: 'deployment.kubernetes.io/revision-history',
  /** `spec.replicas` of the Deployment when the ReplicaSet was last scaled. */
  desiredReplicas: 'deployment.kubernetes.io/desired-replicas',
  /** The maximum number of Pods of the Deployment, including the surge, when the ReplicaSet was last scaled. */
  maxReplicas: 'deployment.kubernetes.io/max-replicas',
} as const

/** Annotations of a Deployment that are not copied to its ReplicaSets. */
const notCopied: readonly string[] = [
  ...Object.values(annotations),
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
]

/** Maximum length of the annotation with the earlier revisions (k8s.io/kubernetes/pkg/controller/deployment: maxRevHistoryLengthInChars). */
const maxHistoryLength = 2000

/** Returns the revision of a ReplicaSet; 0 when the annotation is missing or not a number. */
export function revisionOf({ metadata }: DeepReadonly<apps.ReplicaSet>): number {
  const text = metadata.annotations?.[annotations.revision] ?? ''
  return /^\d+$/.test(text) ? Number(text) : 0
}

/**
 * Returns the annotations of the new ReplicaSet (k8s.io/kubernetes/pkg/controller/deployment/util: SetNewReplicaSetAnnotations):
 *
 * - The annotations of the Deployment are added to `current`, the annotations of the ReplicaSet.
 * - If `revision` is higher than the current revision, `revision` replaces the current revision, and the current revision is added to the
 *   history.
 */
export function newReplicaSetAnnotations(deployment: Deployment, current: Annotations, revision: number): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => !notCopied.includes(name))
  const result = { ...current, ...Object.fromEntries(copied) }
  const earlier = current[annotations.revision]
  if (earlier !== undefined && !(Number(earlier) < revision)) return result
  result[annotations.revision] = String(revision)
  if (earlier !== undefined) result[annotations.revisionHistory] = historyWith(current[annotations.revisionHistory], earlier)
  return result
}

/** Adds a revision to a history, and drops the oldest revisions while the history is too long. */
function historyWith(history: string | undefined, revision: string): string {
  const revisions = [...(history ? history.split(',') : []), revision]
  while (revisions.length > 1 && revisions.join(',').length > maxHistoryLength) revisions.shift()
  return revisions.join(',')
}
