/** What the API server knows about one served version of one type: a row of the table that drives everything else. */
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

/** The verbs of an ordinary, stored type, in the order in which discovery lists them. */
export const storedVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A column of a table, as `kubectl get` shows it. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format: string
  readonly description: string
  /** Above 0: for `-o wide` alone. */
  readonly priority: number
  cell(object: JsonObject, now: number): JsonValue
}

export interface SubresourceInfo {
  readonly kind: string
  /** Default: the group and version of the type. */
  readonly group?: string
  readonly version?: string
  /** Another apiVersion in which a body may come; it has the same fields. */
  readonly alike?: string
  readonly verbs: readonly Verb[]
  /** What a read shows; default: the object itself. `writing`: it is what a write starts from, or ends with. */
  readonly read?: (object: JsonObject, options?: { readonly writing?: boolean }) => JsonObject
  /** The stored object with what was written (PUT, PATCH, POST) to the subresource laid in; default: the strategy's `prepareForUpdate`. */
  readonly write?: (object: JsonObject, written: JsonObject, context: { readonly now: number }) => JsonObject
  /** Of a scale subresource: where the object has the number that it sets. */
  readonly replicasPath?: ReplicasPath
  /** What a POST answers; default: the written object. */
  readonly created?: (object: JsonObject) => JsonObject
  /** A POST that deletes the object of this name: the `DeleteOptions` that the body stands for. Throws a `StatusError` to refuse. */
  readonly deletes?: (name: string, asked: JsonObject, context: Pick<RequestContext, 'options'>) => JsonObject
  /** Writes leave `metadata.generation` as it is, whatever they change. */
  readonly keepsGeneration?: boolean
  /** A POST that writes nothing: what is answered about the stored object. */
  readonly answer?: (object: JsonObject, asked: JsonObject) => JsonObject
}

/** What built-in admission plugins may look at. */
export interface ClusterView {
  get(storageKey: string, key: ObjectKey): JsonObject | undefined
  list(storageKey: string, namespace?: string): readonly JsonObject[]
  /** Whether namespaces get ServiceAccounts: then a Pod needs one. */
  readonly hasServiceAccounts: boolean
  /** Five characters for a generated name. */
  readonly randomSuffix: () => string
  readonly clock: Clock
}

/** Where a type differs from the generic write path. Every member may be left out. */
export interface Strategy {
  /** Syntax of names; default: a DNS-1123 subdomain. */
  readonly name?: (value: string) => string[]
  /** Built-in defaults, copy on write. */
  readonly default?: (object: JsonObject) => JsonObject
  /** Called again after admission: it must change nothing when called twice. */
  readonly prepareForCreate?: (object: JsonObject, context: RequestContext) => JsonObject
  /**
   * What built-in admission plugins add to a new object; nobody owns it. Throws a `StatusError` to refuse.
   * Called again when webhooks have changed the object.
   */
  readonly admit?: (object: JsonObject, cluster: ClusterView) => JsonObject | Promise<JsonObject>
  /** Said of a new object that is valid. */
  readonly warnings?: (object: JsonObject) => readonly string[]
  readonly prepareForUpdate?: (object: JsonObject, old: JsonObject, subresource: string) => JsonObject
  readonly validate?: (object: JsonObject, old: JsonObject | undefined, subresource?: string) => readonly FieldError[]
  /** How long a deleted object goes on living when the request does not say; default 0: no graceful deletion. */
  readonly gracePeriodSeconds?: (object: JsonObject) => number
  /** What a DELETE that says nothing about it does with dependents; default: the garbage collector takes them. */
  readonly orphansDependents?: boolean
  /** Said to who deletes an object with these `DeleteOptions`. */
  readonly deletionWarnings?: (options: JsonObject) => readonly string[]
  /** A refusal to delete, e.g. of the namespace `default`. */
  readonly canDelete?: (object: JsonObject) => Status | undefined
  /** The object as it is marked for deletion, e.g. with phase `Terminating`. */
  readonly beginDelete?: (object: JsonObject) => JsonObject
  /** Finalizers outside metadata that hold an object that is being deleted (`spec.finalizers` of namespaces). */
  readonly heldBy?: (object: JsonObject) => readonly string[]
  /** A create may bring the status with it, although there is a status subresource (nodes). */
  readonly keepsStatus?: boolean
  /** The validation tells an empty list from none, as it was decoded; what is stored and shown has neither. */
  readonly tellsEmptyLists?: boolean
  /** Counts `metadata.generation`; default: custom resources, and what the row says. */
  readonly generation?: boolean
  /** DELETE answers with the object instead of a `Status` (pods, namespaces, …). */
  readonly returnsDeleted?: boolean
}

/**
 * JSON types of a built-in object's fields, for decoding errors in the words of Go's decoder.
 * A string names a leaf; objects name fields; one-element arrays are lists.
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
  /** The Go type, as decoding errors name it: `Container`. */
  readonly type: string
  readonly fields: Readonly<Record<string, Shape>>
}

export interface MapShape {
  readonly mapOf: Shape
}

/** An object of a shape, or a value that is no object and not looked at. */
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
  /** Only `create` for reviews (SubjectAccessReview …): they are not stored, `review` answers them. */
  readonly verbs: readonly Verb[]
  /** `group/plural`; the versions of one type share it. */
  readonly storageKey: string
  readonly storageVersion: string
  /** Between what is stored and what this row shows, where that is the object of another group. */
  readonly conversion?: { readonly fromStorage: (object: JsonObject) => JsonObject; readonly toStorage: (object: JsonObject) => JsonObject }
  /** Between the versions of a custom resource, where its definition has a conversion webhook. */
  readonly converter?: Converter
  /** `status`, `scale`, `binding`, … */
  readonly subresources: Readonly<Record<string, SubresourceInfo>>
  /** What it is in Go; custom resources are nothing there. */
  readonly goType?: StructType
  /** From a CRD: strict about resourceVersion on PUT, no strategic merge patch. */
  readonly custom: boolean
  /** Custom resources: prunes, defaults, validates. */
  readonly schema?: CompiledSchema
  /** The same for the version of this name, in which an object may be stored; undefined when it is no more. */
  readonly schemaOf?: (version: string) => CompiledSchema | undefined
  /** What /openapi/v3 describes; absent: an object with unknown fields. */
  readonly openapi?: StructuralSchema
  readonly strategy: Strategy
  /** For tables, `Name` first; the generic Name and Age when empty. */
  readonly columns: readonly Column[]
  /** Values for field selectors, beyond metadata.name and metadata.namespace. */
  readonly selectableFields: (object: JsonObject) => Readonly<Record<string, string>>
  readonly deprecationWarning?: string
  readonly review?: (object: JsonObject, request: RequestContext) => Promise<JsonObject>
}
