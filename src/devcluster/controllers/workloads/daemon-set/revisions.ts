/** Finds, creates and deletes the ControllerRevisions of a DaemonSet (k8s.io/kubernetes/pkg/controller/daemon: constructHistory). */
import { pod as podType } from '../../../../api/builtin.ts'
import { apps } from '../../../../api/kubernetes/apps.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { claimDependents } from '../dependents.ts'
import { templateHash } from '../hash.ts'
import { createRevision, deleteRevisions, renumber, revisionsByController } from '../revisions/history.ts'
import type { Revision } from '../revisions/revision.ts'
import { compareRevisions, hasData, nextNumber, podRevision, podRevisionLabel, revisionData } from '../revisions/revision.ts'
import type { DaemonSet } from './pods.ts'

export interface DaemonRevisions {
  /** The hash of the current Pod template. Pods with this template have the hash in the label `controller-revision-hash`. */
  readonly hash: string
  /** The ControllerRevisions whose template is not the current Pod template, lowest number first. */
  readonly old: readonly Revision[]
  /**
   * The new value of `status.collisionCount`: the number of name collisions between a new revision and an existing revision. Undefined if
   * no collision has ever happened.
   */
  readonly collisionCount: number | undefined
}

/**
 * Resolves with the revisions of a DaemonSet. If no revision has the current template, creates a revision. If an earlier revision has the
 * current template, makes the number of this revision higher than the numbers of all other revisions.
 */
export async function findRevisions(set: DaemonSet, pods: readonly ReadonlyPod[], context: ReconcileContext): Promise<DaemonRevisions> {
  const data = revisionData(set.spec?.template)
  const claimed = await claimDependents(revisionsByController, set, context)
  const all: Revision[] = []
  for (const revision of claimed) all.push(await withHash(revision, context))
  all.sort(compareRevisions)
  const old = all.filter((revision) => !hasData(revision, data))
  const current = all.filter((revision) => hasData(revision, data))
  const number = nextNumber(old)
  const { collisionCount } = set.status ?? {}
  const newest = current.at(-1)
  if (newest === undefined) {
    const { name } = set.metadata
    const metadataAfter = (collisions: number) => {
      const hash = templateHash(set.spec?.template, collisions)
      return { name: `${name}-${hash}`, labels: { ...set.spec?.template.metadata?.labels, [podRevisionLabel]: hash } }
    }
    const created = await createRevision(set, { number, data, metadataAfter }, collisionCount ?? 0, context)
    return { hash: podRevision(created.revision), old, collisionCount: created.collisionCount || collisionCount }
  }
  const hash = podRevision(newest)
  if (current.length > 1) await removeDuplicates(current.slice(0, -1), hash, pods, context)
  if (newest.revision < number) await renumber(newest, number, context)
  return { hash, old, collisionCount }
}

/** Adds the label `controller-revision-hash` to a revision without this label. The value of the label is the name of the revision. */
async function withHash(revision: Revision, { client }: ReconcileContext): Promise<Revision> {
  if (podRevision(revision) !== '') return revision
  const { metadata } = revision
  return client.patch(apps.controllerRevision, metadata, { metadata: { labels: { [podRevisionLabel]: metadata.name } } })
}

/**
 * Deletes the duplicates of the current revision. Before the deletion, all Pods of the DaemonSet, including Pods of older templates, get
 * the hash of the current revision in the label `controller-revision-hash` (…/daemon: dedupCurHistories).
 */
async function removeDuplicates(
  duplicates: readonly Revision[],
  hash: string,
  pods: readonly ReadonlyPod[],
  context: ReconcileContext,
): Promise<void> {
  for (const pod of pods)
    if (podRevision(pod) !== hash) await context.client.patch(podType, pod.metadata, { metadata: { labels: { [podRevisionLabel]: hash } } })
  await deleteRevisions(duplicates, context)
}

/**
 * Returns the old revisions that exceed the history limit, oldest first. A revision is not returned while Pods of this revision exist
 * (…/daemon: cleanupHistory).
 */
export function surplusOf({ spec }: DaemonSet, old: readonly Revision[], pods: readonly ReadonlyPod[]): readonly Revision[] {
  const surplus = Math.max(0, old.length - (spec?.revisionHistoryLimit ?? old.length))
  const live = new Set(pods.map(podRevision))
  return old.filter((revision) => !live.has(podRevision(revision))).slice(0, surplus)
}
