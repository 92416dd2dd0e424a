/**
 * The properties that server-side apply must know about a type. These properties determine which maps and lists are merged, and which
 * fields are the keys of list items.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { canonicalJson, getOwn, isObject } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import { memoized } from '../apimachinery/memoized.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { GoField, GoType } from '../types/go-types.ts'
import { objectMetaType } from '../types/go-types.ts'

export interface Typing {
  readonly type: 'map' | 'list' | 'string' | 'boolean' | 'number' | 'any'
  readonly atomicMap: boolean
  readonly list: 'atomic' | 'set' | 'map'
  /** The names of the fields that identify an item, if the list has `x-kubernetes-list-type: map`. */
  readonly keys: readonly string[]
  /** The default values of key fields. A default applies if an item omits the key field. */
  readonly keyDefaults: Readonly<Record<string, JsonValue>>
  /** Returns `field` for a declared field. For another name, returns `entry` if the type allows any name; otherwise `unknown`. */
  has(name: string): 'field' | 'entry' | 'unknown'
  field(name: string): Typing
  item(): Typing
}

/** Returns the `Typing` of an object, from the schema of its CRD or from its Go type. */
export function typingOf({ goType, schema }: Pick<ResourceInfo, 'goType' | 'schema'>): Typing {
  if (goType !== undefined) return goTyping(goType)
  return schema === undefined ? rootTyping(undefined) : schemaRootTyping(schema.schema)
}

const anything: Typing = {
  type: 'any',
  atomicMap: false,
  list: 'atomic',
  keys: [],
  keyDefaults: {},
  has: () => 'entry',
  field: () => anything,
  item: () => anything,
}

const goTyping = memoized((type: GoType) => makeGoTyping(type, undefined))
const fieldTyping = memoized((field: GoField) => makeGoTyping(field.type, field))

function makeGoTyping(type: GoType, field: GoField | undefined): Typing {
  switch (type.kind) {
    case 'scalar':
      return { ...anything, type: type.scalar === 'string' ? 'string' : type.scalar === 'bool' ? 'boolean' : 'number' }
    case 'special':
      return type.special === 'bytes' ? { ...anything, type: 'string' } : { ...anything, atomicMap: field?.atomic === true }
    case 'structOr':
      return anything
    case 'list': {
      const keys = field?.keys
      return {
        ...anything,
        type: 'list',
        list: keys === undefined ? 'atomic' : keys.length === 0 ? 'set' : 'map',
        keys: keys ?? [],
        keyDefaults: type.item.kind === 'struct' ? goDefaults(type.item.fields, keys ?? []) : {},
        item: () => goTyping(type.item),
      }
    }
    case 'map':
      return { ...anything, type: 'map', atomicMap: field?.atomic === true, field: () => goTyping(type.value) }
    case 'struct':
      return {
        ...anything,
        type: 'map',
        atomicMap: type.atomic || field?.atomic === true,
        has: (name) => (type.fields.has(name) ? 'field' : 'unknown'),
        field: (name) => {
          const found = type.fields.get(name)
          return found === undefined ? anything : fieldTyping(found)
        },
      }
  }
}

function goDefaults(fields: ReadonlyMap<string, GoField>, keys: readonly string[]): Record<string, JsonValue> {
  const defaults: Record<string, JsonValue> = {}
  for (const key of keys) {
    const value = fields.get(key)?.keyDefault
    if (value !== undefined) defaults[key] = value
  }
  return defaults
}

const schemaRootTyping = memoized(rootTyping)

function rootTyping(schema: StructuralSchema | undefined): Typing {
  return withMeta(schemaTyping(schema), ['apiVersion', 'kind', 'metadata'])
}

/** Adds apiVersion, kind and metadata to the `Typing` of an object or of an embedded resource. */
function withMeta(typing: Typing, fields: readonly string[]): Typing {
  const text: Typing = { ...anything, type: 'string' }
  return {
    ...typing,
    has: (name) => (fields.includes(name) ? 'field' : typing.has(name)),
    field: (name) => {
      if (!fields.includes(name)) return typing.field(name)
      return name === 'metadata' ? goTyping(objectMetaType()) : text
    },
  }
}

const schemaTypes = { object: 'map', array: 'list', string: 'string', boolean: 'boolean', integer: 'number', number: 'number' } as const

function schemaTyping(schema: StructuralSchema | undefined): Typing {
  return schema === undefined ? anything : definedTyping(schema)
}

const definedTyping = memoized((schema: StructuralSchema): Typing => {
  const { properties = {}, additionalProperties } = schema
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const open = additionalProperties !== undefined || schema['x-kubernetes-preserve-unknown-fields'] === true
  const typing: Typing = {
    type: schema.type === undefined ? 'any' : schemaTypes[schema.type],
    atomicMap: schema['x-kubernetes-map-type'] === 'atomic',
    list: schema['x-kubernetes-list-type'] ?? 'atomic',
    keys,
    keyDefaults: schemaDefaults(schema.items, keys),
    has: (name) => (Object.hasOwn(properties, name) ? 'field' : open || schema.type === undefined ? 'entry' : 'unknown'),
    field: (name) => {
      if (Object.hasOwn(properties, name)) return schemaTyping(properties[name])
      return typeof additionalProperties === 'object' ? schemaTyping(additionalProperties) : anything
    },
    item: () => schemaTyping(schema.items),
  }
  return schema['x-kubernetes-embedded-resource'] === true ? withMeta(typing, ['apiVersion', 'kind', 'metadata']) : typing
})

function schemaDefaults(items: StructuralSchema | undefined, keys: readonly string[]): Record<string, JsonValue> {
  const defaults: Record<string, JsonValue> = {}
  for (const key of keys) {
    const value = items?.properties?.[key]?.default
    if (value !== undefined) defaults[key] = value
  }
  return defaults
}

/**
 * Returns a map from the path element of each list item to the item, in the order of the list. Returns undefined for an atomic list. Also
 * returns undefined if an item has no path element, or if two items have the same path element; the caller treats such a list as atomic.
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

/**
 * Returns the path element of a list item. Returns undefined if an item of a list with the type `map` has no key field, and no key field
 * has a default. Also returns undefined if an item of a list with the type `set` is an object or a list.
 */
export function elementOf(item: JsonValue, typing: Typing): string | undefined {
  if (typing.list === 'set') return isObject(item) || Array.isArray(item) ? undefined : `v:${canonicalJson(item)}`
  if (!isObject(item)) return undefined
  const identity: JsonObject = {}
  for (const key of typing.keys) {
    const value = getOwn(item, key) ?? typing.keyDefaults[key]
    if (value !== undefined && value !== null) identity[key] = value
  }
  return Object.keys(identity).length === 0 ? undefined : `k:${canonicalJson(identity)}`
}
