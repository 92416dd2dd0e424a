/** Lists the served types, for controllers that process the objects of all types. */
import type { ResourceType } from '../../api/group-version-kind.ts'
import { resourceType } from '../../api/group-version-kind.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'

/** The types of the cluster, each in its preferred version. A type is included only if its objects can be watched and deleted. */
export interface TypeSource {
  /** Returns all types whose objects can be watched and deleted. */
  types(): readonly ResourceType[]
  /** Returns the type with this group and kind among `types()`; undefined when there is no such type. */
  byKind(group: string, kind: string): ResourceType | undefined
  /** Calls `listener` after each change of the served types. Returns a function that unsubscribes the listener. */
  onChange(listener: () => void): () => void
}

export function catalogTypes(catalog: Catalog): TypeSource {
  let known: { readonly generation: number; readonly types: readonly ResourceType[] } | undefined
  const types = (): readonly ResourceType[] => {
    if (known?.generation !== catalog.generation) known = { generation: catalog.generation, types: preferred(catalog.all()) }
    return known.types
  }
  return {
    types,
    byKind: (group, kind) => types().find((type) => type.group === group && type.kind === kind),
    onChange: (listener) => catalog.onChange(listener),
  }
}

/**
 * Returns the preferred version of each type whose objects can be watched and deleted. All versions of a type have the same storage key.
 * The catalog lists the preferred version first, so only the first version for each storage key is returned.
 */
function preferred(rows: readonly ResourceInfo[]): readonly ResourceType[] {
  const byStorage = new Map<string, ResourceType>()
  for (const { storageKey, verbs, group, version, kind, plural, namespaced } of rows) {
    if (!verbs.includes('watch') || !verbs.includes('delete') || byStorage.has(storageKey)) continue
    byStorage.set(storageKey, resourceType({ group, version, kind, plural, namespaced }))
  }
  return [...byStorage.values()]
}
