/** `createOrPatch`: creates an object, or patches the fields that differ from the desired ones. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import { groupResourceOf } from '../api/group-version-kind.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import type { DeepReadonly, JsonObject } from '../api/json.ts'
import { isObject } from '../api/json.ts'
import { effectiveMergePatch, mergePatchBetween } from '../api/merge-patch.ts'
import type { KubernetesObject, ObjectKey } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, refuseOptions } from '../api/option-checks.ts'
import type { CacheReader } from '../cache/cache.ts'
import { omitsFields } from '../cache/view.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../client/api-error.ts'
import type { Client, WriteOptions } from '../client/client.ts'
import { writeChecks } from '../client/option-checks.ts'
import { requireKey } from '../client/resource-path.ts'
import type { RetryOptions } from '../client/retry-on-conflict.ts'
import { retryWhile } from '../client/retry-on-conflict.ts'
import type { ApplyInput } from '../client/write-types.ts'

/** The client that reads and writes, and optionally a cache to read from. A reconcile context has all of these fields. */
export interface CreateOrPatchContext extends Pick<RetryOptions, 'clock' | 'signal'> {
  readonly client: Client
  /**
   * The first attempt reads the object from this cache, which saves a request. The controller must watch the type. After a conflict, or
   * when the type is a view that omits fields (`metadataOnly`, `transform`), the object is read from the API server.
   */
  readonly cache?: CacheReader
}

type CreateOrPatchOptions = Omit<WriteOptions, 'dryRun' | 'signal'>

const { dryRun: _dryRun, signal: _signal, ...optionChecks } = writeChecks
const checkOptions = hasOptions(optionChecks satisfies Record<keyof CreateOrPatchOptions, OptionCheck>)

/** The outcome of `createOrPatch`. */
export interface CreatedOrPatched<R extends ResourceType> {
  readonly result: 'unchanged' | 'created' | 'updated'
  /** The object after the last write. If nothing was written, this is the object that was read. */
  readonly object: DeepReadonly<ObjectOf<R>>
}

type AnyObject = DeepReadonly<KubernetesObject> & { readonly status?: unknown }

/**
 * Creates an object, or patches the fields that `mutate` changes.
 *
 * - If the object exists, `mutate` receives a copy of the object. If `mutate` changes nothing, no write request is sent.
 * - If the object does not exist, `mutate` receives an object with only a name and a namespace.
 *
 * The status is patched by a separate request to the subresource. Each patch contains the resourceVersion. If a request fails because
 * another client has changed, created or deleted the object, `mutate` is called again with the new state. There are at most five attempts.
 * `mutate` must change nothing except its argument, because it may be called several times.
 *
 * Use `createOrPatch` for objects that several clients write without server-side apply, and for objects whose new state depends on their
 * old state. For dependents whose whole desired state is known, `applyIfChanged` is simpler.
 *
 * @throws {ProreusError} `PRO_INPUT` when the key is invalid, or when `mutate` changes the name or the namespace.
 * @throws {ProreusError} `PRO_CONFIG_INVALID` for an invalid or unknown option.
 * @throws the conflict of the last attempt, or any other error of `mutate`, `client.get`, `client.create`, `client.patch` and
 *   `client.patchStatus`.
 *
 * @example
 * const { result } = await createOrPatch(context, core.configMap, { namespace, name: 'visits' }, (object) => {
 *   object.data = { ...object.data, count: String(Number(object.data?.['count'] ?? 0) + 1) }
 * })
 */
export async function createOrPatch<R extends ResourceType>(
  { client, cache, clock, signal }: CreateOrPatchContext,
  type: R,
  key: ObjectKey,
  mutate: (object: ApplyInput<R>) => void | Promise<void>,
  options: CreateOrPatchOptions = {},
): Promise<CreatedOrPatched<R>> {
  refuseOptions('createOrPatch', checkOptions(options, ''))
  requireKey(type, key)
  const untyped: ResourceType = type
  // The result of all attempts together. For example, if the first attempt creates the object and then fails with a conflict on the status,
  // the result after the retry is `created`.
  let result: CreatedOrPatched<R>['result'] = 'unchanged'
  let fromCache = cache !== undefined && !omitsFields(type)
  /** True when the object was deleted between the patch of the object and the patch of its status. */
  let isDeleted = false

  async function read(): Promise<AnyObject | undefined> {
    const reads = fromCache
    fromCache = false
    if (reads) return cache!.get(untyped, key)
    try {
      return await client.get(untyped, key, { signal })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async function mutated(object: object): Promise<JsonObject> {
    const draft = structuredClone(object)
    await mutate(draft as ApplyInput<R>)
    const { name, namespace = '' } = (draft as AnyObject).metadata ?? {}
    if (name !== key.name || namespace !== (key.namespace ?? ''))
      throw new ProreusError(
        'PRO_INPUT',
        `${groupResourceOf(type)} ${quote(formatKey(key))}: the name and namespace cannot be changed, found ${quote(formatKey({ namespace, name }))}.`,
      )
    return draft as JsonObject
  }

  async function create(): Promise<AnyObject> {
    const wanted = await mutated({ metadata: key.namespace === undefined ? { name: key.name } : { ...key } })
    const created: AnyObject = await client.create(untyped, wanted as unknown as KubernetesObject, { ...options, signal })
    result = 'created'
    return patchStatus(created, effectiveMergePatch(created.status, wanted['status']))
  }

  async function patchStatus(object: AnyObject, status: JsonObject | undefined): Promise<AnyObject> {
    if (status === undefined) return object
    const metadata = { resourceVersion: object.metadata.resourceVersion }
    let patched: AnyObject
    try {
      patched = await client.patchStatus(untyped, key, { metadata, status }, { ...options, signal })
    } catch (error) {
      // A 404 may also mean that the type has no status subresource. Therefore, the object is read in order to find out whether it was
      // deleted.
      isDeleted = isNotFound(error) && (await read()) === undefined
      throw error
    }
    if (result === 'unchanged') result = 'updated'
    return patched
  }

  async function patch(stored: AnyObject): Promise<AnyObject> {
    const { status: wantedStatus, ...wanted } = await mutated(stored)
    const { status, ...others } = stored
    const changes = mergePatchBetween(others, wanted)
    const statusChanges = mergePatchBetween(status, wantedStatus)
    if (changes === undefined) return patchStatus(stored, statusChanges)
    const metadata = isObject(changes['metadata']) ? changes['metadata'] : {}
    const body = { ...changes, metadata: { ...metadata, resourceVersion: stored.metadata.resourceVersion } }
    let patched: AnyObject
    try {
      patched = await client.patch(untyped, key, body, { ...options, signal })
    } catch (error) {
      if (isNotFound(error)) return create()
      throw error
    }
    if (result === 'unchanged') result = 'updated'
    return patchStatus(patched, statusChanges)
  }

  const attempt = async (): Promise<AnyObject> => {
    isDeleted = false
    const stored = await read()
    return stored === undefined ? create() : patch(stored)
  }
  const object = await retryWhile((error) => isConflict(error) || isAlreadyExists(error) || isDeleted, attempt, {
    ...(clock === undefined ? {} : { clock }),
    signal,
  })
  return { result, object: object as DeepReadonly<ObjectOf<R>> }
}
