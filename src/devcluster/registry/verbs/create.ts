/** POST: creates an object, responds to a review such as a SubjectAccessReview, or acts on an object through a subresource. */
import type { JsonObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { DecodedObject, RequestContext } from '../../apimachinery/request-context.ts'
import { notFound } from '../../apimachinery/status-error.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { UnstoredRequest } from '../../rest/subresource.ts'
import { inGoOrder } from '../../types/go-order.ts'
import { kindType } from '../../types/go-types.ts'
import { checkNamespace, decodeBody, decodeSubresource, typeOfSubresource } from '../decode.ts'
import type { Environment } from '../environment.ts'
import { evict } from './evict.ts'
import { managedFieldsAfter, writerOf } from '../field-managers.ts'
import { metadataText, withMetadata } from '../metadata.ts'
import { writeObject } from '../write/pipeline.ts'
import type { SubresourcePost } from './subresource-post.ts'
import { attributesOf } from './subresource-post.ts'

export async function createObject(
  environment: Environment,
  info: ResourceInfo,
  namespace: string | undefined,
  decoded: DecodedObject,
  context: RequestContext,
): Promise<JsonObject> {
  const object = decodeBody(info, decoded, context)
  if (info.review !== undefined) return answerReview(environment, info, namespace, object, context, info.review)
  const key = { namespace, name: '' }
  return (await writeObject(environment, info, { key, subresource: '', context, creates: true, requested: () => object })).object
}

/** Handles a POST to a subresource, such as `pods/binding`. */
export async function createSubresource(
  environment: Environment,
  info: ResourceInfo,
  key: ObjectKey,
  subresource: string,
  decoded: DecodedObject,
  context: RequestContext,
): Promise<JsonObject> {
  const { unstored, deletes, created } = info.subresources[subresource]!
  const body = decodeSubresource(info, subresource, decoded, context)
  checkNamespace(info, body, key.namespace)
  const post = { info, key, subresource, body, context }
  if (deletes !== undefined) {
    const object = await evict(environment, post, deletes)
    return created?.(object) ?? object
  }
  if (unstored !== undefined) return carryOut(environment, post, unstored)
  const write = { key, subresource, context, creates: false, operation: 'CREATE', requested: () => body } as const
  const { object } = await writeObject(environment, info, write)
  return created?.(object) ?? object
}

/** Handles a POST to a subresource that stores nothing, such as `serviceaccounts/token`. Webhooks are called as for other subresources. */
async function carryOut(
  { store, admission, clock }: Environment,
  post: SubresourcePost,
  { applyDefaults, prepare, respond }: UnstoredRequest,
): Promise<JsonObject> {
  const { info, key, subresource, body, context } = post
  const type = typeOfSubresource(info, subresource)
  const goType = kindType(type)
  const applied = { ...type, custom: false, subresources: {}, ...(goType && { goType }) }
  const writer = writerOf(type, context, 'Update', subresource, clock.now())
  const attributes = attributesOf(post)
  const defaulted = withMetadata(applyDefaults(body), key.namespace === undefined ? {} : { namespace: key.namespace })
  const tracked = withMetadata(defaulted, { managedFields: managedFieldsAfter(applied, undefined, defaulted, writer) })
  const mutated = (await admission.mutate({ ...attributes, object: tracked }, applyDefaults)) ?? tracked
  const stored = store.get(info.storageKey, key)
  if (stored === undefined) throw notFound(info, key.name)
  const prepared = inGoOrder(prepare(stored, mutated), goType)
  await admission.validate({ ...attributes, object: prepared })
  return inGoOrder(respond(stored, prepared), goType)
}

/** Responds to a review, such as a SubjectAccessReview, without storing it. Webhooks are called as for any other object. */
async function answerReview(
  { admission, clock }: Environment,
  info: ResourceInfo,
  namespace: string | undefined,
  object: JsonObject,
  context: RequestContext,
  answer: NonNullable<ResourceInfo['review']>,
): Promise<JsonObject> {
  const writer = writerOf(info, context, 'Update', '', clock.now())
  const tracked = withMetadata(object, { managedFields: managedFieldsAfter(info, undefined, object, writer) })
  const place = namespace === undefined ? {} : { namespace }
  const attributes = { info, subresource: '', operation: 'CREATE' as const, ...place, name: metadataText(tracked, 'name'), context }
  const mutated = (await admission.mutate({ ...attributes, object: tracked }, (changed) => changed)) ?? tracked
  await admission.validate({ ...attributes, object: mutated })
  return inGoOrder(await answer(mutated, context), info.goType)
}
