/** `applySet`: applies all dependents of an owner, and deletes those that are no longer desired. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupKindOf, groupResourceOf, isSameType } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { DeepReadonly } from '../api/json.ts'
import { jsonHash } from '../api/json-hash.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import { formatKey, keyOf } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isListOf, isResourceType, isSignal, isText, refuseOptions } from '../api/option-checks.ts'
import { controllerReference, isControlledBy } from '../api/owner-reference.ts'
import type { CacheReader } from '../cache/cache.ts'
import { Selector } from '../cache/stored-form.ts'
import { describeType } from '../cache/view.ts'
import { isConflict, isNotFound } from '../client/api-error.ts'
import type { Client } from '../client/client.ts'
import { requireKey } from '../client/resource-path.ts'
import type { ApplyInput, Writable } from '../client/write-types.ts'
import { applyIfChanged } from './apply-if-changed.ts'

/** A desired dependent, and its type. */
export interface Dependent<R extends ResourceType = ResourceType> {
  readonly type: R
  readonly object: Writable<ApplyInput<R>>
}

/** Returns a desired dependent for `applySet`. If `object` has no namespace, `applySet` uses the namespace of the owner. */
export function dependent<R extends ResourceType>(type: R, object: Writable<ApplyInput<R>>): Dependent<R> {
  return { type, object }
}

/** A client that writes, and a cache to read from. A reconcile context has both. */
export interface ApplySetContext {
  readonly client: Pick<Client, 'apply' | 'delete' | 'fieldManager' | 'get'>
  readonly cache: CacheReader
}

export interface ApplySetOptions {
  /**
   * All types that the set may contain. Objects of these types that are no longer desired are deleted. If a type is neither in `types` nor
   * in `objects`, its objects are never deleted. The controller must own or watch the types.
   */
  readonly types: readonly ResourceType[]
  /** The name of the set. Sets of one owner need different names. Default: an empty string. */
  readonly name?: string
  readonly signal?: AbortSignal | undefined
}

const checkOptions = hasOptions(
  { types: isListOf(isResourceType), name: isText, signal: isSignal } satisfies Record<keyof ApplySetOptions, OptionCheck>,
  ['types'],
)

/** An entry of the list of desired dependents. `false` and undefined mean that the dependent is not desired. */
export type OptionalDependent = Dependent | false | undefined

/**
 * The applied objects, in the order of the list of desired dependents. If an entry is `false` or undefined, its applied object is
 * undefined.
 */
export type AppliedObjects<Objects extends readonly OptionalDependent[]> = {
  readonly [Index in keyof Objects]: AppliedObject<Objects[Index]>
}
type AppliedObject<Entry> = Entry extends { readonly type: infer R } ? DeepReadonly<ObjectOf<R>> : undefined

/** The label on the objects of an apply set. Its value is the id of the set. */
export const applySetLabel = 'proreus.dev/apply-set'

interface Member {
  readonly type: ResourceType
  readonly key: ObjectKey
  readonly object: ApplyInput
}

/**
 * Applies the desired dependents of `owner` in order, and then deletes the dependents that are no longer desired. If nothing has changed,
 * no write request is sent (see `applyIfChanged`). After a failed apply request, no further request is sent.
 *
 * A dependent is not desired if its entry is `false` or undefined, e.g. `site.spec.tls && dependent(core.secret, …)`. For such an entry,
 * the result contains undefined. If you annotate the type of a variable that contains the list, use the type `OptionalDependent[]`.
 *
 * Each object gets the controller reference to `owner` and the label `proreus.dev/apply-set`. An object is deleted only if it has the label
 * of this set, and `owner` is its controller.
 *
 * Resolves to the live objects, from which the status can be computed.
 *
 * Rejects with the errors of `client.get`, `client.apply` and `client.delete`. Rejects with `PRO_CONFIG_INVALID` for an invalid or unknown
 * option. Rejects with `PRO_INPUT` when
 *
 * - the name or namespace of an object is missing or invalid,
 * - an object is desired twice,
 * - `owner` is namespaced, and an object is not in the same namespace,
 * - the type of an object is a view that does not select the object,
 * - an object exists that `owner` does not control.
 *
 * @example
 * const [config, deployment] = await applySet(
 *   context,
 *   site,
 *   [
 *     dependent(core.configMap, configFor(site)),
 *     dependent(apps.deployment, deploymentFor(site)),
 *     site.spec.scales && dependent(scaler, scalerFor(site)),
 *   ],
 *   { types: [core.configMap, apps.deployment, scaler] },
 * )
 */
export async function applySet<const Objects extends readonly OptionalDependent[]>(
  context: ApplySetContext,
  owner: DeepReadonly<KubernetesObject>,
  objects: Objects,
  options: ApplySetOptions,
): Promise<AppliedObjects<Objects>> {
  refuseOptions('applySet', checkOptions(options, ''))
  const { types, name = '', signal } = options
  const set = setId(owner, name)
  const entries = objects.map((each) => (each ? memberOf(each, owner, set) : undefined))
  const members = entries.filter((entry) => entry !== undefined)
  refuseDuplicates(members)
  const applied: unknown[] = []
  for (const entry of entries) {
    if (entry === undefined) {
      applied.push(undefined)
      continue
    }
    const { type, key, object } = entry
    await refuseForeign(context, type, key, owner, signal)
    applied.push(await applyIfChanged(context, type, object, { signal }))
  }
  const allTypes = [...types, ...members.map(({ type }) => type)]
  for (const type of allTypes.filter((each, index) => allTypes.findIndex((other) => isSameType(each, other)) === index)) {
    const kept = new Set(members.filter((member) => isSameType(member.type, type)).map(({ key }) => formatKey(key)))
    await prune(context, owner, { type, set, kept, signal })
  }
  return applied as unknown as AppliedObjects<Objects>
}

/** Returns the id of a set. The id is a hash, because the names of the owner and the set may be too long for the value of a label. */
function setId({ apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>, name: string): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return jsonHash([groupKindOf({ group, kind }), formatKey(metadata), name])
}

function memberOf({ type, object }: Dependent, owner: DeepReadonly<KubernetesObject>, set: string): Member {
  const { metadata } = object as ApplyInput
  const namespace = type.namespaced ? (metadata?.namespace ?? owner.metadata.namespace) : undefined
  requireKey(type, { namespace, name: metadata?.name })
  const key = namespace === undefined ? { name: metadata.name } : { namespace, name: metadata.name }
  const ownerNamespace = owner.metadata.namespace
  if (ownerNamespace !== undefined && namespace !== ownerNamespace) {
    throw new ProreusError(
      'PRO_INPUT',
      `${describe(type, key)} must be in the namespace ${quote(ownerNamespace)} of its owner: the garbage collector deletes dependents elsewhere.`,
    )
  }
  const labels = { ...metadata.labels, [applySetLabel]: set }
  const ownerReferences = [...(metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid), controllerReference(owner)]
  const member = { ...(object as ApplyInput), metadata: { ...metadata, ...key, labels, ownerReferences } }
  // If the type of an object is a view, the view must select the object. Otherwise the cache would never contain the object, every
  // reconcile would apply the object again, and no reconcile would delete the object.
  if (new Selector(type).selects(member as unknown as KubernetesObject) === false)
    throw new ProreusError(
      'PRO_INPUT',
      `${describe(type, key)} is not in its view ${describeType(type)}: give it the labels that the view selects.`,
    )
  return { type, key, object: member }
}

function refuseDuplicates(members: readonly Member[]): void {
  const seen = new Set<string>()
  for (const { type, key } of members) {
    const text = describe(type, key)
    if (seen.has(text)) throw new ProreusError('PRO_INPUT', `${text} is desired twice in one apply set; expected is one object of a name.`)
    seen.add(text)
  }
}

/**
 * Throws when the object exists and `owner` is not its controller. Without this check, server-side apply would change the object. If the
 * object is not in the cache, it is read from the API server, because the cache may be stale or limited to a label selector.
 */
async function refuseForeign(
  { client, cache }: ApplySetContext,
  type: ResourceType,
  key: ObjectKey,
  owner: DeepReadonly<KubernetesObject>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const live = cache.get(type, key) ?? (await find(client, type, key, signal))
  if (live === undefined || isControlledBy(live, owner)) return
  throw new ProreusError(
    'PRO_INPUT',
    `${describe(type, key)} exists, and its controller is not ${owner.kind} ${quote(owner.metadata.name)}: it is not changed. Delete or rename one of the two.`,
  )
}

async function find(
  client: Pick<Client, 'get'>,
  type: ResourceType,
  key: ObjectKey,
  signal: AbortSignal | undefined,
): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(type, key, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Deletes the objects of a type that belong to the set and are not in `kept`. */
async function prune(
  { client, cache }: ApplySetContext,
  owner: DeepReadonly<KubernetesObject>,
  {
    type,
    set,
    kept,
    signal,
  }: { readonly type: ResourceType; readonly set: string; readonly kept: ReadonlySet<string>; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const labelSelector = { matchLabels: { [applySetLabel]: set } }
  const { namespace } = owner.metadata
  for (const object of cache.list(type, { labelSelector, ...(namespace === undefined || !type.namespaced ? {} : { namespace }) })) {
    const { metadata } = object
    if (kept.has(formatKey(metadata)) || metadata.deletionTimestamp !== undefined || !isControlledBy(object, owner)) continue
    try {
      // Without a propagation policy, the API server would orphan the Pods of a deleted Job.
      await client.delete(type, keyOf(object), { preconditions: { uid: metadata.uid }, propagationPolicy: 'Background', signal })
    } catch (error) {
      // 404: the object is already deleted. 409: another object with the same name, but with a different uid, exists.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}

function describe(type: ResourceType, key: ObjectKey): string {
  return `${groupResourceOf(type)} ${quote(formatKey(key))}`
}
