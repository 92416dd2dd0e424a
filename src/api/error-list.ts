/** The errors of one object, as many as anybody reads: a user can make an object with a million mistakes, and each is told twice. */
import type { FieldError } from './field-error.ts'

/** How many errors are listed. */
export const maxListedErrors = 250
/** How long the texts of all listed errors may be together, in UTF-16 units; the last of them may exceed it. */
const maxListedLength = 128 * 1024
/** How long the path and the message of one error may each be: a handler may have put a whole object into it. */
const maxTextLength = 32 * 1024

/** The first errors, and how many came after these. Plain data, so that it can be sent from thread to thread. */
export interface ErrorList {
  readonly listed: readonly FieldError[]
  readonly omitted: number
}

export const noErrors: ErrorList = Object.freeze({ listed: Object.freeze([]), omitted: 0 })

export function isEmpty({ listed }: ErrorList): boolean {
  return listed.length === 0
}

/** The list with more errors at its end, as far as there is room for them. */
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

/** The first list with the second at its end. */
export function joinErrors(first: ErrorList, second: ErrorList): ErrorList {
  if (isEmpty(first)) return second
  const { listed, omitted } = addErrors(first, second.listed)
  return { listed, omitted: omitted + second.omitted }
}

/** The entry that stands for the errors that are not listed; undefined where all of them are. Who has collected them may have stopped early, too. */
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
