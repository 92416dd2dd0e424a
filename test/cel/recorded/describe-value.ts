/** Formats CEL values together with their types. CEL's `%s` does not show the types. */
import { CelError } from '../../../src/cel/types/errors.ts'
import { formatTimestamp } from '../../../src/cel/types/times.ts'
import type { Value } from '../../../src/cel/types/values.ts'
import {
  Double,
  Duration,
  ListValue,
  MapValue,
  OptionalValue,
  Timestamp,
  typeNameOf,
  TypeValue,
  Uint,
} from '../../../src/cel/types/values.ts'

export function describeValue(value: Value): string {
  if (value === null || ['boolean', 'number', 'bigint'].includes(typeof value)) return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Double) return describeDouble(value.value)
  if (value instanceof Uint8Array) return `b'${Buffer.from(value).toString('hex')}'`
  if (value instanceof Timestamp) return `timestamp ${formatTimestamp(value)}`
  if (value instanceof Duration) return `duration ${value.nanos}`
  if (value instanceof TypeValue) return `type ${value.type.name}`
  if (value instanceof OptionalValue) return value.hasValue ? `optional.of(${describeRead(() => value.value)})` : 'optional.none()'
  if (value instanceof ListValue)
    return `[${Array.from({ length: value.size }, (_, index) => describeRead(() => value.at(index))).join(', ')}]`
  if (value instanceof MapValue) {
    const entries = value.keys().map((key) => `${describeValue(key)}: ${describeRead(() => value.find(key))}`)
    return `{${entries.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join(', ')}}`
  }
  return `a ${typeNameOf(value)}`
}

function describeDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value)
}

/** Describes the value that `read` returns, or the CEL error that it throws. */
function describeRead(read: () => Value | undefined): string {
  try {
    return describeValue(read()!)
  } catch (error) {
    if (error instanceof CelError) return `error ${error.message}`
    throw error
  }
}
