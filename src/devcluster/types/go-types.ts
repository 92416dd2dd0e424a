/**
 * Go types of the built-in kinds: their fields, the fields that are omitted when empty, and how lists and maps merge. They are used to
 * decode objects, for strategic merge patches, and for server-side apply.
 */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonValue } from '../../api/json.ts'
import type { FieldDescriptor, MessageDescriptor } from '../protobuf/descriptors.ts'
import { messageDescriptor, messageOfKind } from '../protobuf/descriptors.ts'
import mergeRules from './merge-rules.json' with { type: 'json' }

export type Scalar = 'bool' | 'int32' | 'int64' | 'float64' | 'string'

export type GoType =
  | { readonly kind: 'scalar'; readonly scalar: Scalar }
  /** A Go type with a custom JSON encoding, such as `resource.Quantity`; `any` is any JSON value. */
  | { readonly kind: 'special'; readonly special: 'any' | 'bytes' | 'duration' | 'intOrString' | 'microTime' | 'quantity' | 'time' }
  | { readonly kind: 'list'; readonly item: GoType }
  | { readonly kind: 'map'; readonly value: GoType }
  | StructType
  /** A JSON object with the struct's fields, or a value of another JSON type. A value of another JSON type is not checked. */
  | { readonly kind: 'structOr'; readonly struct: StructType }

export interface StructType {
  readonly kind: 'struct'
  /** Name of the Go type without its package, e.g. `PodSpec`. */
  readonly name: string
  /** Name of the protobuf message with its package, e.g. `core.v1.PodSpec`. */
  readonly message: string
  readonly fields: ReadonlyMap<string, GoField>
  /** True when server-side apply treats the struct as atomic. A field manager then owns the struct as a whole instead of single fields. */
  readonly atomic: boolean
}

export interface GoField {
  readonly type: GoType
  readonly pointer: boolean
  /** True when Go omits an empty field from JSON (`omitempty`). */
  readonly dropsEmpty: boolean
  /** The patch strategy for strategic merge patches; empty when the field has none. */
  readonly strategy: '' | 'merge' | 'replace'
  /** The merge key of the list's items in a strategic merge patch; empty when the field has none. */
  readonly mergeKey: string
  /**
   * The keys that identify list items in server-side apply. They are empty for a set, and undefined for an atomic list and for a field that
   * is not a list.
   */
  readonly keys: readonly string[] | undefined
  /**
   * True when server-side apply treats the map or struct as atomic. A field manager then owns the map or struct as a whole instead of
   * single fields.
   */
  readonly atomic: boolean
  /** The value of the field in list items that omit the field. Used only when the field is one of the `keys` of the list. */
  readonly keyDefault: JsonValue | undefined
}

const rules: Readonly<Record<string, Readonly<Record<string, string>>>> = mergeRules.rules

const text: GoType = { kind: 'scalar', scalar: 'string' }
const texts: GoType = { kind: 'list', item: text }
const anything: GoType = { kind: 'special', special: 'any' }
/**
 * The Go type `runtime.RawExtension`. A field of this type can contain any JSON value, e.g. the field `data` of a ControllerRevision.
 * Server-side apply treats the field as atomic.
 */
const rawExtension: GoType = { kind: 'special', special: 'any' }

/** Go types of the messages whose JSON differs from their protobuf fields, keyed by message name. */
const forms: Readonly<Record<string, GoType | (() => GoType)>> = {
  'apiextensions.v1.JSON': anything,
  'apiextensions.v1.JSONSchemaPropsOrArray': schemaOr,
  'apiextensions.v1.JSONSchemaPropsOrBool': schemaOr,
  'apiextensions.v1.JSONSchemaPropsOrStringArray': schemaOr,
  'authentication.v1.ExtraValue': texts,
  'authorization.v1.ExtraValue': texts,
  'certificates.v1.ExtraValue': texts,
  'intstr.IntOrString': { kind: 'special', special: 'intOrString' },
  'meta.v1.Duration': { kind: 'special', special: 'duration' },
  'meta.v1.FieldsV1': anything,
  'meta.v1.MicroTime': { kind: 'special', special: 'microTime' },
  'meta.v1.Time': { kind: 'special', special: 'time' },
  'resource.Quantity': { kind: 'special', special: 'quantity' },
  'runtime.RawExtension': rawExtension,
}

function schemaOr(): GoType {
  return { kind: 'structOr', struct: struct(messageDescriptor('apiextensions.v1.JSONSchemaProps')) }
}

const typeMeta = ['kind', 'apiVersion'].map((name): [string, GoField] => [
  name,
  { type: text, pointer: false, dropsEmpty: true, strategy: '', mergeKey: '', keys: undefined, atomic: false, keyDefault: undefined },
])

const structs = new Map<MessageDescriptor, StructType>()

/** Returns the Go type of a kind; undefined for custom resources. */
export function kindType(info: { readonly group: string; readonly version: string; readonly kind: string }): StructType | undefined {
  const message = messageOfKind(apiVersionOf(info), info.kind)
  return message === undefined ? undefined : struct(message, true)
}

/** Returns the Go type of `metadata`, which all kinds share. */
export function objectMetaType(): StructType {
  return struct(messageDescriptor('meta.v1.ObjectMeta'))
}

/**
 * Returns the names of the fields at a path in a type. At the path of a list, these are the fields of the list's items. The path contains
 * no element for the items themselves.
 */
export function fieldNames(type: GoType | undefined, ...path: readonly string[]): readonly string[] {
  const [name, ...rest] = path
  if (type?.kind === 'list') return fieldNames(type.item, ...path)
  if (type?.kind !== 'struct') return []
  return name === undefined ? [...type.fields.keys()] : fieldNames(type.fields.get(name)?.type, ...rest)
}

function struct(message: MessageDescriptor, isKind = false): StructType {
  const known = structs.get(message)
  if (known !== undefined) return known
  let fields: ReadonlyMap<string, GoField> | undefined
  const made: StructType = {
    kind: 'struct',
    name: message.name.slice(message.name.lastIndexOf('.') + 1),
    message: message.name,
    // `fields` is computed at the first access. A type such as JSONSchemaProps contains itself, so computing all fields at once would never
    // end.
    get fields() {
      fields ??= new Map([...(isKind ? typeMeta : []), ...fieldsOf(message)])
      return fields
    },
    atomic: ruleOf(message, '').includes('atomic'),
  }
  structs.set(message, made)
  return made
}

function fieldsOf(message: MessageDescriptor): (readonly [string, GoField])[] {
  return message.fields.flatMap((field) => {
    const type = typeOf(field)
    if (field.name === undefined) return type.kind === 'struct' ? [...type.fields] : []
    const { pointer, omitsEmpty: dropsEmpty } = field
    return [[field.name, { type, pointer, dropsEmpty, ...merging(ruleOf(message, field.name), type, dropsEmpty) }]]
  })
}

function typeOf({ type, label }: FieldDescriptor): GoType {
  const single = typeof type === 'string' ? scalarType(type) : formOf(type.message)
  return label === 'list' ? { kind: 'list', item: single } : label === 'map' ? { kind: 'map', value: single } : single
}

function scalarType(scalar: Exclude<FieldDescriptor['type'], object>): GoType {
  if (scalar === 'bytes') return { kind: 'special', special: 'bytes' }
  return { kind: 'scalar', scalar: scalar === 'double' ? 'float64' : scalar }
}

function formOf(message: string): GoType {
  const form = Object.hasOwn(forms, message) ? forms[message]! : struct(messageDescriptor(message))
  return typeof form === 'function' ? form() : form
}

function ruleOf({ name }: MessageDescriptor, field: string): readonly string[] {
  return (Object.hasOwn(rules, name) ? rules[name]![field] : undefined)?.split(' ') ?? []
}

function merging(
  rule: readonly string[],
  type: GoType,
  dropsEmpty: boolean,
): Pick<GoField, 'strategy' | 'mergeKey' | 'keys' | 'atomic' | 'keyDefault'> {
  const after = (prefix: string): string | undefined => rule.find((part) => part.startsWith(prefix))?.slice(prefix.length)
  const mergeKey = after('merge:')
  const keys = after('map:')
  const value = after('default:')
  return {
    strategy: mergeKey !== undefined || rule.includes('merge') ? 'merge' : rule.includes('replace') ? 'replace' : '',
    mergeKey: mergeKey ?? '',
    keys: rule.includes('set') ? [] : keys?.split(','),
    atomic: rule.includes('atomic') || type === rawExtension,
    keyDefault: value === undefined ? (dropsEmpty ? undefined : zeroOf(type)) : (JSON.parse(value) as JsonValue),
  }
}

/** Returns Go's zero value of a scalar type; undefined for other types. */
function zeroOf(type: GoType): JsonValue | undefined {
  if (type.kind !== 'scalar') return undefined
  return type.scalar === 'string' ? '' : type.scalar === 'bool' ? false : 0
}
