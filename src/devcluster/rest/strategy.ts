/** The rules of a type for writes, where they differ from the generic write path (k8s.io/apiserver `pkg/registry/rest`). */
import type { Clock } from '../../runtime/clock.ts'
import type { FieldError } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { Status } from '../../api/status.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'

/** The view of the cluster for built-in admission plugins. */
export interface ClusterView {
  get(storageKey: string, key: ObjectKey): JsonObject | undefined
  list(storageKey: string, namespace?: string): readonly JsonObject[]
  /** True when a controller creates the default ServiceAccount of each namespace. Pods then require their ServiceAccount to exist. */
  readonly hasServiceAccounts: boolean
  /** Returns five characters for a generated name. */
  readonly randomSuffix: () => string
  readonly clock: Clock
}

/** The differences of a type from the generic write path. All members are optional. */
export interface Strategy {
  /** Validates names; default: a DNS-1123 subdomain. */
  readonly name?: (value: string) => string[]
  /** Applies built-in defaults, with copy-on-write. */
  readonly default?: (object: JsonObject) => JsonObject
  /** Prepares a new object. Must be idempotent, because it is called again after admission. */
  readonly prepareForCreate?: (object: JsonObject, context: RequestContext) => JsonObject
  /**
   * Runs built-in admission plugins for a new object; the fields they add have no manager. Called again when webhooks have changed the
   * object. Throws a `StatusError` to reject it.
   */
  readonly admit?: (object: JsonObject, cluster: ClusterView) => JsonObject | Promise<JsonObject>
  /** Returns warnings about a valid new object. */
  readonly warnings?: (object: JsonObject) => readonly string[]
  readonly prepareForUpdate?: (object: JsonObject, old: JsonObject, subresource: string) => JsonObject
  readonly validate?: (object: JsonObject, old: JsonObject | undefined, subresource?: string) => readonly FieldError[]
  /** Returns the grace period of the object in seconds. Default: the type has no graceful deletion. */
  readonly gracePeriodSeconds?: (object: JsonObject) => number
  /** True when a DELETE without propagation policy orphans dependents; default: they are garbage-collected. */
  readonly orphansDependents?: boolean
  /** Returns warnings about a DELETE with these `DeleteOptions`. */
  readonly deletionWarnings?: (options: JsonObject) => readonly string[]
  /** Returns the error when the object must not be deleted, e.g. the namespace `default`. */
  readonly canDelete?: (object: JsonObject) => Status | undefined
  /** Changes an object that is marked for deletion, e.g. sets phase `Terminating`. */
  readonly beginDelete?: (object: JsonObject) => JsonObject
  /** Returns finalizers outside metadata that block deletion (`spec.finalizers` of namespaces). */
  readonly heldBy?: (object: JsonObject) => readonly string[]
  /** True when a create keeps the status although the type has a status subresource (nodes). */
  readonly keepsStatus?: boolean
  /**
   * True when validation distinguishes empty lists from missing ones, which it can in decoded objects. Stored objects have no empty lists.
   */
  readonly distinguishesEmptyLists?: boolean
  /** True when the server sets `metadata.generation`. Default: true only for custom resources. */
  readonly generation?: boolean
  /** True when DELETE returns the object instead of a `Status` (pods, namespaces, …). */
  readonly returnsDeleted?: boolean
}
