/** Receives the bytes of a body, within the limit of one and the budget of all. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { ByteBudget } from './budget.ts'
import { smallBytes } from './budget.ts'
import { BodyRefused } from './refused.ts'

const responseField = Symbol('response')

declare module 'fastify' {
  interface FastifyRequest {
    [responseField]: ServerResponse | null
  }
}

export interface ReceiveOptions {
  /** What is sent, for messages. */
  readonly what: 'AdmissionReview' | 'ConversionReview'
  readonly maxBytes: number
  readonly budget: ByteBudget
}

/** Has an app's JSON bodies received here, and not by fastify, so that they can be counted while they arrive; `read` makes of their bytes what routes get. */
export function receiveBodies(app: FastifyInstance, options: ReceiveOptions, read: (bytes: Buffer) => unknown): void {
  // A field of every request, and no map: that would cost the garbage collector more than the request itself.
  if (!app.hasRequestDecorator(responseField)) app.decorateRequest(responseField, null)
  app.addHook('onRequest', (request, reply, next) => {
    request[responseField] = reply.raw
    next()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, _payload, done) => {
    receive(request.raw, request[responseField]!, options, (error, bytes) => {
      if (error !== null) return done(error)
      try {
        const body = read(bytes!)
        if (body instanceof Promise) body.then((value) => done(null, value), done)
        else done(null, body)
      } catch (problem) {
        done(problem as Error)
      }
    })
  })
}

/** Gives the whole body to `done`, or a `BodyRefused`. What it takes of the budget is given back when `response` is done with. */
function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { what, maxBytes, budget }: ReceiveOptions,
  done: (error: Error | null, bytes?: Buffer) => void,
): void {
  let taken = 0
  let size = 0
  let settled = false
  let chunks: Buffer[] = []
  const refusalOf = (total: number): BodyRefused | undefined => {
    if (total > maxBytes) return new BodyRefused(413, `The ${what} is larger than ${maxBytes} bytes.`)
    if (total <= taken) return undefined
    if (!budget.take(total - taken, total)) return overBudget(budget, total)
    taken = total
    return undefined
  }
  // Room for what is announced is taken before it comes: or many could begin and none finish.
  const refused = refusalOf(Number(request.headers['content-length'] ?? 0))
  if (refused !== undefined) return done(refused)
  response.on('close', () => budget.give(taken))
  // The listeners stay, which costs less than to take them off: what comes after the end is for nobody.
  const settle = (error: Error | null, bytes?: Buffer): void => {
    if (settled) return
    settled = true
    chunks = []
    done(error, bytes)
  }
  request.on('data', (chunk: Buffer) => {
    // The rest of what is refused is read and forgotten, so that the answer gets through.
    if (settled) return
    size += chunk.length
    chunks.push(chunk)
    const refused = refusalOf(size)
    if (refused !== undefined) settle(refused)
  })
  // What is large may be given to a thread, and must not be somebody else's memory then.
  request.on('end', () => settle(null, chunks.length === 1 && size <= smallBytes ? chunks[0]! : Buffer.concat(chunks, size)))
  // Its sender has hung up, or does not speak HTTP.
  request.on('error', (error) => settle(new BodyRefused(400, `The body could not be received: ${error.message}`)))
  request.on('close', () => settle(new BodyRefused(400, 'The connection was closed before the body was complete.')))
}

function overBudget({ total, used }: ByteBudget, size: number): BodyRefused {
  return new BodyRefused(
    429,
    `The bodies of requests in flight take ${used} bytes; ${size} for another are beyond the budget of ${total} (maxInFlightBytes). Try again.`,
  )
}
