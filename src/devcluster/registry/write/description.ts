/** A write, as the handler of its verb describes it. */
import type { JsonObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'

export interface Write {
  /** The key in the URL. The name is empty for a POST of an object. */
  readonly key: ObjectKey
  /** Empty for the object itself. */
  readonly subresource: string
  readonly context: RequestContext
  /** True for a write that creates the object; `if missing` for a write that creates or changes it. */
  readonly creates: boolean | 'if missing'
  /** The operation in the AdmissionReview of a change. Default UPDATE; CREATE for a POST to a subresource. */
  readonly operation?: 'CREATE' | 'UPDATE'
  /** True when the objects that `requested` returns already have the managedFields of this write. */
  readonly hasManagers?: boolean
  /**
   * Returns the requested object, decoded and with defaults. `old` is the existing object, undefined when there is none; both have the form
   * of the subresource. `requested` is called again when another request has changed the object in the meantime.
   */
  readonly requested: (old: JsonObject | undefined) => JsonObject | Promise<JsonObject>
}

export interface Written {
  readonly object: JsonObject
  /** True when the object was created. */
  readonly created: boolean
}
