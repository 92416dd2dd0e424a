/** Creates an object, for a POST, or for a PUT or server-side apply request whose object does not exist. */
import type { JsonObject } from '../../../api/json.ts'
import { requireAllowed } from '../../access/authorizer.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import { alreadyExists, badRequest, bareError } from '../../apimachinery/status-error.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { inGoOrder } from '../../types/go-order.ts'
import { objectMetaType } from '../../types/go-types.ts'
import { clusterView } from './cluster-view.ts'
import { admitWrite } from './admit.ts'
import { checkNamespace, pruned, redefault } from '../decode.ts'
import type { Environment } from '../environment.ts'
import { managedFieldsAfter, writerOf } from '../field-managers.ts'
import { finalizerWarnings } from '../finalizer-warnings.ts'
import { givenRevision, metadataOf, metadataText, startMetadata, withFields, withMetadata } from '../metadata.ts'
import { checkNamespaceIsActive } from './namespace-lifecycle.ts'
import type { Write } from './description.ts'

/** Maximum number of names to generate for one request (k8s.io/apiserver/pkg/registry/generic/registry: store.go). */
const generateNameAttempts = 8
/**
 * Maximum length of the part of a name that comes from `generateName`. With the suffix of five characters, the name fits into the 63
 * characters of a label (k8s.io/apiserver/pkg/storage/names: generate.go).
 */
const generatedBaseLength = 58

/** Fields of the metadata that only the server can set. They are removed from a new object. */
const unsettable = {
  uid: undefined,
  creationTimestamp: undefined,
  deletionTimestamp: undefined,
  deletionGracePeriodSeconds: undefined,
  selfLink: undefined,
}

export async function insert(environment: Environment, info: ResourceInfo, write: Write): Promise<JsonObject> {
  const { store, representation, clock } = environment
  const { context, hasManagers = false } = write
  const { namespace } = write.key
  const object = await write.requested(undefined)
  // Only a POST rejects a resourceVersion. A PUT or server-side apply request that creates an object ignores the resourceVersion.
  const revision = write.creates === true ? givenRevision(object) : undefined
  checkNamespace(info, object, namespace)
  if (info.namespaced && namespace === undefined) throw badRequest('an empty namespace may not be set during creation')

  const writer = writerOf(info, context, 'Update', '', clock.now())
  // Mutating webhooks are called with the requested object and its `managedFields`. Afterwards, `startMetadata` sets the metadata fields
  // that only the server sets, e.g. the uid.
  const tracked = withMetadata(object, {
    ...unsettable,
    ...(info.namespaced ? { namespace } : {}),
    managedFields: hasManagers ? metadataOf(object).managedFields : managedFieldsAfter(info, undefined, object, writer),
  })
  const admitByType = (given: JsonObject): JsonObject | Promise<JsonObject> =>
    info.strategy.admit?.(given, clusterView(environment, info)) ?? given
  const requested = await admitByType(tracked)
  const name = metadataText(requested, 'name')
  checkNamespaceIsActive(store, info, namespace, name || metadataText(requested, 'generateName'))

  const started = { namespace, uid: environment.newUid(info.storageKey), now: clock.now() }
  const place = namespace === undefined ? {} : { namespace }
  const created = await admitWrite(environment, info, {
    attributes: { info, subresource: '', operation: 'CREATE', ...place, name, context },
    urlName: write.key.name,
    requested,
    redefault: (changed) => redefault(info, changed),
    prepare: async (mutated) => {
      const admitted = mutated === requested ? mutated : await admitByType(mutated)
      return prepare(environment, info, startMetadata(info, named(environment, info, namespace, admitted), started), context)
    },
    authorize: () => authorize(environment, info, write),
  })
  const written = await representation.toStorage(info, pruned(info, created))

  // The namespace is checked again, because another request may have changed the namespace during admission. There must be no `await`
  // between these checks and the write. During an `await`, another request could change the namespace again or create the object.
  const key = { namespace, name: metadataText(created, 'name') }
  checkNamespaceIsActive(store, info, namespace, key.name)
  const existing = store.latest(info.storageKey, key)
  if (existing !== undefined) throw alreadyExists(info, key.name, metadataOf(existing).deletionTimestamp !== undefined)
  for (const text of info.custom ? finalizerWarnings(created) : (info.strategy.warnings?.(created) ?? [])) context.warn(text)
  if (context.dryRun) return representation.show(info, written)
  // In kube-apiserver, the storage layer rejects the resourceVersion of a new object. A dry run does not reach the storage layer, so a dry
  // run accepts the resourceVersion.
  if (revision !== undefined) throw bareError('resourceVersion should not be set on objects to be created')
  return representation.show(info, (await store.put(info.storageKey, key, withRevisionField(info, written), undefined))!)
}

/**
 * Returns the object with a placeholder for the resourceVersion. The metadata fields have the same order as in responses. The store only
 * replaces the placeholder, so the fields of a response need not be sorted again.
 */
function withRevisionField({ custom }: ResourceInfo, object: JsonObject): JsonObject {
  const metadata = { ...metadataOf(object), resourceVersion: '0' }
  return { ...object, metadata: inGoOrder(metadata, custom ? undefined : objectMetaType()) }
}

/**
 * Throws 403 if a PUT or PATCH creates the object, and the user lacks the right to create it (k8s.io/apiserver/pkg/endpoints/handlers:
 * withAuthorization).
 */
function authorize({ authorizer }: Environment, { group, version, plural }: ResourceInfo, { creates, key, context }: Write): void {
  if (creates === true) return
  const { namespace = '', name } = key
  requireAllowed(authorizer, { user: context.user, verb: 'create', group, version, resource: plural, subresource: '', namespace, name })
}

/**
 * Returns the result of the strategy's `prepareForCreate`. If the type has a status subresource, the status is removed first, except for a
 * strategy with `keepsStatus`.
 */
function prepare(environment: Environment, info: ResourceInfo, object: JsonObject, context: RequestContext): JsonObject {
  const dropsStatus = Object.hasOwn(info.subresources, 'status') && info.strategy.keepsStatus !== true
  const clean = dropsStatus ? withFields(object, { status: undefined }) : object
  return info.strategy.prepareForCreate?.(clean, context, clusterView(environment, info)) ?? clean
}

/**
 * If the object has `generateName` and no name, returns the object with a name that is generated from `generateName`. Otherwise, returns
 * the object unchanged. If another object has the generated name, another name is generated. At most `generateNameAttempts` names are
 * generated. The last of these names is used even if another object has this name.
 */
function named({ store, randomSuffix }: Environment, info: ResourceInfo, namespace: string | undefined, object: JsonObject): JsonObject {
  const generateName = metadataText(object, 'generateName')
  if (metadataText(object, 'name') !== '' || generateName === '') return object
  for (let attempt = 1; ; attempt += 1) {
    const name = generateName.slice(0, generatedBaseLength) + randomSuffix(info.storageKey)
    const isTaken = store.latest(info.storageKey, { namespace, name }) !== undefined
    if (!isTaken || attempt === generateNameAttempts) return withMetadata(object, { name })
  }
}
