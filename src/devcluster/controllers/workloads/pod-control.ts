/** Creates and deletes the Pods of a workload, and records Events about the workload. */
import type { Pod, PodSpec } from '../../../api/builtin.ts'
import { pod as podType } from '../../../api/builtin.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import type { ObjectInput } from '../../../api/object.ts'
import { controllerReference } from '../../../api/owner-reference.ts'
import { isApiError, isNotFound } from '../../../client/api-error.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyObject, ReadonlyPod } from '../api-types.ts'

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
  }
  readonly spec?: PodSpec
}

/**
 * Returns the Pod that an owner creates from a template. The API server generates the name of the Pod from the name of the owner
 * (k8s.io/kubernetes/pkg/controller: GetPodFromTemplate).
 */
export function podFromTemplate(template: DeepReadonly<PodTemplate> | undefined, owner: ReadonlyObject): ObjectInput<Pod> {
  const { labels, annotations, finalizers } = template?.metadata ?? {}
  return {
    metadata: {
      generateName: `${owner.metadata.name}-`,
      namespace: owner.metadata.namespace!,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: template?.spec as PodSpec,
  } as ObjectInput<Pod>
}

/** Creates a Pod. Resolves with undefined when the namespace is being deleted, because the API server then rejects all new Pods. */
export async function createPod(
  pod: ObjectInput<Pod>,
  owner: ReadonlyObject,
  { client, events }: ReconcileContext,
): Promise<Pod | undefined> {
  try {
    const created = await client.create(podType, pod)
    events.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
    return created
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined
    if (error instanceof Error) events.event(owner, 'Warning', 'FailedCreate', `Error creating: ${error.message}`)
    throw error
  }
}

/** Deletes a Pod. Does nothing when the Pod does not exist. */
async function deletePod({ metadata }: ReadonlyPod, owner: ReadonlyObject, { client, events }: ReconcileContext): Promise<void> {
  try {
    await client.delete(podType, metadata, { preconditions: { uid: metadata.uid } })
  } catch (error) {
    if (isNotFound(error)) return
    if (error instanceof Error) events.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${error.message}`)
    throw error
  }
  events.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${metadata.name}`)
}

/**
 * Deletes Pods in parallel.
 *
 * @throws the error of a failed deletion, after all deletions have ended.
 */
export async function deletePods(pods: readonly ReadonlyPod[], owner: ReadonlyObject, context: ReconcileContext): Promise<void> {
  throwFirst(await Promise.allSettled(pods.map((pod) => deletePod(pod, owner, context))))
}

/**
 * Runs a task `count` times, in batches of 1, 2, 4 and so on (k8s.io/kubernetes/pkg/controller/replicaset: slowStartBatch). The tasks of a
 * batch run in parallel. After a task has failed, no further batch starts. For example, if a quota rejects all Pods, only one request is
 * sent.
 *
 * @param maxBatch maximum number of tasks in a batch.
 * @throws the error of a failed task, after all tasks of its batch have ended.
 */
export async function slowStart(count: number, task: (index: number) => Promise<unknown>, maxBatch = Infinity): Promise<void> {
  for (let started = 0, batch = 1; started < count; batch *= 2) {
    const size = Math.min(batch, maxBatch, count - started)
    const from = started
    const results = await Promise.allSettled(Array.from({ length: size }, (_, index) => task(from + index)))
    throwFirst(results)
    started += size
  }
}

function throwFirst(results: readonly PromiseSettledResult<unknown>[]): void {
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Returns true when an object could not be created because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return isApiError(error) && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')
}
