/** Admission and validation of requests that create or change an object. The order of the steps is the same for every verb. */
import type { JsonObject } from '../../../api/json.ts'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { Environment } from '../environment.ts'
import { metadataText } from '../metadata.ts'
import { validateForWrite } from '../validate.ts'
import { refuseEscalation } from './escalation.ts'

/** The inputs of admission and validation. Both run after the request has been decoded and before the object is stored. */
export interface AdmittedWrite {
  readonly attributes: AdmissionAttributes
  /** The name in the URL; empty for a POST of an object. */
  readonly urlName: string
  /** The object with which mutating webhooks are called: the requested object, decoded and with `managedFields`. */
  readonly requested: JsonObject
  readonly old?: JsonObject
  /** Applies defaults to an object that a webhook has changed. */
  readonly redefault: (changed: JsonObject) => JsonObject
  /** Returns the whole object to store, including the fields that only the server sets. `mutated` is the result of mutating admission. */
  readonly prepare: (mutated: JsonObject) => JsonObject | Promise<JsonObject>
  /**
   * Throws 403 when the request requires an additional permission that the user lacks. For example, a PATCH that creates an object requires
   * the permission to create the object. This function is called before the validating webhooks.
   */
  readonly authorize?: () => void
  /** True when validating webhooks are called with the object of the subresource, e.g. a Scale, instead of the whole object. */
  readonly reviewsSubresource?: boolean
}

/**
 * Calls mutating admission, the check of RBAC objects, `prepare`, the validation, `authorize` and validating admission, in this order.
 * Returns the whole object to store.
 */
export async function admitWrite(environment: Environment, info: ResourceInfo, write: AdmittedWrite): Promise<JsonObject> {
  const { admission } = environment
  const { attributes, urlName, requested, old, redefault, prepare, authorize, reviewsSubresource = false } = write
  const { namespace = '', context } = attributes
  const mutated = (await admission.mutate({ ...attributes, object: requested }, redefault)) ?? requested
  refuseEscalation(environment, info, { user: context.user, namespace, name: urlName, object: mutated, old })
  const object = await prepare(mutated)
  validateForWrite(info, object, old, attributes.subresource, context.warn)
  authorize?.()
  await admission.validate({ ...attributes, name: metadataText(object, 'name'), object: reviewsSubresource ? mutated : object })
  return object
}
