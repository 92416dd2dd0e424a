/** Changing an object that exists: the loop behind PUT, PATCH, apply and the subresources. */
import { invalid } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { jsonEqual } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { checkName, decodeBody, renormalize } from './decode.ts'
import type { Environment } from './environment.ts'
import { carryMetadata, countGeneration, finalizersOf, metadataOf, metadataText, withFields } from './metadata.ts'
import type { DecodedObject, RequestContext } from './request-context.ts'
import { badRequest, conflict, invalidObject, notFound } from './status-error.ts'
import { validateForWrite } from './validate.ts'
import { trackUpdate, writerOf } from './writer.ts'

/** As often as kube-apiserver retries a patch that lost a race. */
const attempts = 5

export interface Change {
  readonly key: ObjectKey
  /** Empty for the object itself. */
  readonly subresource: string
  readonly context: RequestContext
  readonly operation?: 'CREATE' | 'UPDATE'
  /** What the request wants instead of `old`, decoded and with defaults; both as the subresource shows them. */
  readonly change: (old: JsonObject) => JsonObject
  /** `change` has brought managedFields up to date itself. */
  readonly tracked?: boolean
}

/** PUT. */
export function updateObject(
  environment: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  decoded: DecodedObject,
  context: RequestContext,
  subresource: string,
): Promise<JsonObject> {
  const foreign = info.subresources[subresource]?.write !== undefined
  const object = foreign ? decoded.object : decodeBody(info, decoded, context)
  checkName(object, key.name)
  const namespace = metadataText(object, 'namespace')
  if (info.namespaced && namespace !== '' && namespace !== key.namespace) {
    throw badRequest(`the namespace of the object (${namespace}) does not match the namespace on the request (${key.namespace ?? ''})`)
  }
  return changeObject(environment, info, {
    key,
    subresource,
    context,
    change: (old) => {
      const uid = metadataText(object, 'uid')
      const oldUid = metadataText(old, 'uid')
      if (uid !== '' && uid !== oldUid)
        throw conflict(info, key.name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${oldUid}`)
      if (info.custom && !foreign && metadataText(object, 'resourceVersion') === '') {
        const error = { ...invalid('metadata.resourceVersion', '', ''), message: 'Invalid value: 0x0: must be specified for an update' }
        throw invalidObject({ group: info.group, kind: info.plural }, key.name, [error])
      }
      return object
    },
  })
}

/** Reads, changes, admits, validates and writes, again from the start when somebody else wrote meanwhile. */
export async function changeObject(environment: Environment, info: ResourceInfo, request: Change): Promise<JsonObject> {
  const { store, representation } = environment
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.get(info.storageKey, request.key)
    if (stored === undefined) throw notFound(info, request.key.name)
    const old = representation.present(info, stored)
    const next = await prepareChange(environment, info, old, request)
    const shown = (object: JsonObject): JsonObject => info.subresources[request.subresource]?.read?.(object) ?? object
    if (request.context.dryRun) return shown(next)
    const written = representation.toStorage(info, next)
    if (mayBeRemoved(info, next)) {
      if (store.delete(info.storageKey, request.key, stored) !== undefined) return shown(next)
    } else if (jsonEqual(written, stored)) {
      // Nothing changed: no new resourceVersion, no event.
      if (store.get(info.storageKey, request.key) === stored) return shown(old)
    } else {
      const result = store.put(info.storageKey, request.key, written, stored)
      if (result !== undefined) return shown(representation.present(info, result))
    }
    if (attempt === attempts) throw conflict(info, request.key.name)
  }
}

/** The whole object as it will be written. */
async function prepareChange(environment: Environment, info: ResourceInfo, old: JsonObject, request: Change): Promise<JsonObject> {
  const { key, subresource, context } = request
  const { admission, clock } = environment
  const hooks = info.subresources[subresource]
  const writer = writerOf(info, context, 'Update', subresource, clock.now())
  const track = (object: JsonObject): JsonObject => (request.tracked === true ? object : trackUpdate(info, old, object, writer))
  const prepare = (given: JsonObject): JsonObject => {
    const separated = separate(info, carryMetadata(given, old), old, subresource)
    return countGeneration(info, info.strategy.prepareForUpdate?.(separated, old, subresource) ?? separated, old)
  }
  const shownOld = hooks?.read?.(old) ?? old
  const given = request.change(shownOld)
  const resourceVersion = metadataText(given, 'resourceVersion')
  if (resourceVersion !== '' && resourceVersion !== metadataText(old, 'resourceVersion')) throw conflict(info, key.name)

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
    const admitted = (await admission.mutate({ ...attributes, object: given }, (object) => object)) ?? given
    const next = track(prepare(hooks.write(old, admitted, { now: clock.now() })))
    validateForWrite(info, next, old, subresource)
    await admission.validate({ ...attributes, object: admitted })
    return next
  }
  const prepared = track(prepare(given))
  const mutated = await admission.mutate({ ...attributes, object: prepared }, (object) => renormalize(info, object))
  const next = mutated === undefined || mutated === prepared ? prepared : prepare(renormalize(info, mutated))
  validateForWrite(info, next, old, subresource)
  await admission.validate({ ...attributes, object: next })
  return next
}

/** Keeps the object and its status apart: a write to one does not touch the other. */
function separate(info: ResourceInfo, object: JsonObject, old: JsonObject, subresource: string): JsonObject {
  if (!Object.hasOwn(info.subresources, 'status')) return object
  if (subresource !== 'status') return subresource === '' ? withFields(object, { status: old.status }) : object
  // Through /status, a custom resource's metadata cannot be changed; a built-in type's labels and annotations can.
  const metadata = info.custom ? withFields(metadataOf(old), { managedFields: metadataOf(object).managedFields }) : metadataOf(object)
  return withFields(old, { metadata, status: object.status })
}

/** Whether an object that is being deleted has nothing left to wait for. */
export function mayBeRemoved(info: ResourceInfo, object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(object)
  if (typeof deletionTimestamp !== 'string') return false
  if (typeof deletionGracePeriodSeconds === 'number' && deletionGracePeriodSeconds > 0) return false
  return finalizersOf(object).length === 0 && (info.strategy.heldBy?.(object) ?? []).length === 0
}
