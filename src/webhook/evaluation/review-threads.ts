/**
 * A few worker threads that evaluate large reviews. They start with the first of them and end when there are no more.
 *
 * Threads, and not a parser that yields, because parsing is the smaller part: to validate, to explain what is wrong and to write a
 * patch of the same object are walks as long again, and the patterns of a schema may take long for each text. And what
 * comes back are bytes: to clone an object of half a million values from a thread holds up the event loop for as long as to parse it.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../api/clock.ts'
import { BodyRefused } from '../body/refused.ts'
import { MalformedReview } from '../review.ts'
import type { ThreadWebhook } from './thread-webhooks.ts'
import { writeThreadWebhooks } from './thread-webhooks.ts'
import type { WorkerCalls, WorkerMessage, WorkerReply } from './worker.ts'

export interface ReviewThreadOptions {
  /** Of the reviews that the threads get: a review says which one it is for by its place here. */
  readonly webhooks: readonly ThreadWebhook[]
  readonly clock: Clock
  /** At most. Default: as many as leave a processor to the event loop, and no more than two, for large reviews are rare. */
  readonly threads?: number | undefined
  /** Of each thread; a review that needs more fails. Below some 32, V8 may end the process when a thread starts. Default 512: enough for two objects of the largest kind. */
  readonly maxOldGenerationSizeMb?: number | undefined
}

/** V8's own choice is many times that, which a thread would keep. */
const maxYoungGenerationSizeMb = 8
/** How long a thread waits for the next review. It holds some 20 MB. */
const idleMs = 10_000

const script = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

/** Waits for a thread. */
interface Waiting {
  readonly resolve: (thread: ReviewThread) => void
  readonly reject: (error: unknown) => void
}

export class ReviewThreads {
  readonly #options: ReviewThreadOptions
  readonly #threads = new Set<ReviewThread>()
  /** Those that do not listen yet. */
  readonly #starting = new Set<ReviewThread>()
  readonly #idle = new Map<ReviewThread, Timer>()
  readonly #queue = new Set<Waiting>()

  constructor(options: ReviewThreadOptions) {
    this.#options = options
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size
  }

  /**
   * A thread for one review, until it is released.
   *
   * @throws the reason of `signal` when it aborts first.
   */
  acquire(signal: AbortSignal): Promise<ReviewThread> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const waiting: Waiting = { resolve, reject }
      const leave = (): void => {
        this.#queue.delete(waiting)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#queue.add(waiting)
      this.#next()
    })
  }

  /** Gives the thread to the next review; one that is at a call cannot be told to stop, and is ended. */
  release(thread: ReviewThread): void {
    // It may have ended by itself.
    if (!this.#threads.has(thread)) return
    if (thread.isBusy) {
      void this.#end(thread, new Error('the review has been given up'))
      return
    }
    thread.forget()
    this.#ready(thread)
  }

  /** Ends all threads. */
  async stop(): Promise<void> {
    const reason = new Error('the server ends')
    for (const { reject } of this.#queue) reject(reason)
    this.#queue.clear()
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, reason)))
  }

  #ready(thread: ReviewThread): void {
    this.#starting.delete(thread)
    this.#idle.set(
      thread,
      this.#options.clock.after(idleMs, () => void this.#end(thread)),
    )
    this.#next()
  }

  #next(): void {
    for (const waiting of this.#queue) {
      const [thread] = this.#idle.keys()
      if (thread === undefined) {
        // One that starts goes on when the review that it is for is given up: on a busy machine there would never be any.
        if (this.#starting.size < this.#queue.size) this.#start()
        return
      }
      this.#idle.get(thread)?.cancel()
      this.#idle.delete(thread)
      this.#queue.delete(waiting)
      waiting.resolve(thread)
    }
  }

  #start(): void {
    const { webhooks, threads = Math.max(1, Math.min(2, availableParallelism() - 1)), maxOldGenerationSizeMb = 512 } = this.#options
    if (this.#threads.size >= threads) return
    const worker = new Worker(script, {
      workerData: writeThreadWebhooks(webhooks),
      resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb },
      name: 'proreus-review',
    })
    worker.unref()
    const thread = new ReviewThread(worker)
    this.#threads.add(thread)
    this.#starting.add(thread)
    worker.once('message', () => this.#ready(thread))
    worker.on('error', (error) => {
      const [first] = this.#starting.has(thread) ? this.#queue : []
      if (first !== undefined) this.#queue.delete(first)
      first?.reject(error)
      void this.#end(thread, error)
    })
  }

  async #end(thread: ReviewThread, error?: unknown): Promise<void> {
    this.#idle.get(thread)?.cancel()
    this.#idle.delete(thread)
    this.#threads.delete(thread)
    this.#starting.delete(thread)
    await thread.end(error)
    this.#next()
  }
}

/** What an error of the thread is here. */
const errors: Readonly<Record<'MalformedReview' | 'BodyRefused' | 'Error', (message: string) => Error>> = {
  MalformedReview: (message) => new MalformedReview(message),
  BodyRefused: (message) => new BodyRefused(413, message),
  Error: (message) => new Error(message),
}

interface WaitingCall {
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** One thread, which a single review uses at a time. */
export class ReviewThread {
  readonly #worker: Worker
  #call: WaitingCall | undefined
  #ended: { readonly reason: unknown } | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (reply: WorkerReply) => this.#settle(reply))
  }

  /** Whether a call waits for its answer. */
  get isBusy(): boolean {
    return this.#call !== undefined
  }

  /**
   * Calls the thread; one call at a time. The buffers in `moved` are the thread's from then on.
   *
   * @throws what the thread throws, or why it has ended.
   */
  call<Method extends keyof WorkerCalls>(
    method: Method,
    argument: Parameters<WorkerCalls[Method]>[0],
    moved: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<WorkerCalls[Method]>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended.reason as Error)
    return new Promise((resolve, reject) => {
      this.#call = { resolve, reject }
      this.#worker.postMessage({ method, argument } satisfies WorkerMessage, moved)
    })
  }

  /** Has the thread forget its review. */
  forget(): void {
    this.#worker.postMessage(undefined satisfies WorkerMessage)
  }

  async end(reason: unknown): Promise<void> {
    this.#ended ??= { reason }
    this.#call?.reject(reason)
    this.#call = undefined
    await this.#worker.terminate()
  }

  #settle(reply: WorkerReply): void {
    const call = this.#call
    // The first message says that the thread listens.
    if (call === undefined) return
    this.#call = undefined
    if ('value' in reply) call.resolve(reply.value as never)
    else call.reject(errors[reply.error](reply.message))
  }
}
