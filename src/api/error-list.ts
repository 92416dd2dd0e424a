/**
 * The list of the errors of one object. The number of the listed errors and their length are limited. The limits are necessary, because a
 * user can create an object with a million errors, and because a response contains each listed error twice: in the message and in the
 * causes of the response.
 */
import type { FieldError } from './field-error.ts'

/** Maximum number of errors in a list. */
export const maxListedErrors = 250
/**
 * Limit of the total length of the errors in a list, in UTF-16 units. When the total reaches this limit, no further error is added. The
 * error that reaches the limit is not cut, so the total may be greater than the limit.
 */
const maxListedLength = 128 * 1024
/**
 * Maximum length of an error's path, in UTF-16 units. A longer path is cut. The same limit applies to the error's message, because a
 * webhook's handler may put a whole object into a message.
 */
const maxTextLength = 32 * 1024

/**
 * The first errors of an object (`listed`), and the number of further errors (`omitted`). The list is plain data, so it can be sent to a
 * worker thread.
 */
export interface ErrorList {
  readonly listed: readonly FieldError[]
  readonly omitted: number
}

export const noErrors: ErrorList = Object.freeze({ listed: Object.freeze([]), omitted: 0 })

export function isEmpty({ listed }: ErrorList): boolean {
  return listed.length === 0
}

/** Returns `list` with `errors` appended until a limit is reached. The remaining errors are only counted in `omitted`. */
export function addErrors(list: ErrorList, errors: readonly FieldError[]): ErrorList {
  if (errors.length === 0) return list
  const listed = [...list.listed]
  let length = listed.reduce((sum, error) => sum + lengthOf(error), 0)
  let index = 0
  while (index < errors.length && listed.length < maxListedErrors && length < maxListedLength) {
    const error = shortened(errors[index]!)
    listed.push(error)
    length += lengthOf(error)
    index += 1
  }
  return { listed, omitted: list.omitted + errors.length - index }
}

/** Returns the errors of both lists as one list. The limits apply to this list, too. */
export function joinErrors(first: ErrorList, second: ErrorList): ErrorList {
  if (isEmpty(first)) return second
  const { listed, omitted } = addErrors(first, second.listed)
  return { listed, omitted: omitted + second.omitted }
}

/**
 * Returns an error that states how many errors are not listed; undefined when all are listed. The number is a minimum, because validation
 * may have stopped early.
 */
export function omission({ omitted }: ErrorList): FieldError | undefined {
  if (omitted === 0) return undefined
  const errors = omitted === 1 ? '1 more error is' : `${omitted} more errors are`
  return { path: '<nil>', reason: 'FieldValueTooMany', message: `Too many: at least ${errors} not listed; correct those that are` }
}

function lengthOf({ path, message }: FieldError): number {
  return path.length + message.length
}

function shortened(error: FieldError): FieldError {
  const { path, message } = error
  if (path.length <= maxTextLength && message.length <= maxTextLength) return error
  return { ...error, path: cut(path), message: cut(message) }
}

function cut(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`
}
