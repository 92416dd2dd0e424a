/** The validation errors of a value that ajv has rejected. */
import type { ErrorObject } from 'ajv'
import type { FieldError } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonValue } from '../api/json.ts'
import { holdsBigint } from '../api/json.ts'
import { explain } from './explain-errors.ts'
import type { SchemaNode } from './node.ts'
import { childPath, fieldOf, indexPath, noField } from '../api/field-path.ts'

/**
 * Returns the errors that `explain` finds in a value that ajv has rejected, except errors that the update tolerates. If `explain` finds no
 * error, there are two cases:
 *
 * - If only unchanged parts of the value violate the schema, or if the value contains a bigint, the value is valid, and the list is empty.
 *   ajv does not know the old value, and rejects every bigint.
 * - Otherwise, the list contains ajv's own error.
 */
export function explainRefusal(
  root: SchemaNode,
  refusal: RefusalReason | undefined,
  value: JsonValue,
  oldValue: JsonValue | undefined,
  /** The path of `value` in the object; empty when `value` is the whole object. */
  field = '',
): readonly FieldError[] {
  const old = oldValue === undefined ? undefined : { value: oldValue }
  const { errors, lists, resources } = explain(root, value, old, field)
  if (errors.length + lists.length + resources.length === 0) {
    // ajv does not know the old value, so ajv also rejects invalid values that the update does not change. The call of `explain` with the
    // old value ignores schema errors of unchanged values, and has found no error. If the call of `explain` without the old value finds
    // schema errors, all of these errors belong to unchanged values, and the update is valid.
    if (old !== undefined && explain(root, value).errors.length > 0) return []
    // ajv rejects every bigint (an integer beyond 2^53). `explain` supports bigints, and has found no error. A value with a bigint is
    // therefore valid here.
    if (holdsBigint(value)) return []
    // ajv rejects the value, but `explain` accepts it. Therefore, either ajv or `explain` has a bug. To be safe, the value is rejected.
    const path = pathOf(refusal?.instancePath ?? '')
    return [within(field, invalid(fieldOf(path), '', `${path} in body does not match its schema: ${refusal?.message ?? 'refused'}`))]
  }
  const tolerated = lists.length > 0 && oldValue !== undefined && explain(root, oldValue).lists.length > 0
  return unique([...errors.map((error) => within(field, error)), ...resources, ...(tolerated ? [] : lists)])
}

/**
 * Prepends `field`, the path of the value in the object, to the path of a schema error. The path in the error message remains relative to
 * the value, as in kube-apiserver.
 */
function within(field: string, error: FieldError): FieldError {
  if (field === '') return error
  return { ...error, path: error.path === '' || error.path === noField ? field : `${field}.${error.path}` }
}

/** The fields of ajv's `ErrorObject` that `explainRefusal` reads. */
export type RefusalReason = Pick<ErrorObject, 'instancePath' | 'message'>

/** Removes duplicates. Several schemas of allOf, anyOf and oneOf often report the same error. */
function unique(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [formatFieldError(error), error])).values()]
}

/** Converts a JSON pointer to a field path. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, segment) => (/^\d+$/.test(segment) ? indexPath(path, Number(segment)) : childPath(path, segment)), '')
}
