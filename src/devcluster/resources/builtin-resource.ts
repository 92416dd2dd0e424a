/** Makes the `ResourceInfo` of a built-in type, with defaults for the properties that are the same for most types. */
import { kindType } from '../types/go-types.ts'
import { genericColumns } from './columns.ts'
import type { Column } from '../rest/column.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { Strategy } from '../rest/strategy.ts'
import type { SubresourceInfo, Verb } from '../rest/subresource.ts'
import { storedVerbs } from '../rest/subresource.ts'

export interface BuiltinDefinition {
  /** API group. Default: the core group. */
  readonly group?: string
  /** API version. Default `v1`. */
  readonly version?: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** True for a namespaced type. Default true. */
  readonly namespaced?: boolean
  readonly verbs?: readonly Verb[]
  /** True for a type with the `status` subresource. Default false. */
  readonly status?: boolean
  /**
   * The names of metadata fields that a write to the subresource `status` leaves unchanged, even if the request contains other values for
   * them. Default: none.
   */
  readonly metadataKeptByStatus?: readonly string[]
  readonly subresources?: Readonly<Record<string, SubresourceInfo>>
  readonly strategy?: Strategy
  readonly columns?: readonly Column[]
  readonly selectableFields?: ResourceInfo['selectableFields']
  /** Key of the type in the store. Default `group/plural`. */
  readonly storageKey?: string
  readonly conversion?: ResourceInfo['conversion']
  readonly deprecationWarning?: string
}

const statusVerbs: readonly Verb[] = ['get', 'patch', 'update']

export function builtinResource(definition: BuiltinDefinition): ResourceInfo {
  const { group = '', version = 'v1', kind, plural } = definition
  const goType = kindType({ group, version, kind })
  const { metadataKeptByStatus: keptMetadata } = definition
  const status = definition.status === true ? { status: { kind, verbs: statusVerbs, ...(keptMetadata && { keptMetadata }) } } : {}
  return Object.freeze({
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    namespaced: definition.namespaced ?? true,
    verbs: definition.verbs ?? storedVerbs,
    storageKey: definition.storageKey ?? `${group}/${plural}`,
    storageVersion: version,
    subresources: { ...status, ...definition.subresources },
    ...(goType === undefined ? {} : { goType }),
    custom: false,
    strategy: definition.strategy ?? {},
    columns: definition.columns ?? genericColumns,
    selectableFields: definition.selectableFields ?? (() => ({})),
    ...(definition.conversion === undefined ? {} : { conversion: definition.conversion }),
    ...(definition.deprecationWarning === undefined ? {} : { deprecationWarning: definition.deprecationWarning }),
  })
}
