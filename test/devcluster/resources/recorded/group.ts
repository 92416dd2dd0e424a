/** Requests for one built-in type, most of them a valid object with one change, which are sent to the real and the embedded API server. */
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { isObject } from '../../../../src/api/json.ts'

export interface RecordedType {
  /** Defaults to the core group. */
  readonly group?: string
  /** Defaults to `v1`. */
  readonly version?: string
  readonly kind: string
  readonly plural: string
  /** Defaults to true. */
  readonly namespaced?: boolean
}

/** Values by their paths, such as `spec.ports[0].port`; undefined removes the field. */
export type Change = Readonly<Record<string, JsonValue | undefined>>

/** An existing object and the requests for it. The table row of every state is read as well. */
export interface State {
  /** The change of the base before the create. */
  readonly from?: Change
  /** The change of the created object that is first PUT to its status subresource. */
  readonly status?: Change
  /** Changes of the object, each sent as a PUT. */
  readonly update?: readonly Change[]
  /** Changes of the object, each sent as a PUT to its status subresource. */
  readonly updateStatus?: readonly Change[]
  /** DeleteOptions, each sent with a DELETE. */
  readonly remove?: readonly JsonObject[]
  /** Requests to other subresources. */
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
  /** The labels of the group's namespace. */
  readonly namespaceLabels?: Readonly<Record<string, string>>
  /** Objects that are created before the requests. */
  readonly given?: readonly (readonly [RecordedType, JsonObject])[]
  /** A valid object without a name. */
  readonly base: JsonObject
  /** Changes of the base, each sent as a create. */
  readonly create?: readonly Change[]
  /** A valid object with many fields, each of which is removed, and replaced by a value of another type. */
  readonly full?: JsonObject
  readonly states?: readonly State[]
}

/** Returns one change for each value at each path. */
export function each(table: Readonly<Record<string, readonly (JsonValue | undefined)[]>>): Change[] {
  return Object.entries(table).flatMap(([path, values]) => values.map((value) => ({ [path]: value })))
}

/** Returns changes with one mistake each: every field is removed or gets another type, in lists only in the first item. */
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

/** Returns the object with the change. */
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

/** Returns the name of a change. */
export function textOfChange(change: Change): string {
  const text = Object.entries(change).map(([path, value]) => {
    if (value === undefined) return `without ${path}`
    const json = JSON.stringify(value)
    return `${path}=${json.length > shownStart + shownEnd ? `${json.slice(0, shownStart)}…${json.slice(-shownEnd)} (${json.length})` : json}`
  })
  return text.join(', ')
}
