/** Sends responses. Most responses are short, but the patch of a large object can have several megabytes. */
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { expectEarlyRequest, longAnswer } from '../../runtime/early-request.ts'

/** Number of bytes that are written in one iteration of the event loop. TLS encrypts them in a fraction of a millisecond. */
const bytesPerTurn = 256 * 1024

/**
 * Sends a JSON response. TLS encrypts each write synchronously, and a long write would block other requests. Therefore, a long response is
 * split, and one chunk is written in each iteration of the event loop.
 */
export function sendAnswer(reply: Pick<FastifyReply, 'type' | 'header' | 'send' | 'raw'>, answer: string | Buffer): unknown {
  if (answer.length > longAnswer) expectEarlyRequest(reply.raw.socket)
  reply.type('application/json')
  if (answer.length <= bytesPerTurn) return reply.send(answer)
  const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer
  reply.header('content-length', bytes.length)
  return reply.send(Readable.from(piecesOf(bytes), { objectMode: false }))
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += bytesPerTurn) {
    await turn()
    yield bytes.subarray(at, at + bytesPerTurn)
  }
}
