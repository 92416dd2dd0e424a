/**
 * Checks whether the result of a strategic merge patch has the types of its Go struct. kube-apiserver does not decode this result from
 * JSON, but converts a map to the Go struct (k8s.io/apimachinery/pkg/runtime: converter.go). The converter accepts more values than the
 * JSON decoder.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import { checkShape } from './check-json-types.ts'
import { goKind } from './go-text.ts'
import type { GoType, Scalar, StructType } from './go-types.ts'

/**
 * Returns the error message of kube-apiserver's converter (k8s.io/apimachinery/pkg/runtime: converter.go) for the first field that cannot
 * be converted to the type of the Go struct. Returns undefined if all fields can be converted.
 */
export function conversionError(struct: StructType, object: JsonObject): string | undefined {
  for (const [name, { type }] of struct.fields) {
    const error = valueError(type, getOwn(object, name))
    if (error !== undefined) return error
  }
  return undefined
}

function valueError(type: GoType, value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  switch (type.kind) {
    case 'scalar':
      return scalarError(type.scalar, value)
    case 'special':
      return type.special === 'duration' || type.special === 'any' ? undefined : checkShape(type.special, value as JsonObject).error
    case 'list':
      return Array.isArray(value) ? firstError(type.item, value) : `cannot restore slice from ${goKind(value)}`
    case 'map':
      return isObject(value) ? firstError(type.value, Object.values(value)) : `cannot restore map from ${goKind(value)}`
    case 'struct':
      return isObject(value) ? conversionError(type, value) : `cannot restore struct from: ${goKind(value)}`
    case 'structOr':
      return isObject(value) ? conversionError(type.struct, value) : undefined
  }
}

function firstError(type: GoType, values: readonly (JsonValue | undefined)[]): string | undefined {
  for (const value of values) {
    const error = valueError(type, value)
    if (error !== undefined) return error
  }
  return undefined
}

function scalarError(scalar: Scalar, value: JsonValue): string | undefined {
  const go = goKind(value)
  if (go === 'int64')
    return scalar === 'string' ? 'cannot convert int64 to string' : scalar === 'bool' ? `unrecognized type: bool` : undefined
  if (go === 'float64' && scalar !== 'string' && scalar !== 'bool')
    return scalar === 'float64' || Number.isInteger(value) ? undefined : `cannot convert float64 to ${scalar}`
  return go === scalar ? undefined : `unrecognized type: ${scalar}`
}
