/**
 * Optional values that are read from a variable, or are the outcome of a condition. On that way cel-go makes plain values of what is in
 * them: no schema is known of it any more, and what only Kubernetes knows cannot be made one.
 */
import { dynamicValue } from './dynamic-value.ts'
import { CelError } from './errors.ts'
import { SchemaList, SchemaMap, SchemaObject } from './schema-values.ts'
import type { Value } from './values.ts'
import { OpaqueValue, OptionalValue, TypeValue } from './values.ts'

const goTypes: Readonly<Record<string, string>> = {
  'kubernetes.Quantity': '*resource.Quantity',
  'kubernetes.URL': '*url.URL',
  'kubernetes.Semver': 'semver.Version',
  'net.IP': 'netip.Addr',
  'net.CIDR': 'netip.Prefix',
}

/** The same for anything that is no optional value. */
export function throughAttribute(value: Value): Value {
  if (!(value instanceof OptionalValue) || value instanceof UnreadableOptional) return value
  const content = value.value
  if (content === undefined) return value
  if (content instanceof SchemaObject || content instanceof SchemaMap || content instanceof SchemaList) {
    return new OptionalValue(dynamicValue(content.data as never))
  }
  if (content instanceof OptionalValue) return new OptionalValue(content.value ?? null)
  if (content instanceof TypeValue) return new OptionalValue(content.type.name)
  const type = content instanceof OpaqueValue ? goTypes[content.typeName] : undefined
  return type === undefined ? value : new UnreadableOptional(`unsupported conversion to ref.Val: (${type})`)
}

/** An optional value of data that do not fit their schema. */
export function optionalOfError({ message }: CelError): OptionalValue {
  return new UnreadableOptional(`unsupported conversion to ref.Val: (*errors.errorString)${message}`)
}

/** There is a value, but who reads it fails. */
class UnreadableOptional extends OptionalValue {
  readonly #problem: string
  constructor(problem: string) {
    super(undefined)
    this.#problem = problem
  }
  override get hasValue(): boolean {
    return true
  }
  override get value(): never {
    throw new CelError(this.#problem)
  }
}
