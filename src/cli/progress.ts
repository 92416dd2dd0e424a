/** Prints the progress of a start on a terminal: one line for each step, with its duration. */
import { styleText } from 'node:util'

export interface Progress {
  /** Prints a finished step and its result. */
  done(step: string, detail: string): void
  /** Prints `text` unchanged. */
  say(text: string): void
}

type Style = Parameters<typeof styleText>[0]

/** Uses colours only when the stream is a terminal and `NO_COLOR` is not set. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, text, { stream, validateStream: true })
}

/** Prints progress if the stream is a terminal. Otherwise it prints nothing, because the logs contain the same information. */
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
