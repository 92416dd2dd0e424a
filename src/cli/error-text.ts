/** Returns the text of an error that ends a command. */
import { ProreusError, messageOf } from '../api/errors.ts'
import { LoadError } from './load-error.ts'

/**
 * Returns the text for an error. The text for a `ProreusError` is one line. For a `LoadError`, this line is followed by the lines of the
 * stack trace that refer to the user's files. The text for any other error contains the whole stack trace.
 */
export function errorText(error: unknown): string {
  if (error instanceof ProreusError) return [oneLine(error.message), ...framesOf(error)].join('\n')
  return `an unexpected error, please report it: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`
}

function framesOf(error: ProreusError): readonly string[] {
  return error instanceof LoadError ? error.frames.map((frame) => `    ${frame}`) : []
}

/** Joins the lines of a message. A message may have several lines if it quotes an error of another component. */
function oneLine(message: string): string {
  return message.trim().replace(/\s*\n\s*/g, ' ')
}
