/** The interface of admission control. Admission control can change or reject an object before the object is stored. */
import type { JsonObject } from '../../api/json.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The attributes of a request during admission. The object has been decoded and defaulted, but not yet stored. */
export interface AdmissionAttributes {
  readonly info: ResourceInfo
  /** The name of the subresource; empty for a request to the object itself. */
  readonly subresource: string
  readonly operation: Operation
  readonly namespace?: string
  /** The name of the object; empty for a CREATE with generateName. */
  readonly name: string
  /** The new object; undefined on DELETE. */
  readonly object?: JsonObject
  /** The stored object; undefined on CREATE. */
  readonly oldObject?: JsonObject
  readonly context: RequestContext
}

export interface Admission {
  /**
   * Calls the mutating webhooks in kube-apiserver's order. Returns the changed object; undefined for a request without an object.
   *
   * @param redefault applies the defaults of the type to an object that a patch has changed.
   * @throws {StatusError} when a webhook denies the request, or a call fails and `failurePolicy` is `Fail`.
   */
  mutate(attributes: AdmissionAttributes, redefault: (object: JsonObject) => JsonObject): Promise<JsonObject | undefined>
  /**
   * Runs the validating admission plugins, and calls the validating webhooks.
   *
   * @throws {StatusError} when a plugin or a webhook denies the request, or a call fails and `failurePolicy` is `Fail`.
   */
  validate(attributes: AdmissionAttributes): Promise<void>
}

/** Admission control that accepts every object without changes. */
export const admitAll: Admission = {
  mutate: ({ object }) => Promise.resolve(object),
  validate: () => Promise.resolve(),
}
