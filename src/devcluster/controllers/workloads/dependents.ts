/**
 * Finds the dependents of a workload. Adopts selected objects that have no controller, and releases dependents that the selector no longer
 * matches.
 */
import { pod as podType } from '../../../api/builtin.ts'
import { apps } from '../../../api/kubernetes/apps.ts'
import type { ObjectOf, ResourceType } from '../../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import type { LabelSelector } from '../../../api/label-selector.ts'
import { matchesLabels, requirementsOf } from '../../../api/label-selector.ts'
import type { KubernetesObject, ObjectKey } from '../../../api/object.ts'
import { controllerOf, controllerReference } from '../../../api/owner-reference.ts'
import type { CacheIndex } from '../../../cache/cache-index.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import { defineCacheIndex } from '../../../cache/cache-index.ts'
import { isConflict, isInvalid, isNotFound } from '../../../client/api-error.ts'
import type { ReconcileContext } from '../../../controller/reconciler.ts'
import type { ReadonlyObject } from '../api-types.ts'

/** The index key of objects that have no controller. A UID is never empty, so this key is different from all UIDs. */
const noController = ''

/**
 * The type of a label selector in the TypeScript types of the built-in kinds. The type permits any string as `operator`, but the API server
 * accepts only valid operators.
 */
type Selector = Pick<LabelSelector, 'matchLabels'> & {
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[]
}

/** An owner that selects its dependents by labels. */
export type Selecting = KubernetesObject & { readonly spec?: { readonly selector?: Selector } }

/** Returns an index of the objects of `type` by the UID of their controller. */
export function controllerIndex<R extends ResourceType>(type: R): CacheIndex<R> {
  return defineCacheIndex(type, 'controller', (object) => controllerOf(object)?.uid ?? noController)
}

/** An index of Pods by the UID of their controller. */
export const podsByController = controllerIndex(podType)

/** An index of ReplicaSets by the UID of their controller. */
export const replicaSetsByController = controllerIndex(apps.replicaSet)

/** Returns true when a selector matches the labels of an object. An absent selector matches nothing. */
export function selects(selector: Selector | undefined, { metadata }: ReadonlyObject): boolean {
  return selector !== undefined && matchesLabels(requirementsOf(selector as LabelSelector), metadata.labels)
}

/**
 * Returns the objects in the owner's namespace whose controller is the owner, including objects that the owner's selector does not match.
 */
export function controlledBy<R extends ResourceType>(
  index: CacheIndex<R>,
  { metadata }: ReadonlyObject,
  { cache }: { readonly cache: CacheReader },
): readonly DeepReadonly<ObjectOf<R>>[] {
  return cache.list(index.type, { namespace: metadata.namespace, index: [index, metadata.uid] })
}

/**
 * Returns the dependents of an owner: the objects that the owner controls and whose labels match the owner's selector. If the owner is not
 * being deleted, `claimDependents` also does the following (k8s.io/kubernetes/pkg/controller: BaseControllerRefManager.ClaimObject):
 *
 * - It adopts matching objects that have no controller and are not being deleted. The result includes the adopted objects.
 * - It releases controlled objects that do not match.
 *
 * @param isCandidate returns false for an object that `claimDependents` must ignore. Default: all objects are candidates.
 * @param isMember an additional condition for dependents. If `isMember` returns false for an object, the object does not match, whatever
 *   its labels are. Default: there is no additional condition.
 */
export async function claimDependents<R extends ResourceType>(
  index: CacheIndex<R>,
  owner: DeepReadonly<Selecting>,
  context: ReconcileContext,
  isCandidate: (object: DeepReadonly<ObjectOf<R>>) => boolean = () => true,
  isMember: (object: DeepReadonly<ObjectOf<R>>) => boolean = () => true,
): Promise<readonly DeepReadonly<ObjectOf<R>>[]> {
  const { selector } = owner.spec ?? {}
  const isDeleted = owner.metadata.deletionTimestamp !== undefined
  const belongs = (object: DeepReadonly<ObjectOf<R>>): boolean => selects(selector, object) && isMember(object)
  const controlled = controlledBy(index, owner, context).filter(isCandidate)
  const dependents = controlled.filter(belongs)
  if (isDeleted) return dependents
  for (const object of controlled) if (!belongs(object)) await release(index.type, object, owner, context)
  const free = context.cache.list(index.type, { namespace: owner.metadata.namespace, index: [index, noController] })
  const adopted: DeepReadonly<ObjectOf<R>>[] = []
  for (const object of free) {
    if (object.metadata.deletionTimestamp !== undefined || !isCandidate(object) || !belongs(object)) continue
    const patched = await adopt(index.type, object, owner, context)
    if (patched !== undefined) adopted.push(patched)
  }
  return [...dependents, ...adopted]
}

/**
 * Makes the owner the controller of an object. Resolves with the patched object. Resolves with undefined if the object no longer exists or
 * has changed.
 */
async function adopt<R extends ResourceType>(
  type: R,
  { metadata }: ReadonlyObject,
  owner: ReadonlyObject,
  { client }: ReconcileContext,
): Promise<DeepReadonly<ObjectOf<R>> | undefined> {
  const ownerReferences = [...(metadata.ownerReferences ?? []), controllerReference(owner)]
  const patch: object = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, ownerReferences } }
  const untyped: ResourceType = type
  return (await unlessChanged(client.patch(untyped, metadata, patch))) as DeepReadonly<ObjectOf<R>> | undefined
}

async function release(
  type: ResourceType,
  { metadata }: ReadonlyObject,
  owner: ReadonlyObject,
  { client }: ReconcileContext,
): Promise<void> {
  const ownerReferences = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid)
  const patch: object = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, ownerReferences } }
  await unlessChanged(client.patch(type, metadata, patch))
}

/**
 * Resolves with the response of a patch request. Resolves with undefined in these cases:
 *
 * - The object no longer exists.
 * - The object has changed.
 * - A new object has the same name. The API server rejects the patch as invalid, because the patch contains the UID of the earlier object.
 *
 * In each case, the watch event of the change triggers another reconcile.
 */
async function unlessChanged<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response
  } catch (error) {
    if (isNotFound(error) || isConflict(error) || isInvalid(error)) return undefined
    throw error
  }
}

/**
 * Returns a function that maps an object to the owners that may adopt the object: the owners in the same namespace whose selector matches
 * the object. An object that already has a controlling owner is mapped to no owner, because `owns` of the controller definition enqueues
 * the controlling owner.
 *
 * @param asSelecting converts an owner to an object with a label selector. Only necessary for a type whose selector is not a label
 *   selector, such as ReplicationController.
 */
export function mayAdopt<R extends ResourceType>(
  ownerType: R,
  asSelecting: (owner: DeepReadonly<ObjectOf<R>>) => DeepReadonly<Selecting> = (owner) => owner as DeepReadonly<Selecting>,
): (object: ReadonlyObject, context: { readonly cache: CacheReader }) => readonly ObjectKey[] {
  return (object, { cache }) => {
    if (controllerOf(object) !== undefined) return []
    const owners = cache.list(ownerType, { namespace: object.metadata.namespace }).map(asSelecting)
    return owners.filter(({ spec }) => selects(spec?.selector, object)).map(({ metadata }) => metadata)
  }
}
