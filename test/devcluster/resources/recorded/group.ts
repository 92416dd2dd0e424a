/** Requests about one built-in type, most of them the same valid object with one thing changed; what is asked of the real API server and of the embedded one. */
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { isObject } from '../../../../src/api/json.ts'

export interface RecordedType {
  /** Default: the core group. */
  readonly group?: string
  /** Default `v1`. */
  readonly version?: string
  readonly kind: string
  readonly plural: string
  /** Default true. */
  readonly namespaced?: boolean
}

/** Values by their paths, such as `spec.ports[0].port`; undefined: left out. */
export type Change = Readonly<Record<string, JsonValue | undefined>>

/** An object that is there, and what is asked of it. Every state is also shown as a row of a table. */
export interface State {
  /** From the base. */
  readonly from?: Change
  /** What is put to its status subresource first, from what was created. */
  readonly status?: Change
  /** Puts of the object as it is, changed. */
  readonly update?: readonly Change[]
  /** The same to its status subresource. */
  readonly updateStatus?: readonly Change[]
  /** Deletions with these options. */
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
  /** Of the namespace in which it happens. */
  readonly namespaceLabels?: Readonly<Record<string, string>>
  /** Objects that are there meanwhile. */
  readonly given?: readonly (readonly [RecordedType, JsonObject])[]
  /** An object that is accepted, without a name. */
  readonly base: JsonObject
  /** New objects, changed from the base. */
  readonly create?: readonly Change[]
  /** An object that is accepted, with many fields: each of them is left out, and has a value of another type. */
  readonly full?: JsonObject
  readonly states?: readonly State[]
}

/** One change for each value at each path. */
export function each(table: Readonly<Record<string, readonly (JsonValue | undefined)[]>>): Change[] {
  return Object.entries(table).flatMap(([path, values]) => values.map((value) => ({ [path]: value })))
}

/** Changes with one mistake each: every field of `value` left out, and of another type; of the items of a list, the first. */
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

/** The object with the change. */
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

/** What is changed, as a name for it. */
export function textOfChange(change: Change): string {
  const text = Object.entries(change).map(([path, value]) => {
    if (value === undefined) return `without ${path}`
    const json = JSON.stringify(value)
    return `${path}=${json.length > shownStart + shownEnd ? `${json.slice(0, shownStart)}…${json.slice(-shownEnd)} (${json.length})` : json}`
  })
  return text.join(', ')
}
