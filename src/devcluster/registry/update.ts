/** Changes an existing object: the loop behind PUT, PATCH, apply and the subresources. */
import { invalid } from '../../api/field-error.ts'
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { jsonEqual } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { ReplicasPath } from '../rest/subresource.ts'
import { scaleType, withObjectManagers, withScaleManagers } from '../apply/scale-managers.ts'
import { acrossVersions } from '../conversion-webhooks/across-versions.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { inGoOrder } from '../types/go-order.ts'
import { insertObject } from './create.ts'
import { checkName, checkNamespace, decodeBody, decodeSubresource, pruned, redefault } from './decode.ts'
import type { Environment } from './environment.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import {
  carryMetadata,
  countGeneration,
  finalizersOf,
  givenRevision,
  metadataOf,
  metadataText,
  withFields,
  withMetadata,
} from './metadata.ts'
import type { DecodedObject, RequestContext } from '../apimachinery/request-context.ts'
import { conflict, invalidObject, notFound } from '../apimachinery/status-error.ts'
import { validateForWrite } from './validate.ts'
import { trackUpdate, writerOf } from './writer.ts'

/** Maximum number of attempts when the object changes in between. */
const attempts = 5

/** Built-in types whose missing objects a PUT creates (AllowCreateOnUpdate of their strategies). */
const createdByUpdate: ReadonlySet<string> = new Set([
  '/endpoints',
  '/events',
  '/limitranges',
  '/services',
  'coordination.k8s.io/leases',
  'rbac.authorization.k8s.io/clusterrolebindings',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/rolebindings',
  'rbac.authorization.k8s.io/roles',
])

/** Built-in types whose PUT requires a resourceVersion, as for custom resources (AllowUnconditionalUpdate of their strategies is false). */
const locked: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiextensions.k8s.io/customresourcedefinitions',
  'coordination.k8s.io/leases',
  'policy/poddisruptionbudgets',
])

export interface Change {
  readonly key: ObjectKey
  /** Empty for the object itself. */
  readonly subresource: string
  readonly context: RequestContext
  readonly operation?: 'CREATE' | 'UPDATE'
  /** Returns the requested object, decoded and with defaults. It and `old` are in the form of the subresource. */
  readonly change: (old: JsonObject) => JsonObject | Promise<JsonObject>
  /** True when `change` has already updated managedFields. */
  readonly tracked?: boolean
}

/** PUT. */
export async function updateObject(
  environment: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  decoded: DecodedObject,
  context: RequestContext,
  subresource: string,
): Promise<{ object: JsonObject; created: boolean }> {
  const foreign = info.subresources[subresource]?.write !== undefined
  const object = foreign ? decodeSubresource(info, subresource, decoded, context) : decodeBody(info, decoded, context)
  checkName(object, key.name)
  checkNamespace(info, object, key.namespace)
  if (subresource === '' && createdByUpdate.has(info.storageKey) && environment.store.get(info.storageKey, key) === undefined) {
    const writer = writerOf(info, context, 'Update', '', environment.clock.now())
    const track = (prepared: JsonObject): JsonObject => trackUpdate(info, undefined, prepared, writer)
    return { object: await insertObject(environment, info, key.namespace, object, context, { track }), created: true }
  }
  const updated = await changeObject(environment, info, {
    key,
    subresource,
    context,
    change: (old) => {
      const uid = metadataText(object, 'uid')
      const oldUid = metadataText(old, 'uid')
      if (uid !== '' && uid !== oldUid) throw conflict(info, key.name, preconditionFailed(info, key, uid, oldUid))
      if ((info.custom || locked.has(info.storageKey)) && !foreign && givenRevision(object) === undefined) {
        const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update')
        throw invalidObject({ group: info.group, kind: info.plural }, key.name, [error])
      }
      return object
    },
  })
  return { object: updated, created: false }
}

/** Returns the message of the API server's storage about a different uid. */
function preconditionFailed(info: ResourceInfo, { namespace, name }: ObjectKey, uid: string, oldUid: string): string {
  const path = [...(info.custom ? [info.group] : []), info.plural, ...(namespace === undefined ? [] : [namespace]), name].join('/')
  return `StorageError: invalid object, Code: 4, Key: /registry/${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${oldUid}`
}

/** Reads, changes, admits, validates and writes; starts again if the object was changed meanwhile. */
export async function changeObject(environment: Environment, info: ResourceInfo, request: Change): Promise<JsonObject> {
  const { store, representation } = environment
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.get(info.storageKey, request.key)
    if (stored === undefined) throw notFound(info, request.key.name)
    const old = await representation.show(info, stored)
    const next = await prepareChange(environment, info, old, request)
    const shown = (object: JsonObject): JsonObject => info.subresources[request.subresource]?.read?.(object, { writing: true }) ?? object
    if (info.custom && attempt === 1) for (const text of finalizerWarnings(next, old)) request.context.warn(text)
    const written = await representation.toStorage(info, next)
    if (request.context.dryRun) return shown(await representation.show(info, written))
    if (mayBeRemoved(info, next)) {
      if (store.delete(info.storageKey, request.key, stored) !== undefined) return shown(inGoOrder(next, info.goType))
    } else if (jsonEqual(written, stored)) {
      // Nothing changed: keep the resourceVersion, and send no event.
      if (store.get(info.storageKey, request.key) === stored) return shown(old)
    } else {
      const result = store.put(info.storageKey, request.key, written, stored)
      if (result !== undefined) return shown(await representation.show(info, result))
    }
    if (attempt === attempts) throw conflict(info, request.key.name)
  }
}

/** Returns the whole object to write. */
async function prepareChange(environment: Environment, info: ResourceInfo, old: JsonObject, request: Change): Promise<JsonObject> {
  const { key, subresource, context } = request
  const { admission, clock } = environment
  const hooks = info.subresources[subresource]
  const writer = writerOf(info, context, 'Update', subresource, clock.now())
  const track = (object: JsonObject): JsonObject | Promise<JsonObject> => {
    if (request.tracked === true) return object
    if (info.converter === undefined) return trackUpdate(info, old, object, writer)
    return acrossVersions(info.converter, (view) => trackUpdate(info, old, object, writer, view))
  }
  const separated = (given: JsonObject): JsonObject => separate(info, carryMetadata(given, old, context.dryRun), old, subresource)
  const prepare = (given: JsonObject): JsonObject => {
    const own = separated(given)
    const prepared = info.strategy.prepareForUpdate?.(own, old, subresource) ?? own
    return hooks?.keepsGeneration === true ? prepared : countGeneration(info, prepared, old)
  }
  const shownOld = hooks?.read?.(old, { writing: true }) ?? old
  const { replicasPath } = hooks ?? {}
  const oldScale = replicasPath && withScaleManagers(shownOld, old, replicasPath)
  const given = await request.change(request.tracked === true && oldScale !== undefined ? oldScale : shownOld)
  const checkRevision = (object: JsonObject): void => {
    const revision = givenRevision(object)
    if (revision !== undefined && revision !== metadataText(old, 'resourceVersion')) throw conflict(info, key.name)
  }
  checkRevision(given)

  const operation = request.operation ?? 'UPDATE'
  const attributes = {
    info,
    subresource,
    operation,
    name: key.name,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    ...(operation === 'CREATE' ? {} : { oldObject: shownOld }),
    context,
  }
  if (hooks?.write !== undefined) {
    const sent = oldScale === undefined ? given : withMetadata(given, { managedFields: undefined })
    const admitted = (await admission.mutate({ ...attributes, object: sent }, (object) => object)) ?? sent
    const written = prepare(hooks.write(old, admitted, { now: clock.now() }))
    const trackScale = (before: JsonObject, pathIn: ReplicasPath): JsonObject => {
      const scale =
        request.tracked === true
          ? given
          : trackUpdate(scaleType, before, admitted, writerOf(scaleType, context, 'Update', subresource, clock.now()))
      return withObjectManagers(written, scale, apiVersionOf(info), pathIn)
    }
    // The body of a POST, such as a Binding, is not state of the object, so that its fields have no managers.
    const next = oldScale && replicasPath ? trackScale(oldScale, replicasPath) : operation === 'CREATE' ? written : await track(written)
    validateForWrite(info, next, old, subresource, context.warn)
    await admission.validate({ ...attributes, object: admitted })
    return next
  }
  // Mutating webhooks see the object as it was sent; the server sets system fields after them.
  const requested = withMetadata(separated(given), { managedFields: metadataOf(given).managedFields })
  const { managedFields } = metadataOf(await track(requested))
  const sent = withMetadata(given, {
    ...(info.namespaced ? { namespace: key.namespace } : {}),
    managedFields,
  })
  const mutated = (await admission.mutate({ ...attributes, object: sent }, (object) => redefault(info, object))) ?? sent
  checkRevision(mutated)
  const next = prepare(mutated)
  validateForWrite(info, next, old, subresource, context.warn)
  await admission.validate({ ...attributes, object: next })
  return pruned(info, next)
}

/** Keeps status out of writes to the object, and everything else out of writes to /status. */
function separate(info: ResourceInfo, object: JsonObject, old: JsonObject, subresource: string): JsonObject {
  if (!Object.hasOwn(info.subresources, 'status')) return object
  if (subresource !== 'status') return subresource === '' ? withFields(object, { status: old.status }) : object
  // A write to /status cannot change metadata of a custom resource. It can for a built-in type, except for the labels of Deployments.
  const metadata = info.custom
    ? withFields(metadataOf(old), { managedFields: metadataOf(object).managedFields })
    : info.storageKey === 'apps/deployments'
      ? withFields(metadataOf(object), { labels: metadataOf(old).labels })
      : metadataOf(object)
  return withFields(old, { metadata, status: object.status })
}

/**
 * True when a deleted object has no remaining grace period, finalizers or other holders (k8s.io/apiserver/pkg/registry/generic/registry:
 * ShouldDeleteDuringUpdate).
 */
export function mayBeRemoved(info: ResourceInfo, object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(object)
  if (typeof deletionTimestamp !== 'string') return false
  if (typeof deletionGracePeriodSeconds === 'number' && deletionGracePeriodSeconds > 0) return false
  return finalizersOf(object).length === 0 && (info.strategy.heldBy?.(object) ?? []).length === 0
}
