/** `proreus dev --watch`: runs the operators in a separate process, which is replaced when a source file changes. */
import { resolve } from 'node:path'
import type { Connection } from '../../client/connection.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { NextSteps } from '../dev-operators.ts'
import type { LogOptions } from '../logging.ts'
import { shortened } from '../load-operator.ts'
import type { OperatorSelection } from '../operators.ts'
import type { OperatorMessage, ReadyMessage, StartMessage } from './messages.ts'
import { OperatorsChild } from './operators-child.ts'
import type { Destination } from './relay.ts'
import { Relay } from './relay.ts'
import type { Change } from './source-files.ts'
import { SourceFiles } from './source-files.ts'
import { sourceFile } from './source-file.ts'

export interface WatchedOperatorsOptions {
  readonly selection: OperatorSelection
  readonly log: LogOptions
  readonly certDir: string
  readonly connection: Connection
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Reports a finished step of the first start. */
  done(step: string, detail: string): void
  /** Called when the operators run for the first time. */
  ready(next: NextSteps): Promise<void>
  /** Sets the reason why the webhooks at this URL cannot be reached. If `reason` is undefined, the webhooks can be reached. */
  setUnreachable(url: string, reason: string | undefined): void
  /** Prints one line, e.g. when the operators were restarted or have ended. */
  say(line: string, level: 'info' | 'error'): void
}

/** Maximum number of changed files that are named in a printed line. */
const maxNamed = 3

type Child = Pick<OperatorsChild, 'ready' | 'ended' | 'stop'>
type StartChild = (...args: ConstructorParameters<typeof OperatorsChild>) => Child

/**
 * Runs the operators until the signal aborts. When the signal aborts, the function ends the process of the operators, and rejects with the
 * reason of the signal.
 *
 * @param startChild the function that starts a process of the operators. Tests pass a different function.
 */
export async function runWatchedOperators(
  options: WatchedOperatorsOptions,
  startChild: StartChild = (...args) => new OperatorsChild(...args),
): Promise<void> {
  const files = new SourceFiles(options)
  const webhooks = await Relay.start()
  const metrics = await Relay.start()
  try {
    await new WatchedOperators(options, { files, webhooks, metrics, startChild }).run()
  } finally {
    files.close()
    await Promise.all([webhooks.close(), metrics.close()])
  }
}

interface Parts {
  readonly files: SourceFiles
  readonly webhooks: Relay
  readonly metrics: Relay
  readonly startChild: StartChild
}

/** The state of one process that runs the operators. After each restart, a new process with a new state runs the operators. */
interface Life {
  /** True when the process is being stopped because of a change of the files or because the signal was aborted. */
  isStopping: boolean
  /** True when the success or failure of the start has been reported. */
  isReported: boolean
}

class WatchedOperators {
  readonly #options: WatchedOperatorsOptions
  readonly #files: SourceFiles
  readonly #webhooks: Relay
  readonly #metrics: Relay
  readonly #startChild: StartChild
  /** True when the operators have run at least once. */
  #wereReady = false
  /**
   * True when the following warning has been logged: messages that the operators send with `process.send` are ignored. The warning is
   * logged only once.
   */
  #isForeignReported = false

  constructor(options: WatchedOperatorsOptions, { files, webhooks, metrics, startChild }: Parts) {
    this.#options = options
    this.#files = files
    this.#webhooks = webhooks
    this.#metrics = metrics
    this.#startChild = startChild
  }

  get #webhookUrl(): string {
    return `https://${this.#webhooks.address}`
  }

  async run(): Promise<never> {
    const start = await this.#startMessage()
    let change: Change | undefined
    for (;;) change = await this.#runUntilChange(start, change)
  }

  async #startMessage(): Promise<StartMessage> {
    const { selection, log, certDir, connection } = this.#options
    const { server, ca } = connection
    const authorization = await connection.authorization?.()
    const urls = { webhook: this.#webhookUrl, metrics: `http://${this.#metrics.address}/metrics` }
    return { type: 'start', selection, log, certDir, connection: { server, ...(ca !== undefined && { ca }), authorization }, urls }
  }

  /**
   * Runs the process until a source file changes, and then stops the process. New connections to the webhooks and metrics wait for the next
   * process.
   */
  async #runUntilChange(start: StartMessage, cause: Change | undefined): Promise<Change> {
    this.#files.begin()
    // package.json contains the settings of Proreus and the module type of the operator. A change of package.json therefore restarts the
    // operators.
    this.#files.add(sourceFile(resolve('package.json')))
    const life: Life = { isStopping: false, isReported: false }
    const child = this.#startChild(start, this.#options.clock, (message) => {
      if (!life.isStopping) this.#receive(message)
    })
    const reporting = this.#report(child, cause, life)
    try {
      const change = await Promise.race([this.#files.nextChange(this.#options.signal), reporting])
      // If a file changes before a restart has been reported, the operators are restarted again. Only the last restart is reported, with
      // the files of both changes.
      return life.isReported || cause === undefined ? change : { ...cause, paths: [...new Set([...cause.paths, ...change.paths])] }
    } finally {
      life.isStopping = true
      this.#lead('wait', { reason: 'the operators are being restarted' })
      await child.stop()
    }
  }

  #receive(message: Exclude<OperatorMessage, ReadyMessage> | undefined): void {
    if (message === undefined) return this.#reportForeign()
    switch (message.type) {
      case 'loading':
        return this.#files.add(message.file)
      case 'done':
        return this.#wereReady ? undefined : this.#options.done(message.step, message.detail)
      case 'serving':
        return this.#lead(message.webhook ?? 'close', { metrics: message.metrics ?? 'close' })
    }
  }

  #reportForeign(): void {
    if (!this.#isForeignReported)
      this.#options.logger.warn('messages that operators send with process.send are ignored: proreus dev --watch uses this channel itself')
    this.#isForeignReported = true
  }

  /** Sets the destination of connections. `reason` is the reason why the webhooks cannot be reached; undefined if they can be reached. */
  #lead(webhooks: Destination, { metrics = webhooks, reason }: { metrics?: Destination; reason?: string }): void {
    // When the relay for webhook calls gets the destination `close`, all waiting webhook calls fail at once, and their error messages
    // contain the reason. The reason must therefore be set before the destination.
    this.#options.setUnreachable(this.#webhookUrl, reason)
    this.#webhooks.lead(webhooks)
    this.#metrics.lead(metrics)
  }

  /**
   * Prints a message when the operators run, and another message when the process has ended. While the process is being stopped, prints no
   * message. The returned promise never resolves.
   */
  async #report(child: Child, cause: Change | undefined, life: Life): Promise<never> {
    const { say } = this.#options
    const next = await child.ready
    if (next !== undefined && !life.isStopping) {
      life.isReported = true
      this.#files.removeOthers()
      await this.#sayReady(next, cause)
    }
    const end = await child.ended
    if (!life.isStopping) {
      life.isReported = true
      const why = cause === undefined ? '' : `${changesOf(cause)}: `
      const problem = `the operators do not run (${end})`
      this.#lead('close', { reason: `${problem}: see the output of proreus dev; the next change starts them again` })
      say(`${why}${problem}; the next change starts them again`, 'error')
    }
    return new Promise(() => undefined)
  }

  async #sayReady(next: NextSteps, cause: Change | undefined): Promise<void> {
    const { clock, say, ready } = this.#options
    if (this.#wereReady && cause !== undefined) {
      const seconds = (clock.monotonicNow() - cause.noticedAt) / 1000
      say(`${changesOf(cause)}: the operators were restarted in ${seconds.toFixed(2)} s`, 'info')
    }
    if (this.#wereReady) return
    this.#wereReady = true
    await ready(next)
    say(`watching ${this.#files.size} files: a change restarts the operators, and nothing else`, 'info')
  }
}

/** Returns a text such as `./hello.ts changed`. */
function changesOf({ paths }: Change): string {
  const names = paths.slice(0, maxNamed).map(shortened)
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : ''
  return `${names.join(', ')}${more} changed`
}
