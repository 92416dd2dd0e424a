/** What server-side apply must know of a value's type: whether maps and lists merge, and what identifies an item. */
import type { JsonValue } from '../../api/json.ts'
import { canonicalJson, getOwn, isObject } from '../../api/json.ts'
import type { JsonObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { isAtomicMap, listRule } from '../patch/merge-keys.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'

export interface Typing {
  readonly atomicMap: boolean
  readonly list: 'atomic' | 'set' | 'map'
  /** What identifies an item of a list map. */
  readonly keys: readonly string[]
  readonly keyDefaults: Readonly<Record<string, JsonValue>>
  field(name: string): Typing
  item(): Typing
}

/** The typing of a whole object: from the CRD's schema, or from the table of built-in merge keys. */
export function typingOf(info: Pick<ResourceInfo, 'custom' | 'schema'>): Typing {
  if (!info.custom || info.schema === undefined) return builtinTyping('', '')
  const root = schemaTyping(info.schema.schema)
  return { ...root, field: (name) => (name === 'metadata' ? builtinTyping('', 'metadata') : root.field(name)) }
}

/** The typing by the name of a field and of the field that holds it. */
function builtinTyping(parent: string, name: string): Typing {
  const rule = listRule(parent, name)
  return {
    atomicMap: isAtomicMap(name),
    list: rule === undefined ? 'atomic' : rule.keys.length === 0 ? 'set' : 'map',
    keys: rule?.keys ?? [],
    keyDefaults: rule?.keyDefaults ?? {},
    field: (child) => builtinTyping(name, child),
    // An item is known by its list, so that `containers.ports` finds the ports of a container.
    item: () => builtinTyping('', name),
  }
}

function schemaTyping(schema: StructuralSchema | undefined): Typing {
  const keys = schema?.['x-kubernetes-list-map-keys'] ?? []
  return {
    atomicMap: schema?.['x-kubernetes-map-type'] === 'atomic',
    list: schema?.['x-kubernetes-list-type'] ?? 'atomic',
    keys,
    keyDefaults: defaultsOf(schema?.items, keys),
    field: (name) => {
      if (schema?.['x-kubernetes-embedded-resource'] === true && name === 'metadata') return builtinTyping('', 'metadata')
      const properties = schema?.properties
      if (properties !== undefined && Object.hasOwn(properties, name)) return schemaTyping(properties[name])
      return schemaTyping(typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined)
    },
    item: () => schemaTyping(schema?.items),
  }
}

function defaultsOf(items: StructuralSchema | undefined, keys: readonly string[]): Record<string, JsonValue> {
  const defaults: Record<string, JsonValue> = {}
  for (const key of keys) {
    const value = items?.properties?.[key]?.default
    if (value !== undefined) defaults[key] = value
  }
  return defaults
}

/**
 * The items of a list by what identifies them, in order.
 * Undefined when the list is atomic, or when its items cannot be told apart and it must be treated so.
 */
export function itemsByElement(list: readonly JsonValue[], typing: Typing): ReadonlyMap<string, JsonValue> | undefined {
  if (typing.list === 'atomic') return undefined
  const items = new Map<string, JsonValue>()
  for (const item of list) {
    const element = elementOf(item, typing)
    if (element === undefined || items.has(element)) return undefined
    items.set(element, item)
  }
  return items
}

/** The path element of an item, undefined when it lacks a key. */
export function elementOf(item: JsonValue, typing: Typing): string | undefined {
  if (typing.list === 'set') return isObject(item) || Array.isArray(item) ? undefined : `v:${canonicalJson(item)}`
  if (!isObject(item)) return undefined
  const identity: JsonObject = {}
  for (const key of typing.keys) {
    const value = getOwn(item, key) ?? typing.keyDefaults[key]
    if (value === undefined || value === null) return undefined
    identity[key] = value
  }
  return `k:${canonicalJson(identity)}`
}
