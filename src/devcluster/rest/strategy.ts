/**
 * `Strategy`: the functions and options that a resource type defines for requests that write objects of this type. A `Strategy` corresponds
 * to a strategy of kube-apiserver (k8s.io/apiserver/pkg/registry/rest).
 */
import type { Clock } from '../../runtime/clock.ts'
import type { FieldError } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { Status } from '../../api/status.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'

/** The cluster state that the functions of a type can read. */
export interface ClusterView {
  get(storageKey: string, key: ObjectKey): JsonObject | undefined
  list(storageKey: string, namespace?: string): readonly JsonObject[]
  /**
   * True when a controller creates the default ServiceAccount of each namespace. In this case, a Pod is rejected if its ServiceAccount does
   * not exist.
   */
  readonly hasServiceAccounts: boolean
  /** Returns five random characters, the suffix of a generated name. */
  readonly randomSuffix: () => string
  readonly clock: Clock
}

/** The functions and options of a type for requests that write objects. All members are optional. */
export interface Strategy {
  /** Returns an error message for each problem of a name. Default: the name must be a DNS-1123 subdomain. */
  readonly name?: (value: string) => string[]
  /** Returns the object with built-in defaults. The function does not change its argument. */
  readonly default?: (object: JsonObject) => JsonObject
  /** Sets and removes fields of a new object. Called after mutating admission and before validation. */
  readonly prepareForCreate?: (object: JsonObject, context: RequestContext, cluster: ClusterView) => JsonObject
  /**
   * Runs the built-in admission plugins for a new object, and returns the admitted object. If webhooks change the object, the plugins run
   * again. `managedFields` has no entries for the fields that plugins add. Throws a `StatusError` to reject the object.
   */
  readonly admit?: (object: JsonObject, cluster: ClusterView) => JsonObject | Promise<JsonObject>
  /** Returns warnings about a valid new object. */
  readonly warnings?: (object: JsonObject) => readonly string[]
  /** Sets and removes fields of an updated object. `now` is the time in milliseconds since 1970. */
  readonly prepareForUpdate?: (object: JsonObject, old: JsonObject, subresource: string, now: number, cluster: ClusterView) => JsonObject
  readonly validate?: (object: JsonObject, old: JsonObject | undefined, subresource?: string) => readonly FieldError[]
  /** Returns the grace period of the object in seconds. If this function is absent, the type has no graceful deletion. */
  readonly gracePeriodSeconds?: (object: JsonObject) => number
  /** True when a DELETE without a propagation policy orphans the dependents. By default, the dependents are garbage-collected. */
  readonly orphansDependents?: boolean
  /** Returns warnings about a DELETE with these `DeleteOptions`. */
  readonly deletionWarnings?: (options: JsonObject) => readonly string[]
  /** Returns the error for an object that must not be deleted, e.g. the namespace `default`. */
  readonly canDelete?: (object: JsonObject) => Status | undefined
  /**
   * Called when the deletion of an object begins. The object already has a deletionTimestamp. Returns a copy of the object with the changes
   * that the type needs, e.g. with the phase `Terminating`.
   */
  readonly beginDelete?: (object: JsonObject) => JsonObject
  /** Returns finalizers outside metadata that block deletion (`spec.finalizers` of namespaces). */
  readonly heldBy?: (object: JsonObject) => readonly string[]
  /** True when a create request keeps the status of the body, although the type has a status subresource. This is the case for nodes. */
  readonly keepsStatus?: boolean
  /**
   * True when validation distinguishes an empty list from a missing list. By default, decoding removes the empty lists that Go omits from
   * JSON. With this option, these lists are present during validation, and are removed when the object is stored.
   */
  readonly distinguishesEmptyLists?: boolean
  /** True when the server sets `metadata.generation`. Default: true only for custom resources. */
  readonly generation?: boolean
  /** True when DELETE returns the object instead of a `Status` (pods, namespaces, …). */
  readonly returnsDeleted?: boolean
}
