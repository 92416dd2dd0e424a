/** The description of one served version of a type: a row of the catalog, which drives everything else. */
import type { Clock } from '../../api/clock.ts'
import type { FieldError } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import type { ObjectKey } from '../../api/object.ts'
import type { Status } from '../../api/status.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { ReplicasPath } from '../apply/scale-managers.ts'
import type { Converter } from '../conversion-webhooks/converter.ts'
import type { RequestContext } from '../registry/request-context.ts'
import type { StructType } from '../types/go-types.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** The verbs of a stored type, in the order of discovery. */
export const storedVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A column of a table, for `kubectl get`. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** Shown only with `-o wide` when greater than 0. */
  readonly priority: number
  cell(object: JsonObject, now: number): JsonValue
}

export interface SubresourceInfo {
  readonly kind: string
  /** Default: the group and version of the type. */
  readonly group?: string
  readonly version?: string
  /** Another apiVersion that the body may have; its fields are the same. */
  readonly otherApiVersion?: string
  readonly verbs: readonly Verb[]
  /**
   * Converts the object to the form of the subresource; default: the object itself. `writing` is true when a write starts or ends with it.
   */
  readonly read?: (object: JsonObject, options?: { readonly writing?: boolean }) => JsonObject
  /** Merges the written body (PUT, PATCH, POST) into the stored object; default: the strategy's `prepareForUpdate`. */
  readonly write?: (object: JsonObject, written: JsonObject, context: { readonly now: number }) => JsonObject
  /** For a scale subresource: the path of the object's replicas field. */
  readonly replicasPath?: ReplicasPath
  /** Makes the response to a POST; default: the written object. */
  readonly created?: (object: JsonObject) => JsonObject
  /** For a POST that deletes the object: returns the `DeleteOptions` for the body. Throws a `StatusError` to reject it. */
  readonly deletes?: (name: string, body: JsonObject, context: Pick<RequestContext, 'options'>) => JsonObject
  /** True when writes do not change `metadata.generation`. */
  readonly keepsGeneration?: boolean
  /** For a POST that writes nothing: makes the response from the stored object and the body. */
  readonly answer?: (object: JsonObject, body: JsonObject) => JsonObject
}

/** The view of the cluster for built-in admission plugins. */
export interface ClusterView {
  get(storageKey: string, key: ObjectKey): JsonObject | undefined
  list(storageKey: string, namespace?: string): readonly JsonObject[]
  /** True when a controller creates the default ServiceAccount of each namespace, so that Pods require theirs. */
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
  /** Called again after admission, so it must be idempotent. */
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
  /** Returns the default grace period; default 0: no graceful deletion. */
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
  /** True when a create keeps the status in spite of a status subresource (nodes). */
  readonly keepsStatus?: boolean
  /** True when validation distinguishes empty lists from missing ones, as decoded. Stored objects have neither. */
  readonly distinguishesEmptyLists?: boolean
  /** True when `metadata.generation` is set; default: for custom resources only. */
  readonly generation?: boolean
  /** True when DELETE returns the object instead of a `Status` (pods, namespaces, …). */
  readonly returnsDeleted?: boolean
}

/**
 * JSON types of a built-in type's fields, for decoding with the messages of Go's decoder. A string is a scalar, an object has fields, and
 * an array of one element is a list.
 */
export type Shape =
  | 'string'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bool'
  | 'intOrString'
  | 'quantity'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'any'
  | ObjectShape
  | readonly [Shape]
  | MapShape
  | ObjectOrShape

export interface ObjectShape {
  /** The Go type in decoding errors: `Container`. */
  readonly type: string
  readonly fields: Readonly<Record<string, Shape>>
}

export interface MapShape {
  readonly mapOf: Shape
}

/** An object of a shape, or a value of another type that is not checked. */
export interface ObjectOrShape {
  readonly objectOr: ObjectShape
}

/** One served version of one type. */
export interface ResourceInfo {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** Only `create` for reviews (SubjectAccessReview …), which are answered by `review` and not stored. */
  readonly verbs: readonly Verb[]
  /** `group/plural`; shared by the versions of a type. */
  readonly storageKey: string
  readonly storageVersion: string
  /** Converts between the stored object and the object of this row, when the type is stored in another group. */
  readonly conversion?: { readonly fromStorage: (object: JsonObject) => JsonObject; readonly toStorage: (object: JsonObject) => JsonObject }
  /** Converts between the versions of a custom resource with a conversion webhook. */
  readonly converter?: Converter
  /** `status`, `scale`, `binding`, … */
  readonly subresources: Readonly<Record<string, SubresourceInfo>>
  /** The Go type; undefined for custom resources. */
  readonly goType?: StructType
  /** True for a type from a CRD: a PUT requires a resourceVersion, and strategic merge patch is not supported. */
  readonly custom: boolean
  /** For custom resources: prunes, defaults, validates. */
  readonly schema?: CompiledSchema
  /** Returns the schema of another version, in which an object may be stored; undefined when it no longer exists. */
  readonly schemaOf?: (version: string) => CompiledSchema | undefined
  /** The schema for /openapi/v3; an object with unknown fields when undefined. */
  readonly openapi?: StructuralSchema
  readonly strategy: Strategy
  /** Table columns, `Name` first; the generic ones, Name and Age, when empty. */
  readonly columns: readonly Column[]
  /** Returns values for field selectors, in addition to metadata.name and metadata.namespace. */
  readonly selectableFields: (object: JsonObject) => Readonly<Record<string, string>>
  readonly deprecationWarning?: string
  readonly review?: (object: JsonObject, request: RequestContext) => Promise<JsonObject>
}
