/**
 * Shortens the errors in log lines, so that the lines are readable in a terminal. Frames of Node.js and of Proreus are removed from stacks,
 * because most frames of a stack are such frames. If an error is logged again within a minute, e.g. at a retry of a reconcile, its stack is
 * omitted.
 */
import { fileURLToPath } from 'node:url'
import { isObject } from '../api/json.ts'

/**
 * Minimum time in milliseconds between two prints of an error's stack. After this time, the earlier print may no longer be visible in the
 * terminal.
 */
const stackAgainAfterMs = 60_000

/**
 * Maximum number of errors that are remembered. The messages of errors may contain names of objects, so there may be any number of
 * different errors.
 */
const maxRemembered = 100

type Line = Readonly<Record<string, unknown>>

/**
 * Returns a function that shortens the error in a line:
 *
 * - If the same error was printed with its stack less than `stackAgainAfterMs` milliseconds ago, the error is removed from the line. The
 *   message of the error is appended to the message of the line.
 * - Otherwise, frames are removed from the stack of the error.
 *
 * Two errors are the same if they have the same type and message, and their lines have the same controller and message.
 */
export function shortenErrors(): (line: Line) => Line {
  /** For each error, the time at which its stack was last printed. The oldest time is first. */
  const printed = new Map<string, number>()
  return (line) => {
    const { err, ...others } = line
    if (!isObject(err) || typeof err['stack'] !== 'string') return line
    const error = JSON.stringify([line['controller'], line['msg'], err['type'], err['message']])
    const time = Date.parse(String(line['time']))
    const before = printed.get(error)
    if (before !== undefined && time - before < stackAgainAfterMs) {
      return { ...others, msg: oneLine(withMessage(String(line['msg']), String(err['message']))) }
    }
    printed.delete(error)
    printed.set(error, time)
    if (printed.size > maxRemembered) printed.delete(printed.keys().next().value!)
    return { ...line, err: withShortStack(err) }
  }
}

/**
 * Returns a copy of an error, with the stack shortened by `shortStack`. If the error is an AggregateError, the stacks of the errors in the
 * AggregateError are also shortened.
 */
function withShortStack(error: unknown): unknown {
  if (!isObject(error)) return error
  const { stack, aggregateErrors } = error
  return {
    ...error,
    ...(typeof stack === 'string' && { stack: shortStack(stack) }),
    ...(Array.isArray(aggregateErrors) && { aggregateErrors: aggregateErrors.map(withShortStack) }),
  }
}

/** Removes the frames of Node.js and of Proreus from a stack. If an error has no other frames, its first frame is kept. */
function shortStack(stack: string): string {
  // The stack of an error also contains the stacks of its causes. The stack of each cause begins with a line that is not a frame.
  // Therefore, each match of the pattern contains the frames of exactly one error.
  return stack.replaceAll(/(?:^ +at .*(?:\n|$))+/gm, (text) => {
    const frames = text.replace(/\n$/, '').split('\n')
    const kept = frames.filter((frame) => !isInternal(frame))
    return (kept.length > 0 ? kept : frames.slice(0, 1)).join('\n') + (text.endsWith('\n') ? '\n' : '')
  })
}

const packageRoot = new URL('../../', import.meta.url)
const ownFolders = ['src/', 'dist/'].map((folder) => new URL(folder, packageRoot)).flatMap((url) => [url.href, fileURLToPath(url)])
/** The frames of the operators in this package are kept, like the frames of a user's operators. */
const operators = new URL('src/operators/', packageRoot).href

/** Returns true for a frame of Node.js, of Proreus, or of V8. A frame of V8 has no position in a file. */
function isInternal(frame: string): boolean {
  if (/[( ]node:|\(<anonymous>\)$|\(index \d+\)$/.test(frame)) return true
  return ownFolders.some((folder) => frame.includes(folder)) && !frame.includes(operators)
}

/**
 * Returns the text `<line>: <error>`. `line` is the message of a log line, and `error` is the message of an error. If `line` already
 * contains `error`, returns `line` unchanged. For example, if an error is logged without a message, pino uses the message of the error as
 * the message of the line, so `line` and `error` are equal.
 */
function withMessage(line: string, error: string): string {
  return line.includes(error) ? line : `${line}: ${error}`
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ')
}
