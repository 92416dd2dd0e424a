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
  /** Of each thread; a review that needs more fails. Default 512: enough for two objects of the largest kind. */
  readonly maxOldGenerationSizeMb?: number | undefined
}

/** V8's own choice is many times that, which a thread would keep. */
const maxYoungGenerationSizeMb = 8
/** How long a thread waits for the next review. It holds some 20 MB. */
const idleMs = 10_000

const script = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

interface Thread {
  readonly worker: Worker
  lease: ThreadLease | undefined
  idle: Timer | undefined
}

/** The use of a thread by one review, from when there is one until `release`. */
export interface Lease {
  /**
   * Calls the thread; one call at a time.
   *
   * @throws what the thread throws, or the reason of the release.
   */
  call<Method extends keyof WorkerCalls>(
    method: Method,
    argument: Parameters<WorkerCalls[Method]>[0],
    moved?: readonly ArrayBuffer[],
  ): Promise<ReturnType<WorkerCalls[Method]>>
  /** Gives the thread to the next review; one that is at a call cannot be told to stop, and is ended. May be called again. */
  release(reason: unknown): void
}

export class ReviewThreads {
  readonly #options: ReviewThreadOptions
  readonly #threads = new Set<Thread>()
  readonly #queue: ThreadLease[] = []

  constructor(options: ReviewThreadOptions) {
    this.#options = options
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size
  }

  /** The use of a thread, which may have to be waited for: the first call does. */
  lease(): Lease {
    const lease = new ThreadLease((released, isWaiting) => this.#released(released, isWaiting))
    this.#queue.push(lease)
    this.#next()
    return lease
  }

  /** Ends all threads. */
  async stop(): Promise<void> {
    const reason = new Error('the server ends')
    for (const lease of this.#queue.splice(0)) lease.fail(reason)
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, reason)))
  }

  #next(): void {
    while (this.#queue.length > 0) {
      const thread = [...this.#threads].find(({ lease }) => lease === undefined) ?? this.#start()
      if (thread === undefined) return
      thread.idle?.cancel()
      thread.lease = this.#queue.shift()!
      thread.lease.begin(thread.worker)
    }
  }

  #start(): Thread | undefined {
    const { webhooks, threads = Math.max(1, Math.min(2, availableParallelism() - 1)), maxOldGenerationSizeMb = 512 } = this.#options
    if (this.#threads.size >= threads) return undefined
    const worker = new Worker(script, {
      workerData: writeThreadWebhooks(webhooks),
      resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb },
      name: 'proreus-review',
    })
    worker.unref()
    const thread: Thread = { worker, lease: undefined, idle: undefined }
    this.#threads.add(thread)
    worker.on('message', (reply: WorkerReply) => thread.lease?.settle(reply))
    worker.on('error', (error) => void this.#end(thread, error))
    return thread
  }

  #released(lease: ThreadLease, isWaiting: boolean): void {
    const index = this.#queue.indexOf(lease)
    if (index >= 0) this.#queue.splice(index, 1)
    const thread = [...this.#threads].find((one) => one.lease === lease)
    if (thread === undefined) return
    if (isWaiting) {
      void this.#end(thread)
      return
    }
    thread.lease = undefined
    thread.worker.postMessage(undefined satisfies WorkerMessage)
    thread.idle = this.#options.clock.after(idleMs, () => void this.#end(thread))
    this.#next()
  }

  async #end(thread: Thread, error?: unknown): Promise<void> {
    thread.idle?.cancel()
    this.#threads.delete(thread)
    thread.lease?.fail(error)
    thread.lease = undefined
    await thread.worker.terminate()
    this.#next()
  }
}

interface Waiting {
  readonly message: WorkerMessage
  readonly moved: readonly ArrayBuffer[]
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

class ThreadLease implements Lease {
  readonly #onRelease: (lease: ThreadLease, isWaiting: boolean) => void
  #worker: Worker | undefined
  #waiting: Waiting | undefined
  /** Why there are no more calls. */
  #ended: { readonly reason: unknown } | undefined

  /** @param onRelease is told whether a call was waiting for its answer. */
  constructor(onRelease: (lease: ThreadLease, isWaiting: boolean) => void) {
    this.#onRelease = onRelease
  }

  call<Method extends keyof WorkerCalls>(
    method: Method,
    argument: Parameters<WorkerCalls[Method]>[0],
    moved: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<WorkerCalls[Method]>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended.reason as Error)
        return
      }
      this.#waiting = { message: { method, argument }, moved, resolve, reject }
      this.#post()
    })
  }

  begin(worker: Worker): void {
    this.#worker = worker
    this.#post()
  }

  settle(reply: WorkerReply): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if ('value' in reply) waiting?.resolve(reply.value as never)
    else waiting?.reject(errorOf(reply))
  }

  release(reason: unknown): void {
    if (this.#ended !== undefined) return
    const isWaiting = this.#waiting !== undefined
    this.fail(reason)
    this.#onRelease(this, isWaiting)
  }

  /** Lets what is waiting, and what will, fail with the error. */
  fail(error: unknown): void {
    this.#ended ??= { reason: error }
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  #post(): void {
    if (this.#waiting !== undefined) this.#worker?.postMessage(this.#waiting.message, this.#waiting.moved)
  }
}

function errorOf({ failure, message }: Extract<WorkerReply, { failure: string }>): Error {
  switch (failure) {
    case 'malformed':
      return new MalformedReview(message)
    case 'refused':
      return new BodyRefused(413, message)
    case 'error':
      return new Error(message)
  }
}
