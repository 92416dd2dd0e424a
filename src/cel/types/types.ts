/** The CEL types that the type checker uses. */
import type { DeclaredType } from './declared-type.ts'

export type TypeKind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'parameter'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'uint'

export interface Type {
  readonly kind: TypeKind
  /** Name of the type in messages and in the result of the function `type()`. */
  readonly name: string
  readonly parameters: readonly Type[]
  /** For an object type, its declaration, which contains the fields. Undefined for all other types. */
  readonly declared?: DeclaredType
}

function simple(kind: TypeKind, name: string = kind): Type {
  return Object.freeze({ kind, name, parameters: [] })
}

export const boolType: Type = simple('bool')
export const bytesType: Type = simple('bytes')
export const doubleType: Type = simple('double')
export const durationType: Type = simple('duration', 'google.protobuf.Duration')
export const dynType: Type = simple('dyn')
export const errorType: Type = simple('error', '!error!')
export const intType: Type = simple('int')
export const nullType: Type = simple('null', 'null_type')
export const stringType: Type = simple('string')
export const timestampType: Type = simple('timestamp', 'google.protobuf.Timestamp')
export const uintType: Type = simple('uint')

export function listType(element: Type): Type {
  return { kind: 'list', name: 'list', parameters: [element] }
}

export function mapType(key: Type, value: Type): Type {
  return { kind: 'map', name: 'map', parameters: [key, value] }
}

export function typeType(of?: Type): Type {
  return { kind: 'type', name: 'type', parameters: of === undefined ? [] : [of] }
}

export function optionalType(of: Type): Type {
  return { kind: 'opaque', name: 'optional_type', parameters: [of] }
}

/** Returns an opaque type, e.g. `net.IP`. A CEL library declares such a type for its own values. */
export function opaqueType(name: string): Type {
  return { kind: 'opaque', name, parameters: [] }
}

export function parameterType(name: string): Type {
  return { kind: 'parameter', name, parameters: [] }
}

/** Returns the type of the value in an optional; undefined for a type that is not an optional. */
export function unwrapOptional(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.parameters[0] : undefined
}

const shortNames: Partial<Record<TypeKind, string>> = { duration: 'duration', timestamp: 'timestamp', null: 'null' }

/** Formats a type for messages, such as `map(string, list(int))`. */
export function formatType(type: Type): string {
  const name = shortNames[type.kind] ?? type.name
  return type.parameters.length === 0 ? name : `${name}(${type.parameters.map(formatType).join(', ')})`
}

/** Formats a type with the names that the function `type()` returns, such as `list(google.protobuf.Duration)`. */
export function fullTypeName({ name, parameters }: Type): string {
  return parameters.length === 0 ? name : `${name}(${parameters.map(fullTypeName).join(', ')})`
}

export function sameType(a: Type, b: Type): boolean {
  return (
    a === b ||
    (a.kind === b.kind &&
      a.name === b.name &&
      a.parameters.length === b.parameters.length &&
      a.parameters.every((parameter, index) => sameType(parameter, b.parameters[index]!)))
  )
}
