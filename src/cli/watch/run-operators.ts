/** Runs the operators of `proreus dev --watch` in their own process. */
import { onTermination } from '../../manager/termination.ts'
import { untilAborted } from '../../runtime/waiting.ts'
import { runDevOperators, selectDevOperators } from '../dev-operators.ts'
import { errorText } from '../error-text.ts'
import { loggerOf } from '../logging.ts'
import type { OperatorMessage, StartMessage } from './messages.ts'

/**
 * Time limit in milliseconds for requests and reconciles that are in progress when the process shuts down. The limit is short, because the
 * developer waits for the next process.
 */
const drainDeadlineMs = 1_000

/** Runs the operators until `stop` aborts. Returns the exit code of the process. */
export async function runOperators(
  { selection, log, certDir, connection, urls }: StartMessage,
  stop: AbortSignal,
  send: (message: OperatorMessage) => void,
): Promise<number> {
  // On a terminal, the parent process prints a line for each restart. With the log level `info`, the logger is therefore muted during the
  // start and the shutdown.
  let muted = process.stderr.isTTY === true && log.logLevel === 'info'
  const isTerminal = muted
  const logger = loggerOf(log, () => muted)
  stop.addEventListener('abort', () => (muted = isTerminal), { once: true })
  // Ctrl-C in the terminal sends SIGINT to the parent process and to this process. Only the parent process reacts to SIGINT: the parent
  // process sends a stop message to this process.
  const signal = AbortSignal.any([stop, onTermination(logger, ['SIGTERM']).signal])
  try {
    // An abort does not wait for the import of an operator, because the import may never end.
    const operators = await untilAborted(selectDevOperators(selection), signal, () => undefined)
    await runDevOperators({
      ...operators,
      connection: {
        ...connection,
        authorization: () => Promise.resolve(connection.authorization),
        describe: 'the embedded API server',
      },
      certDir,
      urls,
      drainDeadlineMs,
      logger,
      signal,
      done: (step, detail) => send({ type: 'done', step, detail }),
      onServing: ({ webhook, metrics }) =>
        send({ type: 'serving', ...(webhook && { webhook: webhook.port }), ...(metrics && { metrics: metrics.port }) }),
      ready(next) {
        muted = false
        send({ type: 'ready', next })
      },
    })
  } catch (error) {
    if (signal.aborted) return 0
    process.stderr.write(`proreus: ${errorText(error)}\n`)
    return 1
  }
  return Number(process.exitCode ?? 0)
}
