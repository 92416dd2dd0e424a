/** The served types, for controllers that process all of them. */
import type { ResourceType } from '../../api/group-version-kind.ts'
import { resourceType } from '../../api/group-version-kind.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'

/** The types of a cluster, each in its preferred version. */
export interface TypeSource {
  /** Returns the types that support list, watch and delete. */
  types(): readonly ResourceType[]
  /** Returns the type of this group and kind in its preferred version; undefined when it is not served. */
  byKind(group: string, kind: string): ResourceType | undefined
  /** Calls `listener` after each change; returns a function to unsubscribe. */
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

/** Returns one type per storage key; the catalog lists the preferred version first. */
function preferred(rows: readonly ResourceInfo[]): readonly ResourceType[] {
  const byStorage = new Map<string, ResourceType>()
  for (const { storageKey, verbs, group, version, kind, plural, namespaced } of rows) {
    if (!verbs.includes('watch') || !verbs.includes('delete') || byStorage.has(storageKey)) continue
    byStorage.set(storageKey, resourceType({ group, version, kind, plural, namespaced }))
  }
  return [...byStorage.values()]
}
