/** What is told about an object that ajv has refused. */
import type { ErrorObject } from 'ajv'
import type { FieldError } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonValue } from '../api/json.ts'
import { holdsBigint } from '../api/json.ts'
import { explain } from './explain.ts'
import type { SchemaNode } from './node.ts'
import { childPath, fieldOf, indexPath, noField } from './path.ts'

/** The renderer's errors; and if it finds none, ajv's own, so that nothing that was refused passes. */
export function explainRefusal(
  root: SchemaNode,
  refusal: RefusalReason | undefined,
  value: JsonValue,
  oldValue: JsonValue | undefined,
  /** The place of the value in the object; empty: it is the object. */
  field = '',
): readonly FieldError[] {
  const old = oldValue === undefined ? undefined : { value: oldValue }
  const { errors, lists, resources } = explain(root, value, old, field)
  if (errors.length + lists.length + resources.length === 0) {
    // What ajv does not like may be as it was.
    if (old !== undefined && explain(root, value).errors.length > 0) return []
    // Nor what is an integer beyond 2^53.
    if (holdsBigint(value)) return []
    // The two disagree, which is a defect of ours.
    const path = pathOf(refusal?.instancePath ?? '')
    return [within(field, invalid(fieldOf(path), '', `${path} in body does not match its schema: ${refusal?.message ?? 'refused'}`))]
  }
  const tolerated = lists.length > 0 && oldValue !== undefined && explain(root, oldValue).lists.length > 0
  return unique([...errors.map((error) => within(field, error)), ...resources, ...(tolerated ? [] : lists)])
}

/** A schema error is named from the object; its text goes on to name the place from the value, as that of the API server does. */
function within(field: string, error: FieldError): FieldError {
  if (field === '') return error
  return { ...error, path: error.path === '' || error.path === noField ? field : `${field}.${error.path}` }
}

/** What is used of ajv's own error. */
export type RefusalReason = Pick<ErrorObject, 'instancePath' | 'message'>

/** Branches of a schema repeat each other. */
function unique(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

/** A JSON pointer as a field path. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, segment) => (/^\d+$/.test(segment) ? indexPath(path, Number(segment)) : childPath(path, segment)), '')
}
