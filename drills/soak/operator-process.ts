/** Starts the operator of the soak drill as a child process, and requests its heap size and the state of its work queue. */
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Answer, Heap, Question, State } from './messages.ts'

export class OperatorProcess {
  readonly #child: ChildProcess
  /** Rejects when the process has ended. */
  readonly #ended: Promise<never>
  #last: Promise<unknown> = Promise.resolve()

  constructor(kubeconfig: string) {
    this.#child = fork(join(import.meta.dirname, 'operator.ts'), {
      execArgv: ['--conditions=proreus-source', '--expose-gc'],
      env: { ...process.env, KUBECONFIG: kubeconfig },
    })
    this.#ended = once(this.#child, 'exit').then(([code]) => Promise.reject(new Error(`The operator has ended with ${String(code)}.`)))
    // If the operator ends while no call of `#ask` is in progress, nothing else handles the rejection of `#ended`, and Node.js would report
    // an unhandled rejection. Later calls of `#ask` still reject with the same error.
    this.#ended.catch(() => undefined)
  }

  hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async heapUsed(): Promise<number> {
    return (await this.#ask<Heap>('heap')).heapUsed
  }

  state(): Promise<State> {
    return this.#ask<State>('state')
  }

  /** Stops the operator gracefully. Resolves to its exit code. */
  async stop(): Promise<number | null> {
    if (!this.hasEnded()) {
      this.#child.kill('SIGTERM')
      await once(this.#child, 'exit')
    }
    return this.#child.exitCode
  }

  /** Sends the question when all earlier questions have been answered. Resolves to the answer. */
  #ask<A extends Answer>(question: Question): Promise<A> {
    const answer = this.#last.then(async () => {
      if (this.hasEnded()) await this.#ended
      const answered = new Promise<A>((resolve) => this.#child.once('message', (answer) => resolve(answer as A)))
      this.#child.send(question)
      return Promise.race([answered, this.#ended])
    })
    this.#last = answer.catch(() => undefined)
    return answer
  }
}
