/**
 * Finds the revisions of a StatefulSet. The update revision has the Pod template of the StatefulSet. The current revision has the Pod
 * template from before the update.
 */
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import { claimDependents, selects } from '../dependents.ts'
import { dataHash } from '../hash.ts'
import { createRevision, renumber, revisionsByController } from '../revisions/history.ts'
import type { Revision } from '../revisions/revision.ts'
import { compareRevisions, hasData, nextNumber, revisionData } from '../revisions/revision.ts'
import type { StatefulSet } from './ordinals.ts'

const hashLabel = 'controller.kubernetes.io/hash'
/**
 * Maximum length of the StatefulSet's name in the names of its revisions, in characters. A longer name is shortened
 * (k8s.io/kubernetes/pkg/controller/history: ControllerRevisionName).
 */
const maxPrefixLength = 223

export interface Revisions {
  /** The revision that the Pods had before the update. When no update is in progress, `current` is equal to `update`. */
  readonly current: Revision
  /** The revision of the StatefulSet's Pod template. */
  readonly update: Revision
  /** All revisions that existed before this reconcile, oldest first. */
  readonly history: readonly Revision[]
  readonly collisionCount: number
}

/**
 * Resolves with the revisions of a StatefulSet. If no revision has the Pod template of the StatefulSet, creates a revision. If an old
 * revision has the template, this revision gets the highest number (k8s.io/kubernetes/pkg/controller/statefulset: getStatefulSetRevisions).
 */
export async function findRevisions(set: StatefulSet, context: ReconcileContext): Promise<Revisions> {
  // Kubernetes ignores revisions that the selector does not match. Without `isSelected`, `claimDependents` would release these revisions.
  const isSelected = (revision: Revision): boolean => selects(set.spec?.selector, revision)
  const claimed = await claimDependents(revisionsByController, set, context, isSelected)
  const history = claimed.toSorted(compareRevisions)
  const { collisionCount, update } = await findOrCreate(set, history, context)
  const current = history.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update
  return { current, update, history, collisionCount }
}

async function findOrCreate(
  set: StatefulSet,
  history: readonly Revision[],
  context: ReconcileContext,
): Promise<Pick<Revisions, 'update' | 'collisionCount'>> {
  const { collisionCount = 0 } = set.status ?? {}
  const data = revisionData(set.spec?.template)
  const equal = history.findLast((revision) => hasData(revision, data))
  const newest = history.at(-1)
  if (newest !== undefined && hasData(newest, data)) return { update: newest, collisionCount }
  const number = nextNumber(history)
  if (equal !== undefined) return { update: await renumber(equal, number, context), collisionCount }
  const prefix = set.metadata.name.slice(0, maxPrefixLength)
  const labels = { ...set.spec?.template.metadata?.labels, [hashLabel]: dataHash(data, collisionCount) }
  const metadataAfter = (collisions: number) => ({ name: `${prefix}-${dataHash(data, collisions)}`, labels })
  const created = await createRevision(set, { number, data, metadataAfter }, collisionCount, context)
  return { update: created.revision, collisionCount: created.collisionCount }
}
