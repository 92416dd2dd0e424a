/** `applyIfChanged`: sends a server-side apply request only if the object in the cache differs from the desired object. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { hasFields } from '../api/has-fields.ts'
import type { DeepReadonly, JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, isObject, setOwn } from '../api/json.ts'
import { jsonHash } from '../api/json-hash.ts'
import { qualifiedName } from '../api/name-syntax.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isBoolean, isSignal, isText, refuseOptions } from '../api/option-checks.ts'
import type { CacheReader } from '../cache/cache.ts'
import { omitsFields } from '../cache/view.ts'
import type { ApplyOptions, Client } from '../client/client.ts'
import { requireKey } from '../client/resource-path.ts'
import type { ApplyInput, Writable } from '../client/write-types.ts'

/** A client that writes, and a cache to read from. A reconcile context has both. */
export interface ApplyContext {
  readonly client: Pick<Client, 'apply' | 'fieldManager'>
  readonly cache: CacheReader
}

export type ApplyIfChangedOptions = Pick<ApplyOptions, 'fieldManager' | 'force' | 'signal'>

const checkOptions = hasOptions({ fieldManager: isText, force: isBoolean, signal: isSignal } satisfies Record<
  keyof ApplyIfChangedOptions,
  OptionCheck
>)

/**
 * Prefix of the annotation that contains the hash of the applied object. The prefix is followed by a slash and the field manager, so each
 * manager has its own annotation.
 */
const annotationPrefix = 'applied.proreus.dev'

/**
 * Maximum number of `StoredForm` entries per cache. An entry takes about 200 bytes. When the maximum is exceeded, the oldest entry is
 * removed. The next reconcile of its object then sends an apply request that changes nothing.
 */
const maxForms = 10_000

/**
 * The last apply request for an object: the hash of the desired object, and the form in which the API server stored the object. While the
 * desired object and the stored form stay the same, `applyIfChanged` sends no further request.
 *
 * A `StoredForm` exists only in the following cases. In these cases, the cached object can differ from the desired object although a
 * request would change nothing:
 *
 * - The API server stores a value in another form, e.g. `1` for the quantity `1000m`.
 * - The cache has a view that omits fields.
 */
interface StoredForm {
  /** Hash of the desired object. */
  readonly desired: string
  /** The result of `formOf` for the object in the response. */
  readonly stored: string
}

/** The remembered `StoredForm` of each object, for each cache. */
const formsOfCaches = new WeakMap<CacheReader, Map<string, StoredForm>>()

/**
 * Applies `desired` with server-side apply if the cached object differs from `desired`. Resolves to the cached object, or to the object in
 * the response if a request was sent. The controller must watch the type.
 *
 * A request is sent in these cases:
 *
 * - The object is not in the cache.
 * - A field of `desired` has another value in the cached object, e.g. because another client has changed the field.
 * - `desired` has changed since it was last applied. The API server then removes the fields that `desired` no longer contains. The
 *   annotation `applied.proreus.dev/MANAGER` contains a hash of the applied object, which shows such a change.
 *
 * The order of keys is irrelevant. A field that is null or undefined counts as absent.
 *
 * In two cases, the process sends one unnecessary request for the object after each start:
 *
 * - The API server stores a value in another form, e.g. `1` for the quantity `1000m`. Write `desired` in the stored form to avoid this
 *   request.
 * - `type` is a view that omits fields of `desired` (`metadataOnly`, `transform`). The process then also sends a request after each later
 *   change of the object, e.g. of its status.
 *
 * Rejects with these errors:
 *
 * - `PRO_CONFIG_INVALID` for an invalid or unknown option
 * - `PRO_INPUT` if the name or namespace is missing or invalid, or if `cache.get` throws `PRO_INPUT`
 * - the errors of `client.apply`
 *
 * @example
 * const live = await applyIfChanged(context, apps.deployment, deploymentFor(object))
 * await patchStatusIfChanged(context.client, site, object, { replicas: live.status?.readyReplicas ?? 0 })
 */
export async function applyIfChanged<R extends ResourceType>(
  { client, cache }: ApplyContext,
  type: R,
  desired: Writable<ApplyInput<R>>,
  options: ApplyIfChangedOptions = {},
): Promise<DeepReadonly<ObjectOf<R>>> {
  refuseOptions('applyIfChanged', checkOptions(options, ''))
  const untyped: ResourceType = type
  const { metadata } = desired as ApplyInput
  requireKey(type, metadata)
  const annotation = annotationOf(options.fieldManager ?? client.fieldManager)
  const hash = jsonHash(desired)
  const wanted = {
    ...(desired as ApplyInput),
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation]: hash } },
  }
  const compared = withoutNulls(wanted as unknown as JsonValue)
  const id = formId(type, metadata)
  const live = cache.get(untyped, metadata)
  if (
    live !== undefined &&
    (hasFields(live, compared) || isStoredForm(formsOfCaches.get(cache)?.get(id), hash, formOf(type, live, compared)))
  )
    return live as DeepReadonly<ObjectOf<R>>
  const applied: KubernetesObject = await client.apply(untyped, wanted, options)
  const isComparable = !omitsFields(type) && hasFields(applied, compared)
  remember(cache, id, isComparable ? undefined : { desired: hash, stored: formOf(type, applied, compared) })
  return applied as DeepReadonly<ObjectOf<R>>
}

/** Returns the key of the annotation for a field manager. If the name of the manager is not valid in a key, its hash is used. */
function annotationOf(manager: string): string {
  const key = `${annotationPrefix}/${manager}`
  return qualifiedName(key).length === 0 ? key : `${annotationPrefix}/${jsonHash(manager)}`
}

function formId(type: ResourceType, key: ObjectKey): string {
  return `${groupResourceOf(type)} ${formatKey(key)}`
}

function isStoredForm(form: StoredForm | undefined, desired: string, stored: string): boolean {
  return form !== undefined && form.desired === desired && form.stored === stored
}

/** Returns the hash of the compared fields. For a view that omits fields, returns the resourceVersion instead. */
function formOf(type: ResourceType, object: DeepReadonly<KubernetesObject>, compared: JsonValue): string {
  return omitsFields(type) ? (object.metadata.resourceVersion ?? '') : jsonHash(fieldsOf(object, compared))
}

function remember(cache: CacheReader, id: string, form: StoredForm | undefined): void {
  const forms = formsOfCaches.get(cache) ?? new Map<string, StoredForm>()
  formsOfCaches.set(cache, forms)
  // `Map.set` keeps the position of an existing key. The old entry is deleted first, so that the new entry is at the end.
  forms.delete(id)
  if (form === undefined) return
  if (forms.size >= maxForms) forms.delete(forms.keys().next().value!)
  forms.set(id, form)
}

/**
 * Returns the values of `live` in the fields that `wanted` has. If a list in `live` and the list in `wanted` have different lengths, the
 * whole list of `live` is returned.
 */
function fieldsOf(live: unknown, wanted: unknown): unknown {
  if (Array.isArray(live) && Array.isArray(wanted) && live.length === wanted.length)
    return wanted.map((item, index) => fieldsOf(live[index], item))
  if (!isObject(live) || !isObject(wanted)) return live
  const fields: JsonObject = {}
  for (const key of Object.keys(wanted)) {
    const value = fieldsOf(getOwn(live, key), getOwn(wanted, key)) as JsonValue | undefined
    if (value !== undefined) setOwn(fields, key, value)
  }
  return fields
}

/** Returns a JSON value without the keys whose values are null. Nulls in lists are kept. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const fields: JsonObject = {}
  for (const key of Object.keys(value)) {
    const field = getOwn(value, key)
    if (field !== undefined && field !== null) setOwn(fields, key, withoutNulls(field))
  }
  return fields
}
