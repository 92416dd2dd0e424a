/** The description of one served version of a type: a row of the catalog, which drives everything else. */
import type { JsonObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import type { CompiledSchema } from '../../schema/compile.ts'
import type { RequestContext } from '../apimachinery/request-context.ts'
import type { StructType } from '../types/go-types.ts'
import type { Column } from './column.ts'
import type { Converter } from './converter.ts'
import type { Strategy } from './strategy.ts'
import type { SubresourceInfo, Verb } from './subresource.ts'

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
