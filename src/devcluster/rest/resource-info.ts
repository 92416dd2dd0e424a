/** The description of one served version of a type: one row of the `Catalog`. */
import type { JsonObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'
import type { StructType } from '../types/go-types.ts'
import type { Column } from './column.ts'
import type { Converter } from './converter.ts'
import type { Strategy } from './strategy.ts'
import type { SubresourceInfo, Verb } from './subresource.ts'

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
  /**
   * The supported verbs. Reviews, such as SubjectAccessReview, support only `create`. They are not stored, and `review` returns the
   * response.
   */
  readonly verbs: readonly Verb[]
  /** Key of the type in the store: `group/plural`. All versions of a type have the same key. */
  readonly storageKey: string
  readonly storageVersion: string
  /**
   * Functions that convert an object between its stored form and its served form. Built-in types that are stored in another group or
   * version have these functions, e.g. the Events of events.k8s.io.
   */
  readonly conversion?: { readonly fromStorage: (object: JsonObject) => JsonObject; readonly toStorage: (object: JsonObject) => JsonObject }
  /** Converts between the versions of a custom resource; undefined when the CRD has no conversion webhook. */
  readonly converter?: Converter
  /** The subresources, keyed by name: `status`, `scale`, `binding`, … */
  readonly subresources: Readonly<Record<string, SubresourceInfo>>
  /** The Go type; undefined for custom resources. */
  readonly goType?: StructType
  /** True for a type that a CRD defines. A PUT of such a type requires a resourceVersion, and strategic merge patches are not supported. */
  readonly custom: boolean
  /** The schema that prunes, defaults and validates custom resources; undefined for built-in types. */
  readonly schema?: CompiledSchema
  /**
   * Returns the schema of a version of the CRD, e.g. of the version in which an object is stored. Returns undefined when the CRD does not
   * have this version.
   */
  readonly schemaOf?: (version: string) => CompiledSchema | undefined
  /** The schema in the OpenAPI v3 document. If `openapi` is undefined, the schema in the document is derived from `goType`. */
  readonly openapi?: StructuralSchema
  /** The objects of a type whose objects are not stored, such as ComponentStatus. Undefined for all other types. */
  readonly computed?: readonly JsonObject[]
  readonly strategy: Strategy
  /** Table columns, the column `Name` first. If `columns` is empty, the generic columns `Name` and `Age` are used. */
  readonly columns: readonly Column[]
  /**
   * Returns the values of the fields that field selectors can use, keyed by path. The fields metadata.name and metadata.namespace are not
   * included, because all types support these fields.
   */
  readonly selectableFields: (object: JsonObject) => Readonly<Record<string, string>>
  readonly deprecationWarning?: string
  readonly review?: (object: JsonObject, request: RequestContext) => Promise<JsonObject>
}
