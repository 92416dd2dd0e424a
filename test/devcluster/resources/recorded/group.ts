/**
 * Definitions of groups. A group is a list of requests for one built-in type, which are sent to the real and to the embedded API server.
 * Most bodies are a valid object with one change.
 */
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { isObject } from '../../../../src/api/json.ts'

export interface RecordedType {
  /** The API group; absent for the core group. */
  readonly group?: string
  /** The version; `v1` if absent. */
  readonly version?: string
  readonly kind: string
  readonly plural: string
  /** True if the type is namespaced. Default true. */
  readonly namespaced?: boolean
}

/** Values to set, keyed by their paths, such as `spec.ports[0].port`. The value undefined removes the field. */
export type Change = Readonly<Record<string, JsonValue | undefined>>

/**
 * An object that is created, and the requests that are then sent for this object. In addition, the object is read as a Table, and the row
 * of the Table is recorded.
 */
export interface State {
  /** The change that turns `base` into the object to create. */
  readonly from?: Change
  /** The change that is written to the status subresource before the other requests. */
  readonly status?: Change
  /** Changes of the object, each of which is sent as a PUT. */
  readonly update?: readonly Change[]
  /** Changes of the object, each of which is sent as a PUT to the status subresource. */
  readonly updateStatus?: readonly Change[]
  /** DeleteOptions, each of which is sent with a DELETE. */
  readonly remove?: readonly JsonObject[]
  /** Requests to subresources other than status. */
  readonly subresources?: readonly SubresourceRequest[]
}

export interface SubresourceRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly subresource: string
  readonly body?: JsonObject
}

export interface Group {
  readonly name: string
  readonly type: RecordedType
  /** The labels of the namespace in which the group's objects are created. */
  readonly namespaceLabels?: Readonly<Record<string, string>>
  /** Objects that are created before the requests of the group. */
  readonly given?: readonly (readonly [RecordedType, JsonObject])[]
  /** A valid object without a name. The requests of the group change this object. */
  readonly base: JsonObject
  /** Changes of `base`. For each change, the changed copy of `base` is sent in a create request. */
  readonly create?: readonly Change[]
  /**
   * A valid object with many fields. Two create requests are sent for each field: one request omits the field, and the other request
   * contains a value of another type in the field.
   */
  readonly full?: JsonObject
  readonly states?: readonly State[]
}

/** Returns one change for each path and each of its values. */
export function each(table: Readonly<Record<string, readonly (JsonValue | undefined)[]>>): Change[] {
  return Object.entries(table).flatMap(([path, values]) => values.map((value) => ({ [path]: value })))
}

/**
 * Returns a change that contains a separate path for each leaf of a value, instead of one path for the whole value.
 *
 * The name of a request contains the path and the value of each change, but omits the middle of a long value. Two changes with different
 * long values at the same path could therefore have the same name. A single leaf is usually short, so the name contains the whole leaf.
 */
export function leavesAt(path: string, value: JsonValue): Change {
  const items: (readonly [string, JsonValue | undefined])[] = Array.isArray(value)
    ? (value as readonly JsonValue[]).map((item, index) => [`${path}[${index}]`, item] as const)
    : isObject(value)
      ? Object.entries(value).map(([key, item]) => [`${path}.${key}`, item] as const)
      : []
  if (items.length === 0) return { [path]: value }
  return Object.assign({}, ...items.map(([place, item]) => (item === undefined ? {} : leavesAt(place, item)))) as Change
}

/**
 * Returns changes that each make one mistake: a field is removed, or gets a value of another type. In lists, only fields of the first item
 * are changed.
 */
export function mistakesIn(value: JsonObject, path = ''): Change[] {
  return Object.entries(value).flatMap(([field, content]) => {
    if (content === undefined) return []
    const here = path === '' ? field : `${path}.${field}`
    const first: JsonValue | undefined = Array.isArray(content) ? (content as readonly JsonValue[])[0] : content
    const inside = isObject(first) ? mistakesIn(first, Array.isArray(content) ? `${here}[0]` : here) : []
    return [{ [here]: undefined }, { [here]: ofAnotherType(content) }, ...inside]
  })
}

function ofAnotherType(value: JsonValue): JsonValue {
  if (typeof value === 'number') return 'seven'
  if (typeof value === 'boolean') return 'true'
  return typeof value === 'string' ? 7 : 'text'
}

/** Applies a change to a copy of the object, and returns the copy. The object itself stays unchanged. */
export function changed(object: JsonObject, change: Change): JsonObject {
  return Object.entries(change).reduce<JsonObject>((current, [path, value]) => set(current, stepsOf(path), value) as JsonObject, object)
}

function stepsOf(path: string): (string | number)[] {
  return path.split(/\.|(?=\[)/).map((step) => (step.startsWith('[') ? Number(step.slice(1, -1)) : step))
}

function set(
  object: JsonValue | undefined,
  [step, ...rest]: readonly (string | number)[],
  value: JsonValue | undefined,
): JsonValue | undefined {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const list = Array.isArray(object) ? [...(object as readonly JsonValue[])] : []
    const item = set(list[step], rest, value)
    if (item === undefined) list.splice(step, 1)
    else list[step] = item
    return list
  }
  const { [step]: old, ...others } = isObject(object) ? object : {}
  const item = set(old, rest, value)
  return item === undefined ? others : { ...others, [step]: item }
}

const [shownStart, shownEnd] = [50, 10]

/** Returns a description of a change. The name of a request contains this description. */
export function textOfChange(change: Change): string {
  const text = Object.entries(change).map(([path, value]) => {
    if (value === undefined) return `without ${path}`
    const json = JSON.stringify(value)
    return `${path}=${json.length > shownStart + shownEnd ? `${json.slice(0, shownStart)}…${json.slice(-shownEnd)} (${json.length})` : json}`
  })
  return text.join(', ')
}
