/**
 * Normalizes `metadata` as the API server does when it decodes JSON to `meta/v1 ObjectMeta` and encodes the struct again. A wrong JSON type
 * is reported with the message of Go's decoder. Unknown fields and empty values are dropped.
 */
import { formatUtc, parseZonedTime } from './go-time.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { isObject, setOwn } from './json.ts'

type Field = 'string' | 'uid' | 'bool' | 'int64' | 'optional int64' | 'time' | 'any' | 'texts' | 'list of texts' | Struct
interface Struct {
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
  /** The fields that are encoded even when they are empty. */
  readonly always: readonly string[]
}

const ownerReference: Struct = {
  name: 'OwnerReference',
  fields: { apiVersion: 'string', kind: 'string', name: 'string', uid: 'uid', controller: 'bool', blockOwnerDeletion: 'bool' },
  always: ['apiVersion', 'kind', 'name', 'uid'],
}

const managedFieldsEntry: Struct = {
  name: 'ManagedFieldsEntry',
  fields: {
    manager: 'string',
    operation: 'string',
    apiVersion: 'string',
    time: 'time',
    fieldsType: 'string',
    fieldsV1: 'any',
    subresource: 'string',
  },
  always: [],
}

const objectMeta: Struct = {
  name: 'ObjectMeta',
  fields: {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    selfLink: 'string',
    uid: 'uid',
    resourceVersion: 'string',
    generation: 'int64',
    creationTimestamp: 'time',
    deletionTimestamp: 'time',
    deletionGracePeriodSeconds: 'optional int64',
    labels: 'texts',
    annotations: 'texts',
    ownerReferences: ownerReference,
    finalizers: 'list of texts',
    managedFields: managedFieldsEntry,
  },
  always: [],
}

/** The types of the fields that are pointers in Go. Such a field is encoded even when its value is false, zero or empty. */
const pointers: ReadonlySet<Field> = new Set<Field>(['bool', 'optional int64', 'any'])

export interface DecodedObjectMeta {
  readonly metadata: JsonObject
  /** The paths of unknown fields, relative to the metadata, such as `other` and `ownerReferences[0].other`. */
  readonly unknown: readonly string[]
  /**
   * The error message of the decoder. If a time is invalid, the message is about the first invalid time. If all times are valid, the
   * message is about the first value of a wrong type. If all values are valid, the field is absent.
   */
  readonly error?: string
}

/**
 * Decodes the JSON of metadata as the API server does. Returns the metadata in the form in which the API server encodes it, the paths of
 * unknown fields, and the error of the decoder, if there is one.
 */
export function decodeObjectMeta(value: JsonValue): DecodedObjectMeta {
  const decoder = new Decoder()
  if (value === null) return { metadata: {}, unknown: [] }
  if (!isObject(value))
    return { metadata: {}, unknown: [], error: `json: cannot unmarshal ${kindOf(value)} into Go value of type v1.ObjectMeta` }
  const metadata = decoder.struct(objectMeta, value, [], '')
  const error = decoder.timeError ?? decoder.error
  return { metadata, unknown: decoder.unknown, ...(error === undefined ? {} : { error }) }
}

class Decoder {
  readonly unknown: string[] = []
  error: string | undefined
  /**
   * The error message for the first invalid time. `timeError` takes precedence over `error`, because Go stops decoding at an invalid time,
   * but continues decoding after a value of a wrong JSON type.
   */
  timeError: string | undefined

  struct(shape: Struct, object: JsonObject, names: readonly string[], path: string): JsonObject {
    const result: JsonObject = {}
    for (const name of shape.always) result[name] = ''
    for (const key of Object.keys(object).sort()) {
      const value = object[key]
      const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined
      const place = path === '' ? key : `${path}.${key}`
      if (value === undefined) continue
      if (field === undefined) this.unknown.push(place)
      else {
        const decoded = value === null ? undefined : this.#field(field, value, { holder: shape.name, names: [...names, key], path: place })
        if (decoded !== undefined && (pointers.has(field) || !isEmpty(decoded))) setOwn(result, key, decoded)
      }
    }
    return result
  }

  #field(field: Field, value: JsonValue, at: At): JsonValue | undefined {
    if (typeof field === 'object') return this.#list(value, at, `[]v1.${field.name}`, (item, path) => this.#item(field, item, at, path))
    switch (field) {
      case 'string':
      case 'uid':
        return typeof value === 'string' ? value : this.#wrong(value, at, field === 'uid' ? 'types.UID' : 'string')
      case 'bool':
        return typeof value === 'boolean' ? value : this.#wrong(value, at, 'bool')
      case 'int64':
      case 'optional int64':
        return int64Of(value) ?? this.#wrong(value, at, 'int64')
      case 'time':
        return this.#time(value, at)
      case 'any':
        return value
      case 'texts':
        return isObject(value) ? this.#texts(value, at) : this.#wrong(value, at, 'map[string]string')
      case 'list of texts':
        return this.#list(value, at, '[]string', (item) => this.#text(item, at))
    }
  }

  #text(item: JsonValue, at: At): JsonValue {
    return typeof item === 'string' ? item : ((item === null ? undefined : this.#wrong(item, at, 'string')) ?? '')
  }

  #texts(value: JsonObject, at: At): JsonObject {
    const texts: JsonObject = {}
    for (const key of Object.keys(value).sort()) setOwn(texts, key, this.#text(value[key] ?? null, at))
    return texts
  }

  #list(value: JsonValue, at: At, type: string, read: (item: JsonValue, path: string) => JsonValue): JsonValue | undefined {
    if (!Array.isArray(value)) return this.#wrong(value, at, type)
    return value.map((item, index) => read(item, `${at.path}[${index}]`))
  }

  #item(shape: Struct, item: JsonValue, at: At, path: string): JsonObject {
    if (item !== null && !isObject(item)) this.#wrong(item, at, `v1.${shape.name}`)
    return this.struct(shape, isObject(item) ? item : {}, at.names, path)
  }

  #time(value: JsonValue, at: At): JsonValue | undefined {
    if (typeof value !== 'string') this.timeError ??= wrongType(value, at, 'string')
    else {
      const time = parseZonedTime(value)
      if (typeof time !== 'string') return formatUtc(time)
      this.timeError ??= time
    }
    return undefined
  }

  #wrong(value: JsonValue, at: At, type: string): undefined {
    this.error ??= wrongType(value, at, type)
    return undefined
  }
}

function wrongType(value: JsonValue, { holder, names }: At, type: string): string {
  const number = typeof value === 'number' && type === 'int64' ? ` ${value}` : ''
  return `json: cannot unmarshal ${kindOf(value)}${number} into Go struct field ${[holder, ...names].join('.')} of type ${type}`
}

interface At {
  /** The name of the Go struct that contains the field. */
  readonly holder: string
  /** The names of the field's parents and of the field itself, without indexes. */
  readonly names: readonly string[]
  /** The path of the field, with the indexes of list items. */
  readonly path: string
}

/**
 * Converts a JSON value to an int64 in the same way as the API server:
 *
 * - A safe integer or a bigint is returned unchanged.
 * - Any other integer between -2^63 and 2^63, such as 1e16, is converted to a bigint. The bigint is the integer that the shortest decimal
 *   form of the number represents.
 * - For all other values, the function returns undefined.
 */
function int64Of(value: JsonValue): number | bigint | undefined {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return value as number | bigint
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 63 ? BigInt(String(value)) : undefined
}

function isEmpty(value: JsonValue): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === '' || value === 0
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
