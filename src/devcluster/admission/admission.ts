/** Admission control: what the registry asks before it writes. */
import type { JsonObject } from '../../api/json.ts'
import type { RequestContext } from '../registry/request-context.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** A write as admission sees it: after decoding and defaulting, before storing. */
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
  /** When the time of the whole request is over; webhooks get what is left of it at most. */
  readonly deadline?: number
}

export interface Admission {
  /**
   * Calls the mutating webhooks in the API server's order and gives the object to go on with.
   * `redefault` prunes and defaults it again after each patch. Throws `StatusError` on a denial or a failed call.
   */
  mutate(attributes: AdmissionAttributes, redefault: (object: JsonObject) => JsonObject): Promise<JsonObject | undefined>
  /** Calls the validating webhooks. Throws `StatusError` on a denial or a failed call. */
  validate(attributes: AdmissionAttributes): Promise<void>
}

/** Lets everything through unchanged. */
export const admitAll: Admission = {
  mutate: ({ object }) => Promise.resolve(object),
  validate: () => Promise.resolve(),
}
