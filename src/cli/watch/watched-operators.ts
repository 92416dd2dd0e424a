/** `proreus dev --watch`: runs the operators in a process of their own, which is replaced when a source file changes. */
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
  /** Prints one line, e.g. when the operators were restarted or have ended. */
  say(line: string, level: 'info' | 'error'): void
}

/** Maximum number of changed files that a line names. */
const maxNamed = 3

type Child = Pick<OperatorsChild, 'ready' | 'ended' | 'stop'>
type StartChild = (...args: ConstructorParameters<typeof OperatorsChild>) => Child

/**
 * Runs the operators until the signal aborts. Then ends their process, and rejects with the reason of the signal.
 *
 * @param startChild starts a process of the operators. Tests replace it.
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

/** The life of one process. */
interface Life {
  /** True when this process has sent the message to stop. */
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

  constructor(options: WatchedOperatorsOptions, { files, webhooks, metrics, startChild }: Parts) {
    this.#options = options
    this.#files = files
    this.#webhooks = webhooks
    this.#metrics = metrics
    this.#startChild = startChild
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
    const urls = { webhook: `https://${this.#webhooks.address}`, metrics: `http://${this.#metrics.address}/metrics` }
    return { type: 'start', selection, log, certDir, connection: { server, ...(ca !== undefined && { ca }), authorization }, urls }
  }

  /** Runs the process until a source file changes. New connections to the webhooks and metrics then wait for the next process. */
  async #runUntilChange(start: StartMessage, cause: Change | undefined): Promise<Change> {
    this.#files.begin()
    // The settings of Proreus and the module type of the operator are in this file.
    this.#files.add(sourceFile(resolve('package.json')))
    const life: Life = { isStopping: false, isReported: false }
    const child = this.#startChild(start, this.#options.clock, (message) => {
      if (!life.isStopping) this.#receive(message)
    })
    const reporting = this.#report(child, cause, life)
    try {
      const change = await Promise.race([this.#files.nextChange(this.#options.signal), reporting])
      // When a file changes during a restart, the next process reports one restart, with the files of both changes.
      return life.isReported || cause === undefined ? change : { ...cause, paths: [...new Set([...cause.paths, ...change.paths])] }
    } finally {
      life.isStopping = true
      this.#lead('wait')
      await child.stop()
    }
  }

  #receive(message: Exclude<OperatorMessage, ReadyMessage>): void {
    switch (message.type) {
      case 'loading':
        return this.#files.add(message.file)
      case 'done':
        return this.#wereReady ? undefined : this.#options.done(message.step, message.detail)
      case 'serving':
        return this.#lead(message.webhook ?? 'close', message.metrics ?? 'close')
    }
  }

  #lead(webhooks: Destination, metrics = webhooks): void {
    this.#webhooks.lead(webhooks)
    this.#metrics.lead(metrics)
  }

  /** Reports that the operators run. If the process ends without being stopped, reports its end. The promise never resolves. */
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
      this.#lead('close')
      const why = cause === undefined ? '' : `${changesOf(cause)}: `
      say(`${why}the operators do not run (${end}); the next change starts them again`, 'error')
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
