/** Admission control: the checks and changes of the registry before a write. */
import type { JsonObject } from '../../api/json.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The attributes of a request for admission, after the object was decoded and defaulted and before it is stored. */
export interface AdmissionAttributes {
  readonly info: ResourceInfo
  /** Empty for the object itself. */
  readonly subresource: string
  readonly operation: Operation
  readonly namespace?: string
  /** Empty on a CREATE with generateName. */
  readonly name: string
  /** Absent on DELETE. */
  readonly object?: JsonObject
  /** Absent on CREATE. */
  readonly oldObject?: JsonObject
  readonly context: RequestContext & RequestTime
}

export interface RequestTime {
  /** Time at which the whole request times out; limits the time for webhooks. */
  readonly deadline?: number
}

export interface Admission {
  /**
   * Calls the mutating webhooks in kube-apiserver's order, and returns the resulting object. `redefault` prunes the object and applies
   * defaults after each patch. Throws `StatusError` on a denial or a failed call.
   */
  mutate(attributes: AdmissionAttributes, redefault: (object: JsonObject) => JsonObject): Promise<JsonObject | undefined>
  /** Calls the validating webhooks. Throws `StatusError` on a denial or a failed call. */
  validate(attributes: AdmissionAttributes): Promise<void>
}

/** Admission that admits every object unchanged. */
export const admitAll: Admission = {
  mutate: ({ object }) => Promise.resolve(object),
  validate: () => Promise.resolve(),
}
