/**
 * A pool of worker threads that evaluate large reviews. Threads start on demand and are terminated after an idle period.
 *
 * On the main thread, a large review would block the event loop, even if its JSON is parsed in slices: validation, error messages and the
 * patch also visit the whole object, and matching a single string with a pattern of the schema may take long.
 *
 * The threads return objects as JSON, which the main thread parses in slices. A structured clone is read in one step, which takes too long
 * for an object with half a million values.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../runtime/clock.ts'
import { BodyRefused } from '../body/body-refused.ts'
import { MalformedReview } from '../review/admission-review.ts'
import type { ThreadWebhook } from './thread-webhooks.ts'
import { writeThreadWebhooks } from './thread-webhooks.ts'
import type { WorkerCalls, WorkerMessage, WorkerReply } from './worker.ts'

export interface ReviewThreadOptions {
  /** The webhooks of the server. A review refers to its webhook by the index in this list. */
  readonly webhooks: readonly ThreadWebhook[]
  readonly clock: Clock
  /**
   * Maximum number of threads. Default: 1 on a machine with one or two processors, otherwise 2. The event loop also needs a processor, and
   * two threads suffice, because large reviews are rare.
   */
  readonly threads?: number | undefined
  /**
   * Heap limit of each thread in MiB. A review that needs more memory fails. With less than about 32 MiB, V8 may abort the process when a
   * thread starts. Default 512, which is enough for two objects of maximum size.
   */
  readonly maxOldGenerationSizeMb?: number | undefined
}

/**
 * Limit of V8's young generation in each thread, in MiB. A thread never releases the memory of its young generation, and V8's default limit
 * is many times larger.
 */
const maxYoungGenerationSizeMb = 8
/** Milliseconds after which an idle thread is terminated. An idle thread takes about 20 MB. */
const idleMs = 10_000

const script = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

/** A review that waits for a free thread. */
interface Waiting {
  readonly resolve: (thread: ReviewThread) => void
  readonly reject: (error: unknown) => void
}

export class ReviewThreads {
  readonly #options: ReviewThreadOptions
  readonly #threads = new Set<ReviewThread>()
  /** Threads that are still starting: they have not sent their first message. */
  readonly #starting = new Set<ReviewThread>()
  readonly #idle = new Map<ReviewThread, Timer>()
  readonly #queue = new Set<Waiting>()

  constructor(options: ReviewThreadOptions) {
    this.#options = options
  }

  /** The current number of threads. */
  get size(): number {
    return this.#threads.size
  }

  /**
   * Resolves to a thread, and reserves this thread for one review until `release` is called.
   *
   * @throws the reason of `signal` when the signal aborts before a thread is free.
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

  /** Returns a thread to the pool. A thread with an unfinished call is terminated, because the call cannot be interrupted. */
  release(thread: ReviewThread): void {
    // The thread may have exited during the review.
    if (!this.#threads.has(thread)) return
    if (thread.isBusy) {
      void this.#end(thread, new Error('the review was aborted'))
      return
    }
    thread.forget()
    this.#ready(thread)
  }

  /** Rejects all waiting reviews, and terminates all threads. */
  async stop(): Promise<void> {
    const reason = new Error('the server ends')
    for (const { reject } of this.#queue) reject(reason)
    this.#queue.clear()
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, reason)))
  }

  #ready(thread: ReviewThread): void {
    this.#starting.delete(thread)
    thread.rest()
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
        // A new thread is started only if more reviews are waiting than threads are starting. A starting thread still counts after the
        // review that it was started for is aborted. If such a thread did not count, each new review on a busy machine might start one more
        // thread, and none of the threads would become ready.
        if (this.#starting.size < this.#queue.size) this.#start()
        return
      }
      this.#idle.get(thread)?.cancel()
      this.#idle.delete(thread)
      this.#queue.delete(waiting)
      thread.reserve()
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

/** Functions that recreate an error of a worker thread on the main thread. The key is the name of the error's class. */
const errors: Readonly<Record<'MalformedReview' | 'BodyRefused' | 'Error', (message: string) => Error>> = {
  MalformedReview: (message) => new MalformedReview(message),
  BodyRefused: (message) => new BodyRefused(413, message),
  Error: (message) => new Error(message),
}

interface WaitingCall {
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** One worker thread, which evaluates one review at a time. */
export class ReviewThread {
  readonly #worker: Worker
  #call: WaitingCall | undefined
  #ended: { readonly reason: unknown } | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (reply: WorkerReply) => this.#settle(reply))
  }

  /** True while a method of the thread has been called and has not returned. */
  get isBusy(): boolean {
    return this.#call !== undefined
  }

  /**
   * Calls a method of the thread. Only one call at a time is possible. The buffers in `moved` are transferred to the thread.
   *
   * @throws the error that the method threw, or the reason why the thread has exited.
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

  /** Prevents the process from ending while the thread works on a review. */
  reserve(): void {
    this.#worker.ref()
  }

  /** Lets the process end while the thread is idle. */
  rest(): void {
    this.#worker.unref()
  }

  /** Makes the thread release the objects of the review. */
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
    // The first message of the thread reports that the thread is ready, and belongs to no call.
    if (call === undefined) return
    this.#call = undefined
    if ('value' in reply) call.resolve(reply.value as never)
    else call.reject(errors[reply.error](reply.message))
  }
}
