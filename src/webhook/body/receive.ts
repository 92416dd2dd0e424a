/** Receives the bytes of a body, within the limit of one and the memory for all. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock, Timer } from '../../api/clock.ts'
import { deadlineFrom } from '../deadline.ts'
import type { Charge, MemoryBudget } from './budget.ts'
import { requestCost, smallBytes, smallCost } from './budget.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { BodyRefused } from './refused.ts'

const responseField = Symbol('response')
const receivedField = Symbol('received')

/** What is known of a request's body. */
interface Received {
  /** What the request takes of the memory budget, until it is done with. */
  readonly charge: Charge
  /** When its headers had arrived, by the clock. */
  readonly began: number
}

declare module 'fastify' {
  interface FastifyRequest {
    [responseField]: ServerResponse | null
    [receivedField]: Received | null
  }
}

/** What there is of the body of a request; undefined for one that has none. */
export function receivedOf(request: { readonly [receivedField]: Received | null }): Received | undefined {
  return request[receivedField] ?? undefined
}

interface ReceiveOptions {
  /** What is sent, for messages. */
  readonly what: 'AdmissionReview' | 'ConversionReview'
  readonly maxBytes: number
  /** What to do about a body that is larger, for the message. */
  readonly advice?: string
  readonly budget: MemoryBudget
  readonly clock: Clock
  /** What a body takes once it is read, its own bytes included. */
  readonly costOf: (bytes: Buffer) => number
}

/** What a body may come in: in chunks of so many bytes on average, but for the first ones. Each chunk costs a microsecond, whatever is in it. */
const leastChunkBytes = 64
const freeChunks = 256

/** Has an app's JSON bodies received here, and not by fastify, so that they can be counted while they arrive; routes get their bytes. */
export function receiveBodies(app: FastifyInstance, options: ReceiveOptions): void {
  // A field of every request, and no map: that would cost the garbage collector more than the request itself.
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

/** Gives the whole body to `done`, or a `BodyRefused`. What it takes of the budget is given back when the response is done with. */
class Receiver implements Received {
  readonly charge: Charge
  readonly began: number
  readonly #request: IncomingMessage
  readonly #timeout: unknown
  readonly #options: ReceiveOptions
  readonly #done: (error: Error | null, bytes?: Buffer) => void
  /** What the sender says that it sends; else no more than is taken. */
  readonly #announced: number
  #size = 0
  #chunks = 0
  #settled = false
  /** All of it, where it came in one piece. */
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
    // The listeners stay, which costs less than to take them off: what comes after the end is for nobody.
    request.on('data', (chunk: Buffer) => this.#add(chunk))
    request.on('end', () => this.#complete())
    // Its sender has hung up, or does not speak HTTP.
    request.on('error', (error) => this.#settle(new BodyRefused(400, `The body could not be received: ${error.message}`)))
    request.on('close', () => {
      // It is closed after its end, too, and may wait for memory then.
      if (!request.complete) this.#settle(gone())
    })
  }

  #add(chunk: Buffer): void {
    // The rest of what is refused is read and forgotten, so that the answer gets through.
    if (this.#settled) return
    this.#size += chunk.length
    this.#chunks += 1
    if (this.#size < (this.#chunks - freeChunks) * leastChunkBytes) {
      return this.#endConnection(new BodyRefused(400, `The body comes in chunks of less than ${leastChunkBytes} bytes.`))
    }
    if (this.#size > this.#options.maxBytes) return this.#settle(this.#tooLarge())
    if (this.#bytes === undefined) {
      // Mostly it comes in one piece, of which nothing needs to be copied.
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
    this.charge.peerDone()
    this.#finish(this.#only ?? this.#bytes?.whole() ?? Buffer.alloc(0))
  }

  /** All is there: it is read once there is room for what comes of it. */
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

  /** Goes on at once where there is memory for `bytes` more, else as soon as there is; until then nothing is read of the connection. */
  #withRoom(bytes: number, goOn: () => void, isPart = false): void {
    if (bytes <= 0 || this.charge.grow(bytes, isPart)) return goOn()
    const { clock, budget } = this.#options
    this.#request.pause()
    this.charge.peerDone()
    // Not sooner: the API server does not send what was refused again, but fails what its user wants.
    this.#patience ??= clock.after(deadlineFrom(this.#timeout) - (clock.monotonicNow() - this.began), () => {
      const text = `The requests in flight take ${budget.used} of the ${budget.total} bytes that there are for them, and have done so for as long as this one could wait`
      this.#settle(new BodyRefused(429, `${text}: ${limitAdvice}, or try again.`))
      this.#request.resume()
    })
    const onRoom = (): void => {
      if (this.#settled) return
      goOn()
      if (this.#bytes !== undefined && !this.#request.readableEnded) this.#awaitSender()
      this.#request.resume()
    }
    this.charge.growLater(bytes, onRoom, isPart)
  }

  #awaitSender(): void {
    this.charge.waitsForPeer(() => this.#endConnection(new BodyRefused(408, 'The body came too slowly while others waited for memory.')))
  }

  /** Refuses a body of which not even the rest shall be read. */
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

/** What gives more room. */
export const limitAdvice = 'raise the memory limit of the container (or --memory-limit, run({ memoryLimitBytes }))'
