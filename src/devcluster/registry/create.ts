/** POST: creates an object. */
import type { JsonObject } from '../../api/json.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { inGoOrder } from '../types/go-order.ts'
import { clusterView } from './cluster-view.ts'
import { checkNamespace, decodeBody, pruned, redefault } from './decode.ts'
import type { Environment } from './environment.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import { givenRevision, metadataOf, metadataText, startMetadata, withFields, withMetadata } from './metadata.ts'
import { checkNamespaceIsActive } from './namespace-lifecycle.ts'
import type { DecodedObject, RequestContext } from '../apimachinery/request-context.ts'
import { alreadyExists, bareError, badRequest } from '../apimachinery/status-error.ts'
import { validateForWrite } from './validate.ts'
import { trackUpdate, writerOf } from './writer.ts'

/** Maximum number of names generated for one request (k8s.io/apiserver/pkg/registry/generic/registry: store.go). */
const generateNameAttempts = 8
/**
 * Maximum length of `generateName` in a name, so that the name with its suffix of five characters fits in a label's 63
 * (k8s.io/apiserver/pkg/storage/names: generate.go).
 */
const generatedBaseLength = 58

/** Metadata that is reset in every new object. */
const unsettable = {
  uid: undefined,
  creationTimestamp: undefined,
  deletionTimestamp: undefined,
  deletionGracePeriodSeconds: undefined,
  selfLink: undefined,
}

export async function createObject(
  environment: Environment,
  info: ResourceInfo,
  namespace: string | undefined,
  decoded: DecodedObject,
  context: RequestContext,
): Promise<JsonObject> {
  const object = decodeBody(info, decoded, context)
  const writer = writerOf(info, context, 'Update', '', environment.clock.now())
  if (info.review !== undefined) {
    const tracked = trackUpdate(info, undefined, object, writer)
    return answerReview(environment, info, namespace, tracked, context, info.review)
  }
  const revision = givenRevision(object)
  return insertObject(environment, info, namespace, object, context, {
    track: (prepared) => trackUpdate(info, undefined, prepared, writer),
    beforeWrite: () => {
      if (revision !== undefined) throw bareError('resourceVersion should not be set on objects to be created')
    },
  })
}

interface Insertion {
  /** Adds managedFields to the prepared object. */
  readonly track: (prepared: JsonObject) => JsonObject
  /** The checks of the storage, which a dry run does not reach. Throws a `StatusError` to reject the request. */
  readonly beforeWrite?: () => void
}

/** The part of a create after decoding; also used by server-side apply to an object that does not exist. */
export async function insertObject(
  environment: Environment,
  info: ResourceInfo,
  namespace: string | undefined,
  object: JsonObject,
  context: RequestContext,
  { track, beforeWrite }: Insertion,
): Promise<JsonObject> {
  const { store, admission, representation } = environment
  checkNamespace(info, object, namespace)
  if (info.namespaced && namespace === undefined) throw badRequest('an empty namespace may not be set during creation')

  const started = { namespace, uid: environment.newUid(), now: environment.clock.now() }
  const prepare = (given: JsonObject): JsonObject => {
    const reset = startMetadata(info, given, started)
    const dropsStatus = Object.hasOwn(info.subresources, 'status') && info.strategy.keepsStatus !== true
    const clean = dropsStatus ? withFields(reset, { status: undefined }) : reset
    return info.strategy.prepareForCreate?.(clean, context) ?? clean
  }
  // Mutating webhooks see the object as it was sent, with managedFields; the server sets system fields after them.
  const { managedFields } = metadataOf(track(object))
  const tracked = withMetadata(object, {
    ...unsettable,
    ...(info.namespaced ? { namespace } : {}),
    managedFields,
  })
  const admit = (given: JsonObject): JsonObject | Promise<JsonObject> => info.strategy.admit?.(given, clusterView(environment)) ?? given
  const sent = await admit(tracked)
  const givenName = metadataText(sent, 'name')
  checkNamespaceIsActive(store, info, namespace, givenName || metadataText(sent, 'generateName'))

  const attributes = {
    info,
    subresource: '',
    operation: 'CREATE' as const,
    ...(namespace === undefined ? {} : { namespace }),
    context,
  }
  const mutated = await admission.mutate({ ...attributes, name: givenName, object: sent }, (changed) => redefault(info, changed))
  const admitted = mutated === undefined || mutated === sent ? sent : await admit(mutated)

  const generateName = metadataText(admitted, 'name') === '' ? metadataText(admitted, 'generateName') : ''
  for (let attempt = 1; ; attempt += 1) {
    const named = prepare(
      generateName === ''
        ? admitted
        : withMetadata(admitted, { name: generateName.slice(0, generatedBaseLength) + environment.randomSuffix() }),
    )
    validateForWrite(info, named, undefined, '', context.warn)
    const name = metadataText(named, 'name')
    const key = { namespace, name }
    const taken = (): boolean => store.get(info.storageKey, key) !== undefined
    if (taken() && generateName !== '' && attempt < generateNameAttempts) continue
    await admission.validate({ ...attributes, name, object: named })
    const written = await representation.toStorage(info, pruned(info, named))
    // Admission is asynchronous: check again what may have changed, in the same turn of the event loop as the write.
    checkNamespaceIsActive(store, info, namespace, name)
    const existing = store.get(info.storageKey, key)
    if (existing !== undefined) throw alreadyExists(info, name, metadataOf(existing).deletionTimestamp !== undefined)
    for (const text of info.custom ? finalizerWarnings(named) : (info.strategy.warnings?.(named) ?? [])) context.warn(text)
    if (context.dryRun) return representation.show(info, written)
    beforeWrite?.()
    return representation.show(info, store.put(info.storageKey, key, written, undefined)!)
  }
}

/** Answers a review without storing it. Webhooks are called as for any other object. */
async function answerReview(
  { admission }: Environment,
  info: ResourceInfo,
  namespace: string | undefined,
  object: JsonObject,
  context: RequestContext,
  answer: NonNullable<ResourceInfo['review']>,
): Promise<JsonObject> {
  const place = namespace === undefined ? {} : { namespace }
  const attributes = { info, subresource: '', operation: 'CREATE' as const, ...place, name: metadataText(object, 'name'), context }
  const mutated = (await admission.mutate({ ...attributes, object }, (changed) => changed)) ?? object
  await admission.validate({ ...attributes, object: mutated })
  return inGoOrder(await answer(mutated, context), info.goType)
}
