/** Prints the steps of the start of `proreus dev` on a terminal: one line for each step, with the duration of the step. */
import { styleText } from 'node:util'

export interface Progress {
  /** Prints a finished step with its result and duration. */
  done(step: string, detail: string): void
  /** Prints `text` and a newline. */
  say(text: string): void
}

type Style = Parameters<typeof styleText>[0]

/** Adds terminal styles to `text`, but only when the stream is a terminal and `NO_COLOR` is not set. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, text, { stream, validateStream: true })
}

/**
 * Returns a `Progress` that prints only if the stream is a terminal. If the stream is not a terminal, `proreus dev` writes log lines
 * instead.
 */
export function terminalProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { done: () => undefined, say: () => undefined }
  let last = performance.now()
  return {
    done(step, detail) {
      const seconds = ((performance.now() - last) / 1000).toFixed(1)
      last = performance.now()
      stream.write(`  ${paint(stream, 'green', '✓')} ${step.padEnd(18)} ${detail} ${paint(stream, 'dim', `${seconds} s`)}\n`)
    },
    say(text) {
      stream.write(`${text}\n`)
    },
  }
}
