/**
 * The errors of one object, limited in number and length: a user can make an object with a million errors, and each error is reported
 * twice.
 */
import type { FieldError } from './field-error.ts'

/** Maximum number of listed errors. */
export const maxListedErrors = 250
/** Maximum length of all listed errors together, in UTF-16 units; the last one may exceed it. */
const maxListedLength = 128 * 1024
/** Maximum length of the path and of the message of one error, since a handler may put a whole object into it. */
const maxTextLength = 32 * 1024

/** The first errors, and the number of further errors. The list is plain data, which can be sent to another thread. */
export interface ErrorList {
  readonly listed: readonly FieldError[]
  readonly omitted: number
}

export const noErrors: ErrorList = Object.freeze({ listed: Object.freeze([]), omitted: 0 })

export function isEmpty({ listed }: ErrorList): boolean {
  return listed.length === 0
}

/** Returns the list with more errors appended, as far as there is room. */
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

/** Returns the first list with the second appended. */
export function joinErrors(first: ErrorList, second: ErrorList): ErrorList {
  if (isEmpty(first)) return second
  const { listed, omitted } = addErrors(first, second.listed)
  return { listed, omitted: omitted + second.omitted }
}

/**
 * Returns an entry for the errors that are not listed; undefined when all are. The collector may have stopped early, too, so the number is
 * a minimum.
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
