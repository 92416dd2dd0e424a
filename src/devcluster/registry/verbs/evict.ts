/** A POST to `pods/eviction`: deletes the Pod if no PodDisruptionBudget forbids the eviction. */
import type { Condition } from '../../../api/conditions.ts'
import { mergeConditions } from '../../../api/conditions.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import { admitAll } from '../../admission/admission.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import { bareError, notFound, StatusError } from '../../apimachinery/status-error.ts'
import { at, listAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { SubresourceInfo } from '../../rest/subresource.ts'
import type { Environment } from '../environment.ts'
import { metadataText } from '../metadata.ts'
import { writeObject } from '../write/pipeline.ts'
import { checkPreconditions, deleteObject } from './delete.ts'
import { allowsUnready, budgetsOf, decremented, isUnprotected, mayBecomeReady, stillProcessed } from './eviction-budgets.ts'
import type { SubresourcePost } from './subresource-post.ts'
import { attributesOf } from './subresource-post.ts'
import { updateOf } from './update.ts'

/** Maximum number of attempts when other requests cause conflicts (EvictionsRetry of kube-apiserver). */
const attempts = 20

/**
 * Evicts a Pod. Webhooks are called for the CREATE of the subresource, and not for a DELETE
 * (k8s.io/kubernetes/pkg/registry/core/pod/storage: EvictionREST.Create).
 *
 * @throws {StatusError} 429 when a budget forbids the eviction, 500 when the Pod has several budgets.
 */
export async function evict(
  environment: Environment,
  post: SubresourcePost,
  optionsOf: NonNullable<SubresourceInfo['deletes']>,
): Promise<JsonObject> {
  const { info, key, body, context } = post
  const attributes = attributesOf(post)
  const admitted = (await environment.admission.mutate({ ...attributes, object: body }, (changed) => changed)) ?? body
  const options = optionsOf(key.name, admitted, context)
  await environment.admission.validate({ ...attributes, object: admitted })
  const dryRun = context.dryRun || (Array.isArray(options.dryRun) && options.dryRun.length > 0)
  const eviction = { environment: { ...environment, admission: admitAll }, info, key, options, context: { ...context, dryRun } }
  const hasRevision = givenRevision(options) !== undefined
  const deleted = await retryConflicts(hasRevision ? 1 : attempts, async () => {
    const pod = storedPod(eviction)
    if (!isUnprotected(pod)) return undefined
    return markAndDelete(eviction, mayBecomeReady(pod) ? metadataText(pod, 'resourceVersion') : undefined)
  })
  if (deleted !== undefined) return deleted
  const pod = storedPod(eviction)
  const [budget, ...others] = budgetsOf(pod, storedBudgets(environment, key))
  if (others.length > 0) throw bareError('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
  if (budget === undefined) return markAndDelete(eviction, undefined)
  const budgetName = metadataText(budget, 'name')
  if (!allowsUnready(pod, budget)) {
    await retryConflicts(attempts, () => useBudget(eviction, budgetName))
    return markAndDelete(eviction, undefined)
  }
  try {
    return await markAndDelete(eviction, metadataText(pod, 'resourceVersion'))
  } catch (error) {
    // A conflict means that the Pod has changed since it was read. The Pod may be ready now, so the client must try the eviction again.
    throw isConflict(error) && !hasRevision ? stillProcessed(budgetName) : error
  }
}

interface Eviction {
  readonly environment: Environment
  readonly info: ResourceInfo
  readonly key: ObjectKey
  readonly options: JsonObject
  readonly context: RequestContext
}

async function retryConflicts<T>(count: number, attempt: () => Promise<T>): Promise<T> {
  for (let left = count; ; left -= 1) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 1 || !isConflict(error)) throw error
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.status.reason === 'Conflict'
}

function givenRevision({ preconditions }: JsonObject): unknown {
  return at(preconditions, 'resourceVersion')
}

const budgetsKey = 'policy/poddisruptionbudgets'

function storedBudgets({ store }: Environment, { namespace = '' }: ObjectKey): readonly JsonObject[] {
  const { keys, get } = store.snapshot(budgetsKey, namespace)
  return keys.map((key) => get(key)!)
}

/**
 * Decrements the allowed disruptions of a budget. kube-apiserver updates the budget with a request to itself, so the field manager of the
 * update is `kube-apiserver`.
 *
 * @throws {StatusError} 429 when the budget allows no disruption, 409 when the budget has changed.
 */
async function useBudget({ environment, key: podKey, context }: Eviction, name: string): Promise<void> {
  const info = environment.catalog.find('policy', 'v1', 'poddisruptionbudgets')!
  const key = { namespace: podKey.namespace, name }
  const budget = environment.store.latest(info.storageKey, key)
  if (budget === undefined) throw notFound(info, name)
  const changed = decremented(budget, podKey.name, environment.clock.now())
  if (context.dryRun) return
  const own = { ...context, fieldManager: 'kube-apiserver', options: {} }
  await writeObject(environment, info, updateOf(info, key, { object: changed, duplicates: [] }, own, 'status'))
}

function storedPod({ environment, info, key }: Eviction): JsonObject {
  const pod = environment.store.latest(info.storageKey, key)
  if (pod === undefined) throw notFound(info, key.name)
  return pod
}

/**
 * Adds the condition `DisruptionTarget` to the Pod, and then deletes the Pod.
 *
 * @param revision the resourceVersion that the Pod must have. If the preconditions of the client contain a resourceVersion, `revision` is
 *   ignored.
 */
async function markAndDelete(eviction: Eviction, revision: string | undefined): Promise<JsonObject> {
  const { environment, info, key, context, options: given } = eviction
  const options = givenRevision(given) === undefined && revision !== undefined ? withPrecondition(given, revision) : given
  if (context.dryRun) return (await deleteObject(environment, info, key, options, context)).object
  const marked = await mark(eviction, options)
  const checked = givenRevision(options) === undefined ? options : withPrecondition(options, metadataText(marked, 'resourceVersion'))
  return (await deleteObject(environment, info, key, checked, context)).object
}

/**
 * Adds the condition `DisruptionTarget` to the stored Pod. If the Pod is changed by another write at the same time, the function tries
 * again with the changed Pod.
 */
async function mark(eviction: Eviction, options: JsonObject): Promise<JsonObject> {
  const { store, representation, clock } = eviction.environment
  for (;;) {
    const pod = storedPod(eviction)
    checkPreconditions(eviction.info, pod, options)
    const object = await representation.toStorage(eviction.info, disrupted(pod, clock.now()))
    const marked = await store.put(eviction.info.storageKey, eviction.key, object, pod)
    if (marked !== undefined) return marked
  }
}

function withPrecondition(options: JsonObject, resourceVersion: string): JsonObject {
  return { ...options, preconditions: { ...(isObject(options.preconditions) ? options.preconditions : {}), resourceVersion } }
}

function disrupted(pod: JsonObject, now: number): JsonObject {
  const conditions = listAt(pod, 'status', 'conditions').filter(isObject)
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  } as const
  const before = conditions.filter(({ type }) => type === condition.type) as unknown as readonly Condition[]
  const [merged] = mergeConditions(before, [condition], { now })
  const others = conditions.filter(({ type }) => type !== condition.type)
  const added = { lastProbeTime: null, ...merged } as unknown as JsonObject
  return { ...pod, status: { ...(isObject(pod.status) ? pod.status : {}), conditions: [...others, added] } }
}
