/** Parses and formats field selectors, and matches them against the name and the namespace of an object. */
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject } from '../api/object.ts'
import { ProreusError } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'

export interface FieldRequirement {
  /** The path of the field, e.g. `status.phase`. */
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/**
 * Parses a field selector such as `metadata.name=a,status.phase!=Running` (k8s.io/apimachinery/pkg/fields: ParseSelector). In a value, a
 * backslash escapes a comma, an equals sign or a backslash.
 *
 * @throws {ProreusError} `PRO_INPUT` when a term is not `FIELD=VALUE`, `FIELD==VALUE` or `FIELD!=VALUE`, or when a value contains an
 *   unescaped equals sign or an invalid escape sequence.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return (text.match(/(?:\\.?|[^,\\])+/gs) ?? []).map((term) => {
    const [, field, operator, value] = /^((?:\\.|[^=!\\])+)(==|!=|=)((?:\\[\\,=]|[^\\=])*)$/s.exec(term) ?? []
    if (field === undefined || operator === undefined || value === undefined)
      throw new ProreusError(
        'PRO_INPUT',
        `The field selector ${quote(text)} is invalid: ${quote(term)} must be FIELD=VALUE or FIELD!=VALUE.`,
      )
    return { field, operator: operator === '!=' ? '!=' : '=', value: value.replace(/\\(.)/gs, '$1') }
  })
}

/** Formats requirements as the value of the `fieldSelector` query parameter. */
export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements.map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`).join(',')
}

/**
 * Compares the name and the namespace of an object with the requirements. Only the API server can evaluate other fields, because each type
 * defines the meaning of its fields. Returns:
 *
 * - false when the name or the namespace does not match,
 * - true when all requirements match,
 * - undefined when only requirements for other fields remain.
 */
export function matchesFields(
  requirements: readonly FieldRequirement[],
  { metadata }: DeepReadonly<KubernetesObject>,
): boolean | undefined {
  let matches: boolean | undefined = true
  for (const { field, operator, value } of requirements) {
    const found = field === 'metadata.name' ? metadata.name : field === 'metadata.namespace' ? (metadata.namespace ?? '') : undefined
    if (found === undefined) matches = undefined
    else if ((found === value) !== (operator === '=')) return false
  }
  return matches
}
