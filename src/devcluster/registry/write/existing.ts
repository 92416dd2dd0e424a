/** Changes an existing object, for a PUT, a PATCH, a server-side apply request, or a write to a subresource. */
import { apiVersionOf } from '../../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import { conflict, notFound } from '../../apimachinery/status-error.ts'
import { scaleType, withObjectManagers, withScaleManagers } from '../../apply/scale-managers.ts'
import { acrossVersions } from '../../conversion-webhooks/across-versions.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { inGoOrder } from '../../types/go-order.ts'
import { admitWrite } from './admit.ts'
import { pruned, redefault } from '../decode.ts'
import type { Environment } from '../environment.ts'
import { managedFieldsAfter, writerOf } from '../field-managers.ts'
import { finalizerWarnings } from '../finalizer-warnings.ts'
import {
  carryMetadata,
  countGeneration,
  givenRevision,
  mayBeRemoved,
  metadataOf,
  metadataText,
  withFields,
  withMetadata,
} from '../metadata.ts'
import { clusterView } from './cluster-view.ts'
import type { Write } from './description.ts'

/** Maximum number of attempts to write an object that other requests change at the same time. */
const attempts = 5

/**
 * Reads, changes, admits, validates and stores the object. Returns the object for the response. If another request changes the object
 * between the read and the write, all steps are repeated. If the last attempt also fails for this reason, throws 409.
 */
export async function change(environment: Environment, info: ResourceInfo, write: Write): Promise<JsonObject> {
  const { store, representation } = environment
  const { key, context } = write
  const shown = (object: JsonObject): JsonObject => info.subresources[write.subresource]?.read?.(object, { writing: true }) ?? object
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.latest(info.storageKey, key)
    if (stored === undefined) throw notFound(info, key.name)
    const old = await representation.show(info, stored)
    const next = await changed(environment, info, old, write)
    if (info.custom && attempt === 1) for (const text of finalizerWarnings(next, old)) context.warn(text)
    const written = await representation.toStorage(info, next)
    if (context.dryRun) return shown(await representation.show(info, written))
    if (mayBeRemoved(info, next)) {
      if ((await store.delete(info.storageKey, key, stored)) !== undefined) return shown(inGoOrder(next, info.goType))
    } else if (jsonEqual(written, stored)) {
      // If the write changes nothing, the object keeps its resourceVersion, and watches send no event.
      if (store.latest(info.storageKey, key) === stored) {
        await store.committed()
        return shown(old)
      }
    } else {
      const result = await store.put(info.storageKey, key, written, stored)
      if (result !== undefined) return shown(await representation.show(info, result))
    }
    if (attempt === attempts) throw conflict(info, key.name)
  }
}

/** Returns the whole object to store, after admission and validation. */
async function changed(environment: Environment, info: ResourceInfo, old: JsonObject, write: Write): Promise<JsonObject> {
  const { key, subresource, context, operation = 'UPDATE', hasManagers = false } = write
  const hooks = info.subresources[subresource]
  const shownOld = hooks?.read?.(old, { writing: true }) ?? old
  const oldScale = hooks?.replicasPath && withScaleManagers(shownOld, old, hooks.replicasPath)
  const object = await write.requested(hasManagers && oldScale !== undefined ? oldScale : shownOld)
  checkRevision(info, object, old)
  const place = key.namespace === undefined ? {} : { namespace: key.namespace }
  const prior = operation === 'CREATE' ? {} : { oldObject: shownOld }
  const attributes = { info, subresource, operation, name: key.name, ...place, ...prior, context }
  const now = environment.clock.now()
  const ownPart = (given: JsonObject): JsonObject => separate(info, carryMetadata(given, old, context.dryRun), old, subresource)
  const prepare = (given: JsonObject): JsonObject => {
    const own = ownPart(given)
    const prepared = info.strategy.prepareForUpdate?.(own, old, subresource, now, clusterView(environment, info)) ?? own
    return hooks?.keepsGeneration === true ? prepared : countGeneration(info, prepared, old, subresource)
  }

  if (hooks?.write === undefined) {
    const given = metadataOf(object).managedFields
    const managedFields = hasManagers
      ? given
      : await managedFieldsOf(info, write, old, withMetadata(ownPart(object), { managedFields: given }), now)
    // Mutating webhooks are called with the metadata of the request. Afterwards, `prepare` restores the old values of the metadata fields
    // that clients cannot change.
    const next = await admitWrite(environment, info, {
      attributes,
      urlName: key.name,
      requested: withMetadata(object, { ...(info.namespaced ? { namespace: key.namespace } : {}), managedFields }),
      old,
      redefault: (mutated) => redefault(info, mutated),
      prepare(mutated) {
        checkRevision(info, mutated, old)
        return prepare(mutated)
      },
    })
    return pruned(info, next)
  }

  const writeInto = hooks.write
  const { replicasPath } = hooks
  return admitWrite(environment, info, {
    attributes,
    urlName: key.name,
    requested: oldScale === undefined ? object : withMetadata(object, { managedFields: undefined }),
    old,
    redefault: (mutated) => mutated,
    async prepare(mutated) {
      const whole = prepare(writeInto(old, mutated, { now, cluster: clusterView(environment, info) }))
      if (oldScale !== undefined && replicasPath !== undefined) {
        const scale = hasManagers ? object : scaleAfter(write, oldScale, mutated, now)
        return withObjectManagers(whole, scale, apiVersionOf(info), replicasPath)
      }
      // In two cases, `managedFields` is not computed here:
      //
      // - The request is a POST to a subresource. The body of the request, e.g. a Binding, is not part of the stored object, so the request
      //   does not change `managedFields`.
      // - The request is a server-side apply. The object already contains the new `managedFields`.
      if (operation === 'CREATE' || hasManagers) return whole
      return withMetadata(whole, { managedFields: await managedFieldsOf(info, write, old, whole, now) })
    },
    reviewsSubresource: true,
  })
}

/** Throws 409 when the object in the request has a resourceVersion, and the stored object has a different resourceVersion. */
function checkRevision(info: ResourceInfo, object: JsonObject, old: JsonObject): void {
  const revision = givenRevision(object)
  if (revision !== undefined && revision !== metadataText(old, 'resourceVersion')) throw conflict(info, metadataText(old, 'name'))
}

/**
 * Returns the `managedFields` of the object after the write. If the type has a conversion webhook, the old and the new object are compared
 * in the version of each entry of `managedFields`. The webhook converts the objects to these versions.
 */
function managedFieldsOf(
  info: ResourceInfo,
  { context, subresource }: Write,
  old: JsonObject,
  object: JsonObject,
  now: number,
): JsonValue | undefined | Promise<JsonValue | undefined> {
  const writer = writerOf(info, context, 'Update', subresource, now)
  if (info.converter === undefined) return managedFieldsAfter(info, old, object, writer)
  return acrossVersions(info.converter, (view) => managedFieldsAfter(info, old, object, writer, view))
}

/** Returns the Scale with its `managedFields` after the write. */
function scaleAfter({ context, subresource }: Write, old: JsonObject, scale: JsonObject, now: number): JsonObject {
  const writer = writerOf(scaleType, context, 'Update', subresource, now)
  return withMetadata(scale, { managedFields: managedFieldsAfter(scaleType, old, scale, writer) })
}

/**
 * Returns the object without the changes that the request must not make. For a subresource with a function `part`, returns the result of
 * `part`. If the type has the subresource `status`, a write to the object itself keeps the old status. A write to /status changes only the
 * status and some metadata.
 */
function separate(info: ResourceInfo, object: JsonObject, old: JsonObject, subresource: string): JsonObject {
  const part = info.subresources[subresource]?.part
  if (part !== undefined) return part(object, old)
  if (!Object.hasOwn(info.subresources, 'status')) return object
  if (subresource !== 'status') return subresource === '' ? withFields(object, { status: old.status }) : object
  // For a custom resource, a write to /status changes no metadata except for `managedFields`.
  const [before, after] = [metadataOf(old), metadataOf(object)]
  const kept = info.subresources['status']?.keptMetadata ?? []
  const metadata = info.custom
    ? withFields(before, { managedFields: after.managedFields })
    : withFields(after, Object.fromEntries(kept.map((field) => [field, before[field]])))
  return withFields(old, { metadata, status: object.status })
}
