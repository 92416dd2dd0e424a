/**
 * Converts optionals as cel-go does when cel-go resolves an attribute. The conversion applies to an optional that is the value of one of
 * these expressions:
 *
 * - A variable.
 * - A conditional expression `c ? a : b`.
 * - The first operand of a chain of field selections and indexes, for example `a` in `a.b[0].c`.
 *
 * cel-go converts the content of the optional to a Go value, and then converts the Go value back to a CEL value (`cel-go/interpreter:
 * attributes.go, applyQualifiers`). This conversion has these effects:
 *
 * - The new CEL value has no schema.
 * - For the types that Kubernetes adds to CEL, such as Quantity and URL, the conversion fails.
 * - A type becomes a string, the name of the type.
 * - An optional in the optional is replaced by its content, or by null if the inner optional is empty.
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

/**
 * Converts an optional as cel-go does when cel-go resolves an attribute, and returns the result. A value that is not an optional is
 * returned unchanged.
 */
export function resolveAttribute(value: Value): Value {
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

/** Returns an optional for data that does not match its schema. When the value of the optional is read, an error is thrown. */
export function optionalOfError({ message }: CelError): OptionalValue {
  return new UnreadableOptional(`unsupported conversion to ref.Val: (*errors.errorString)${message}`)
}

/** An optional that throws an error when its value is read. */
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
