/** Delegates the evaluation of a review from the main thread to a worker thread. */
import { setImmediate as turn } from 'node:timers/promises'
import type { ErrorList } from '../../api/error-list.ts'
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { JsonReader } from '../../api/json-reader.ts'
import type { AdmissionRequest, AdmissionResponse, WrittenAnswer } from '../review/admission-review.ts'
import { encodeReview, peekRequest } from '../review/admission-review.ts'
import { writeDelta } from './thread-delta.ts'
import type { Evaluation, Found, ReviewedObjects, Verb } from './evaluation.ts'
import type { ReviewThread, ReviewThreads } from './review-threads.ts'

/** Number of values that are parsed or serialized in one iteration of the event loop. This takes about a millisecond. */
const valuesPerTurn = 5000

interface OffloadOptions {
  readonly threads: ReviewThreads
  /** The index of the webhook in `ReviewThreadOptions.webhooks`. */
  readonly webhook: number
  readonly verb: Verb
}

export class OffloadedEvaluation implements Evaluation {
  request: AdmissionRequest | undefined
  readonly #options: OffloadOptions
  readonly #bytes: Buffer
  #thread: ReviewThread | undefined
  #signal: AbortSignal | undefined
  #found: Found | undefined
  /** Initially the object that `objects` returns. When a handler returns another object, this field is set to the returned object. */
  #object: JsonObject | undefined

  /** @param bytes the body, whose memory is transferred to the worker thread. */
  constructor(bytes: Buffer, options: OffloadOptions) {
    this.#bytes = bytes
    this.#options = options
    this.request = peekRequest(bytes)
  }

  async begin({ signal }: { readonly signal: AbortSignal }): Promise<Found> {
    const { threads, webhook, verb } = this.#options
    this.#signal = signal
    this.#thread = await threads.acquire(signal)
    signal.addEventListener('abort', () => this.close(), { once: true })
    if (signal.aborted) this.close()
    const bytes = ownBuffer(this.#bytes)
    this.#found = await this.#openThread().call('begin', { webhook, verb, bytes }, [bytes])
    this.request = this.#found.request
    return this.#found
  }

  async objects(): Promise<ReviewedObjects> {
    const { object, oldObject } = await this.#openThread().call('objects', undefined)
    this.#object = await this.#read(object)
    return { object: this.#object, oldObject: await this.#read(oldObject) }
  }

  async change(object: JsonObject): Promise<ErrorList> {
    const delta = writeDelta(object, this.#object!, valuesPerTurn)
    let written = delta.next()
    for (; written.done !== true; written = delta.next()) await this.#nextTurn()
    this.#object = object
    return await this.#openThread().call('change', written.value)
  }

  async answer(response: AdmissionResponse): Promise<WrittenAnswer> {
    const mayHavePatch = response.allowed && this.#options.verb === 'mutate' && this.#found?.applies === true
    if (!mayHavePatch) return encodeReview(this.request!.uid, response)
    const { text, patch } = await this.#openThread().call('answer', response)
    return { text: Buffer.from(text), patch }
  }

  close(): void {
    const thread = this.#thread
    // After the release, another review may use the thread. This evaluation must therefore not use the thread again.
    this.#thread = undefined
    if (thread !== undefined) this.#options.threads.release(thread)
  }

  /**
   * Returns the thread of this evaluation.
   *
   * @throws when the review has been aborted or closed.
   */
  #openThread(): ReviewThread {
    this.#signal?.throwIfAborted()
    if (this.#thread === undefined) throw new Error('the review has been closed')
    return this.#thread
  }

  /** Parses and freezes an object. Other requests can run after every `valuesPerTurn` values. */
  async #read(json: ArrayBuffer | undefined): Promise<JsonObject | undefined> {
    if (json === undefined) return undefined
    const reader = new JsonReader(Buffer.from(json).toString('utf8'), { freeze: true })
    while (!reader.read(valuesPerTurn)) await this.#nextTurn()
    return isObject(reader.value) ? reader.value : undefined
  }

  async #nextTurn(): Promise<void> {
    await turn()
    this.#signal?.throwIfAborted()
  }
}

/** Returns an ArrayBuffer that contains only these bytes. A transfer to a thread always moves a whole ArrayBuffer. */
function ownBuffer(bytes: Buffer): ArrayBuffer {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? buffer : new Uint8Array(bytes).buffer
}
