/** Receives the bodies of requests, within the size limit of one body and the memory budget of all requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock, Timer } from '../../runtime/clock.ts'
import { deadlineFrom } from '../review/handler-deadline.ts'
import type { Charge, MemoryBudget } from './memory-budget.ts'
import { requestCost, smallBytes, smallCost } from './memory-budget.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { BodyRefused } from './body-refused.ts'

const responseField = Symbol('response')
const receivedField = Symbol('received')

/** The reserved memory and the start time of a request with a body. */
interface Received {
  /** The memory that is reserved for the request until its response is closed. */
  readonly charge: Charge
  /** The monotonic time in milliseconds at which all headers had arrived. */
  readonly began: number
}

declare module 'fastify' {
  interface FastifyRequest {
    [responseField]: ServerResponse | null
    [receivedField]: Received | null
  }
}

/** Returns the reserved memory and the start time of a request; undefined for a request without a body. */
export function receivedOf(request: { readonly [receivedField]: Received | null }): Received | undefined {
  return request[receivedField] ?? undefined
}

interface ReceiveOptions {
  /** The kind of the expected body, for error messages. */
  readonly what: 'AdmissionReview' | 'ConversionReview'
  readonly maxBytes: number
  /** Advice that is appended to the error message when a body is too large. */
  readonly advice?: string
  readonly budget: MemoryBudget
  readonly clock: Clock
  /** Estimates the memory in bytes that a body needs when it is parsed, including the body itself. */
  readonly costOf: (bytes: Buffer) => number
}

/**
 * Minimum average size in bytes of the chunks of a body. The first `freeChunks` chunks are not counted. A body with a smaller average is
 * rejected, because even a small chunk costs a microsecond of processor time.
 */
const leastChunkBytes = 64
const freeChunks = 256

/** Replaces fastify's JSON parser. While a body arrives, its bytes count against the memory budget. Routes receive the unparsed bytes. */
export function receiveBodies(app: FastifyInstance, options: ReceiveOptions): void {
  // The state of a request is stored in properties of the request object. A `Map` from requests to their states would cost the garbage
  // collector more time than these properties.
  if (!app.hasRequestDecorator(responseField)) {
    app.decorateRequest(responseField, null)
    app.decorateRequest(receivedField, null)
  }
  app.addHook('onRequest', (request, reply, next) => {
    request[responseField] = reply.raw
    next()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, _payload, done) => {
    const receiver = new Receiver(request.raw, (request.query as { timeout?: unknown }).timeout, options, done)
    request[receivedField] = receiver
    receiver.start(request[responseField]!)
  })
}

/**
 * Receives one body, and calls `done` with the complete body or with a `BodyRefused`. When the body is rejected or the response is closed,
 * the memory that is reserved for the request is released.
 */
class Receiver implements Received {
  readonly charge: Charge
  readonly began: number
  readonly #request: IncomingMessage
  readonly #timeout: unknown
  readonly #options: ReceiveOptions
  readonly #done: (error: Error | null, bytes?: Buffer) => void
  /** The value of the header `Content-Length`. If the header is absent, the value is the size limit. */
  readonly #announced: number
  #size = 0
  #chunks = 0
  #settled = false
  /** The complete body, if it arrived in one chunk. */
  #only: Buffer | undefined
  #bytes: GrowingBytes | undefined
  #patience: Timer | undefined

  constructor(request: IncomingMessage, timeout: unknown, options: ReceiveOptions, done: (error: Error | null, bytes?: Buffer) => void) {
    const { maxBytes, budget, clock } = options
    this.charge = budget.open()
    this.began = clock.monotonicNow()
    this.#request = request
    this.#timeout = timeout
    this.#options = options
    this.#done = done
    this.#announced = Number(request.headers['content-length'] ?? maxBytes)
  }

  start(response: ServerResponse): void {
    if (this.#announced > this.#options.maxBytes) return this.#done(this.#tooLarge())
    response.on('close', () => {
      if (!this.#settled) this.#settle(gone())
      this.#release()
    })
    this.#withRoom(requestCost, () => this.#listen())
  }

  #listen(): void {
    const request = this.#request
    // The listeners are never removed, because removing them costs time. They ignore events after the end of the body.
    request.on('data', (chunk: Buffer) => this.#add(chunk))
    request.on('end', () => this.#complete())
    // This event means that the client has closed the connection or sent invalid HTTP.
    request.on('error', (error) => this.#settle(new BodyRefused(400, `The body could not be received: ${error.message}`)))
    request.on('close', () => {
      // The event 'close' is also emitted when the body is complete. A complete body may still wait for memory, so only an incomplete body
      // is rejected here.
      if (!request.complete) this.#settle(gone())
    })
  }

  #add(chunk: Buffer): void {
    // The remaining chunks of a rejected body are read and dropped. Some clients read the response only after they have sent the whole
    // body.
    if (this.#settled) return
    this.#size += chunk.length
    this.#chunks += 1
    if (this.#size < (this.#chunks - freeChunks) * leastChunkBytes) {
      return this.#endConnection(new BodyRefused(400, `The body comes in chunks of less than ${leastChunkBytes} bytes.`))
    }
    if (this.#size > this.#options.maxBytes) return this.#settle(this.#tooLarge())
    if (this.#bytes === undefined) {
      // Most bodies arrive in one chunk. Such a chunk is used without a copy.
      if (this.#size === this.#announced && this.#size <= smallBytes) {
        this.#only = chunk
        return
      }
      this.#bytes = new GrowingBytes(this.#announced)
      this.#awaitSender()
    }
    const bytes = this.#bytes
    this.#withRoom(bytes.roomFor(chunk.length) - bytes.room, () => bytes.push(chunk), true)
  }

  #complete(): void {
    if (this.#settled) return
    this.#finish(this.#only ?? this.#bytes?.whole() ?? Buffer.alloc(0))
  }

  /** Waits until there is memory to parse the complete body, and then passes the body to `done`. */
  #finish(bytes: Buffer): void {
    const { costOf, budget, what } = this.#options
    const cost = requestCost + costOf(bytes)
    if (cost > budget.reserve && cost > smallCost) {
      const text = `The ${what} takes up to ${cost} bytes of memory when it is read, and ${budget.reserve} are there for one`
      return this.#settle(new BodyRefused(413, `${text}: ${limitAdvice}.`))
    }
    this.#withRoom(cost - this.charge.bytes, () => this.#settle(null, bytes))
  }

  #settle(error: Error | null, bytes?: Buffer): void {
    if (this.#settled) return
    this.#settled = true
    this.#patience?.cancel()
    this.charge.peerDone()
    if (error !== null) this.#release()
    this.#done(error, bytes)
  }

  #release(): void {
    this.charge.release()
    this.#bytes?.free()
    this.#bytes = undefined
  }

  /**
   * Reserves `bytes` additional bytes, and then calls `goOn`. If the budget has no room yet, pauses the connection until the budget has
   * room.
   */
  #withRoom(bytes: number, goOn: () => void, isPart = false): void {
    if (bytes <= 0 || this.charge.grow(bytes, isPart)) return goOn()
    const { clock, budget } = this.#options
    this.#request.pause()
    this.charge.peerDone()
    // A request that waits for memory is rejected only at its deadline. If it were rejected earlier with `Retry-After`, the API server
    // would send the whole request again, and the new request might have to wait as well.
    this.#patience ??= clock.after(deadlineFrom(this.#timeout, clock.monotonicNow() - this.began), () => {
      const text = `The requests in flight take ${budget.used} of the ${budget.total} bytes that there are for them, and have done so for as long as this one could wait`
      this.#settle(new BodyRefused(429, `${text}: ${limitAdvice}, or try again.`))
      this.#request.resume()
    })
    const onRoom = (): void => {
      goOn()
      if (this.#bytes !== undefined && !this.#request.readableEnded) this.#awaitSender()
      this.#request.resume()
    }
    this.charge.growLater(bytes, onRoom, isPart)
  }

  #awaitSender(): void {
    this.charge.waitsForPeer(() => this.#endConnection(new BodyRefused(408, 'The body came too slowly while others waited for memory.')))
  }

  /** Rejects a body and closes the connection without reading the rest of the body. */
  #endConnection(error: BodyRefused): void {
    this.#settle(error)
    this.#request.destroy()
  }

  #tooLarge(): BodyRefused {
    const { what, maxBytes, advice } = this.#options
    return new BodyRefused(413, `The ${what} is larger than ${maxBytes} bytes${advice === undefined ? '.' : `: ${advice}.`}`)
  }
}

function gone(): BodyRefused {
  return new BodyRefused(400, 'The connection was closed before the body was complete.')
}

/** Advice for error messages about the memory budget. */
export const limitAdvice = 'raise the memory limit of the container (or --memory-limit, run({ memoryLimitBytes }))'
