/** The description of one served version of a type, which is one row of the catalog. */
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
  /** The supported verbs: only `create` for reviews (SubjectAccessReview …), whose response `review` makes and which are not stored. */
  readonly verbs: readonly Verb[]
  /** `group/plural`; shared by the versions of a type. */
  readonly storageKey: string
  readonly storageVersion: string
  /** Converts between the stored object and the served one, for a type that is stored in another group. */
  readonly conversion?: { readonly fromStorage: (object: JsonObject) => JsonObject; readonly toStorage: (object: JsonObject) => JsonObject }
  /** Converts between the versions of a custom resource with a conversion webhook. */
  readonly converter?: Converter
  /** The subresources, keyed by name: `status`, `scale`, `binding`, … */
  readonly subresources: Readonly<Record<string, SubresourceInfo>>
  /** The Go type; undefined for custom resources. */
  readonly goType?: StructType
  /** True for a type from a CRD: a PUT requires a resourceVersion, and strategic merge patch is not supported. */
  readonly custom: boolean
  /** The schema of custom resources, which prunes, defaults and validates. */
  readonly schema?: CompiledSchema
  /** Returns the schema of another version, in which an object may be stored; undefined when that version no longer exists. */
  readonly schemaOf?: (version: string) => CompiledSchema | undefined
  /** The schema for /openapi/v3; an object with unknown fields when undefined. */
  readonly openapi?: StructuralSchema
  readonly strategy: Strategy
  /** Table columns, `Name` first. When empty, the generic columns `Name` and `Age` are used. */
  readonly columns: readonly Column[]
  /** Returns values for field selectors, in addition to metadata.name and metadata.namespace. */
  readonly selectableFields: (object: JsonObject) => Readonly<Record<string, string>>
  readonly deprecationWarning?: string
  readonly review?: (object: JsonObject, request: RequestContext) => Promise<JsonObject>
}
