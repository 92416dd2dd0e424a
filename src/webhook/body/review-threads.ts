/**
 * A few threads that judge large reviews. They start with the first of them and end when there are no more.
 *
 * Threads, and not a parser that yields, because parsing is the smaller part: to validate, to explain what is wrong and to write a
 * patch of the same object are walks as long again, and the patterns of a schema may take long for each text. And what
 * comes back are bytes: to clone an object of half a million values from a thread holds up the event loop for as long as to parse it.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../api/clock.ts'
import type { CombinedWebhook } from '../combine.ts'
import type { ReviewJob, ReviewResult } from './review-worker.ts'
import { writeThreadKinds } from './thread-kinds.ts'

/** As many as leave a processor to the event loop, and no more than two: large reviews are rare. */
const maxThreads = Math.max(1, Math.min(2, availableParallelism() - 1))
/** How long a thread waits for the next review. It holds some 20 MB. */
const idleMs = 10_000
/** Enough for two objects of the largest kind, and an end to what would take all memory. */
const maxHeapMegabytes = 512

const script = new URL(import.meta.url.endsWith('.ts') ? './review-worker.ts' : './review-worker.js', import.meta.url)

interface Waiting {
  readonly job: ReviewJob
  readonly resolve: (result: ReviewResult) => void
  readonly reject: (error: unknown) => void
}

interface Thread {
  readonly worker: Worker
  current: Waiting | undefined
  idle: Timer | undefined
}

/** A review of one of the webhooks. */
export interface AskedReview extends Omit<ReviewJob, 'webhook'> {
  readonly webhook: CombinedWebhook
}

export class ReviewThreads {
  readonly #webhooks: readonly CombinedWebhook[]
  readonly #clock: Clock
  readonly #threads = new Set<Thread>()
  readonly #queue: Waiting[] = []

  constructor(webhooks: readonly CombinedWebhook[], clock: Clock) {
    this.#webhooks = webhooks
    this.#clock = clock
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size
  }

  /**
   * Judges a review. `bytes` are moved to the thread, and come back with the result.
   *
   * @throws the reason of `signal` when it aborts first; a thread that is at it is ended.
   */
  async review(job: AskedReview, signal: AbortSignal): Promise<ReviewResult> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<ReviewResult>()
    const waiting: Waiting = { job: { ...job, webhook: this.#webhooks.indexOf(job.webhook) }, resolve, reject }
    const onAbort = (): void => {
      reject(signal.reason)
      this.#giveUp(waiting)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#queue.push(waiting)
    this.#next()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Ends all threads. */
  async stop(): Promise<void> {
    for (const { reject } of this.#queue.splice(0)) reject(new Error('the server ends'))
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, new Error('the server ends'))))
  }

  #next(): void {
    while (this.#queue.length > 0) {
      const thread = [...this.#threads].find(({ current }) => current === undefined) ?? this.#start()
      if (thread === undefined) return
      thread.idle?.cancel()
      const waiting = this.#queue.shift()!
      thread.current = waiting
      thread.worker.postMessage(waiting.job, [waiting.job.bytes])
    }
  }

  #start(): Thread | undefined {
    if (this.#threads.size >= maxThreads) return undefined
    const worker = new Worker(script, {
      workerData: writeThreadKinds(this.#webhooks),
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes },
      name: 'proreus-review',
    })
    worker.unref()
    const thread: Thread = { worker, current: undefined, idle: undefined }
    this.#threads.add(thread)
    worker.on('message', (result: ReviewResult) => {
      thread.current?.resolve(result)
      thread.current = undefined
      thread.idle = this.#clock.after(idleMs, () => void this.#end(thread))
      this.#next()
    })
    worker.on('error', (error) => void this.#end(thread, error))
    return thread
  }

  #giveUp(waiting: Waiting): void {
    const index = this.#queue.indexOf(waiting)
    if (index >= 0) this.#queue.splice(index, 1)
    const thread = [...this.#threads].find(({ current }) => current === waiting)
    // It cannot be told to stop, only be ended.
    if (thread !== undefined) void this.#end(thread)
  }

  async #end(thread: Thread, error?: unknown): Promise<void> {
    thread.idle?.cancel()
    this.#threads.delete(thread)
    thread.current?.reject(error)
    thread.current = undefined
    await thread.worker.terminate()
    this.#next()
  }
}
