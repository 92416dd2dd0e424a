/** Finds unknown formats in the schemas of a CustomResourceDefinition. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { formatOf } from '../../formats/formats.ts'

/**
 * True when kube-apiserver validates the format for values of the type (k8s.io/apiextensions-apiserver/pkg/apiserver/validation:
 * formats.go).
 */
function isFormatOf(type: JsonValue | undefined, format: string): boolean {
  if (type === 'integer') return format === 'int32' || format === 'int64'
  if (type === 'number') return format === 'float' || format === 'double'
  return (type === undefined || type === '' || type === 'string') && formatOf(format) !== undefined
}

/**
 * Returns the unknown formats in the schemas of a CRD. The API server warns about these formats, and does not validate values against them.
 */
export function unknownFormats(definition: JsonObject): readonly string[] {
  const found = new Set<string>()
  const visit = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isObject(value)) return
    const { type, format, properties, additionalProperties, items, allOf, anyOf, oneOf, not } = value
    if (typeof format === 'string' && format !== '' && !isFormatOf(type, format)) found.add(format)
    if (isObject(properties)) Object.values(properties).forEach(visit)
    for (const part of [additionalProperties, items, allOf, anyOf, oneOf, not]) visit(part)
  }
  const { spec } = definition
  const versions = isObject(spec) && Array.isArray(spec.versions) ? spec.versions : []
  for (const version of versions) if (isObject(version) && isObject(version.schema)) visit(version.schema.openAPIV3Schema)
  return [...found]
}
