/** `SubresourcePost`: a POST request to a subresource such as `pods/eviction`. The body of such a request is not stored as the object. */
import type { JsonObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'

export interface SubresourcePost {
  readonly info: ResourceInfo
  /** The key of the object that has the subresource. */
  readonly key: ObjectKey
  readonly subresource: string
  /** The decoded body. */
  readonly body: JsonObject
  readonly context: RequestContext
}

/** Returns the admission attributes of the request. The attributes do not contain the object. */
export function attributesOf({ info, key, subresource, context }: SubresourcePost): AdmissionAttributes {
  const place = key.namespace === undefined ? {} : { namespace: key.namespace }
  return { info, subresource, operation: 'CREATE', ...place, name: key.name, context }
}
