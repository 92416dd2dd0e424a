/** The description of a write of one object. The handlers of POST, PUT and PATCH build a `Write`. */
import type { JsonObject } from '../../../api/json.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'

export interface Write {
  /** The key in the URL. The name is empty for a POST of an object. */
  readonly key: ObjectKey
  /** The subresource in the URL. The value is empty for a request to the object itself. */
  readonly subresource: string
  readonly context: RequestContext
  /**
   * True if the write creates the object. False if the write changes an existing object. With the value `if missing`, the write changes the
   * object if the object exists, and creates the object if the object does not exist.
   */
  readonly creates: boolean | 'if missing'
  /**
   * The operation in the AdmissionReview when the write changes an existing object. The operation is CREATE for a POST to a subresource,
   * and UPDATE for all other writes. Default: UPDATE.
   */
  readonly operation?: 'CREATE' | 'UPDATE'
  /**
   * True for server-side apply: the objects that `requested` returns already contain the `managedFields` that result from this write. False
   * if the registry must compute the `managedFields`. Default false.
   */
  readonly hasManagers?: boolean
  /**
   * Returns the requested object, decoded and with defaults. `requested` is called again if another request changes the stored object
   * during this write.
   *
   * - `old` is the existing object; undefined if the object does not exist.
   * - For a subresource with its own type, such as Scale, `old` and the requested object have this type.
   */
  readonly requested: (old: JsonObject | undefined) => JsonObject | Promise<JsonObject>
}

export interface Written {
  readonly object: JsonObject
  /** True when the object was created. */
  readonly created: boolean
}
