/** The signal that stops the containers of an image. */
import { constants } from 'node:os'

/** The signal for containers whose image specifies no signal. */
export const defaultStopSignal = 'SIGTERM'

/**
 * Parses the name or the number of a signal, e.g. `SIGINT`, `int` or `2` (github.com/moby/sys/signal: ParseSignal). Returns undefined when
 * this machine has no such signal.
 */
export function parseSignal(text: string): NodeJS.Signals | undefined {
  const name = `SIG${text.toUpperCase().replace(/^SIG/, '')}`
  const signals = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return signals.find(([known, number]) => known === name || String(number) === text)?.[0]
}
