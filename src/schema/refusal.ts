/** What is told about an object that ajv has refused. */
import type { ErrorObject } from 'ajv'
import type { FieldError } from '../api/field-error.ts'
import { formatFieldError, invalid } from '../api/field-error.ts'
import type { JsonObject } from '../api/json.ts'
import { holdsBigint } from '../api/json.ts'
import { explain } from './explain.ts'
import type { SchemaNode } from './node.ts'
import { childPath, fieldOf, indexPath } from './path.ts'

/** The renderer's errors; and if it finds none, ajv's own, so that nothing that was refused passes. */
export function explainRefusal(
  root: SchemaNode,
  refusal: RefusalReason | undefined,
  object: JsonObject,
  oldObject: JsonObject | undefined,
): readonly FieldError[] {
  const old = oldObject === undefined ? undefined : { value: oldObject }
  const { errors, lists, resources } = explain(root, object, old)
  if (errors.length + lists.length + resources.length === 0) {
    // What ajv does not like may be as it was.
    if (old !== undefined && explain(root, object).errors.length > 0) return []
    // Nor what is an integer beyond 2^53.
    if (holdsBigint(object)) return []
    // The two disagree, which is a defect of ours.
    const path = pathOf(refusal?.instancePath ?? '')
    return [invalid(fieldOf(path), '', `${path} in body does not match its schema: ${refusal?.message ?? 'refused'}`)]
  }
  const tolerated = lists.length > 0 && oldObject !== undefined && explain(root, oldObject).lists.length > 0
  return unique([...errors, ...resources, ...(tolerated ? [] : lists)])
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
