/** Creates, numbers and deletes the ControllerRevisions of a workload (k8s.io/kubernetes/pkg/controller/history). */
import { apps } from '../../../../api/kubernetes/apps.ts'
import type { JsonObject } from '../../../../api/json.ts'
import { controllerReference } from '../../../../api/owner-reference.ts'
import { isAlreadyExists, isNotFound } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyObject } from '../../api-types.ts'
import { controllerIndex } from '../dependents.ts'
import type { Revision } from './revision.ts'
import { hasData } from './revision.ts'

/** An index of ControllerRevisions by the UID of their controller. */
export const revisionsByController = controllerIndex(apps.controllerRevision)

export interface NewRevision {
  readonly number: number
  readonly data: JsonObject
  /** Returns the name and labels of the revision. `collisions` is the number of earlier name collisions. */
  readonly metadataAfter: (collisions: number) => { readonly name: string; readonly labels: Readonly<Record<string, string>> }
}

/**
 * Creates a revision. If a revision with the same name and the same data exists, resolves with the existing revision. If a revision with
 * the same name and different data exists, increments `collisionCount`, and tries the next name.
 */
export async function createRevision(
  owner: ReadonlyObject,
  { number, data, metadataAfter }: NewRevision,
  collisionCount: number,
  { client }: ReconcileContext,
): Promise<{ readonly revision: Revision; readonly collisionCount: number }> {
  const { annotations } = owner.metadata
  const namespace = owner.metadata.namespace!
  for (let collisions = collisionCount; ; collisions += 1) {
    const { name, labels } = metadataAfter(collisions)
    const metadata = { namespace, name, labels, ...(annotations && { annotations }), ownerReferences: [controllerReference(owner)] }
    try {
      const revision = await client.create(apps.controllerRevision, { metadata, data, revision: number })
      return { revision, collisionCount: collisions }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    const existing = await client.get(apps.controllerRevision, { namespace, name })
    if (hasData(existing, data)) return { revision: existing, collisionCount: collisions }
  }
}

/** Sets the number of a revision. */
export function renumber({ metadata }: Revision, number: number, { client }: ReconcileContext): Promise<Revision> {
  return client.patch(apps.controllerRevision, metadata, { revision: number })
}

export async function deleteRevisions(revisions: readonly Revision[], { client }: ReconcileContext): Promise<void> {
  for (const { metadata } of revisions)
    await client.delete(apps.controllerRevision, metadata).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
}

/**
 * Returns the revisions to delete. These are the oldest unused revisions beyond the history limit. Revisions in use are not deleted, and do
 * not count towards the limit. If the limit is undefined or negative, no revision is deleted.
 *
 * @param revisions the revisions of the workload, oldest first.
 * @param inUse the names of the revisions in use.
 */
export function surplusRevisions(
  revisions: readonly Revision[],
  inUse: ReadonlySet<string | undefined>,
  limit: number | undefined,
): readonly Revision[] {
  const unused = revisions.filter(({ metadata }) => !inUse.has(metadata.name))
  return limit === undefined || limit < 0 ? [] : unused.slice(0, Math.max(0, unused.length - limit))
}
