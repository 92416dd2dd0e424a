/**
 * Validates an applied configuration against the schema of its type. Unknown fields are rejected even if `fieldValidation` is `Ignore` or
 * `Warn`, because no manager can own an unknown field.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { AppliedType } from './applied-type.ts'
import { goSyntax, goText, goTypeName } from '../types/go-text.ts'
import { typedPatchError } from './server-side-apply.ts'
import type { Typing } from './typing.ts'
import { typingOf } from './typing.ts'

/**
 * Throws a 500 error for unknown fields and wrong types. The error message contains `named`, which is the configuration as the client sent
 * it.
 */
export function checkFields(info: AppliedType, config: JsonObject, named: JsonObject): void {
  const problems: string[] = []
  visit(config, typingOf(info), '', problems)
  if (problems.length === 0) return
  const detail = problems.length === 1 ? problems[0]! : ['errors:', ...problems].join('\n  ')
  throw typedPatchError(info, named, detail)
}

function visit(value: JsonValue | undefined, typing: Typing, path: string, problems: string[]): void {
  if (value === undefined || value === null) return
  const expected = (what: string): void => void problems.push(`${path}: expected ${what}`)
  switch (typing.type) {
    case 'map':
      if (!isObject(value)) return expected(`map, got &{${goText(value)}}`)
      for (const key of Object.keys(value).sort()) {
        const field = `${path}.${key}`
        if (typing.has(key) === 'unknown') problems.push(`${field}: field not declared in schema`)
        else visit(value[key], typing.field(key), field, problems)
      }
      break
    case 'list':
      if (!Array.isArray(value)) return expected(`list, got &{${goText(value)}}`)
      value.forEach((item, index) => visit(item, typing.item(), `${path}[${index}]`, problems))
      break
    case 'string':
      if (typeof value !== 'string') expected(`string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      break
    case 'boolean':
      if (typeof value !== 'boolean') expected(`boolean, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      break
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint') expected(`numeric (int or float), got ${goTypeName(value)}`)
      break
    case 'any':
  }
}
