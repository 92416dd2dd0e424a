/** What a person sees while something starts: one line a step, with the time it took. */
import { styleText } from 'node:util'

export interface Progress {
  /** Says that a step is done, and what came of it. */
  done(step: string, detail: string): void
  /** Says something as it is. */
  say(text: string): void
}

type Style = Parameters<typeof styleText>[0]

/** Colours only where the stream is a terminal and `NO_COLOR` is not set. */
export function paint(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return styleText(style, text, { stream, validateStream: true })
}

/** Progress on a terminal. Elsewhere the logs tell the same, and this is silent. */
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
