import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import { sendAnswer } from '../../../src/webhook/body/send.ts'

const answers: [string, string | Buffer, number][] = [
  ['a short text', '{"a":"é"}', 1],
  ['short bytes', Buffer.from('{"a":"é"}'), 1],
  ['a long text', JSON.stringify('é'.repeat(500_000)), 4],
  ['long bytes', Buffer.from(JSON.stringify('x'.repeat(1_000_000))), 4],
]

t.test('a long answer is written in pieces, one per turn of the event loop', async (t) => {
  for (const [name, answer, pieces] of answers) {
    const app = fastify()
    const turnsOfPieces: number[] = []
    let turns = 0
    let timer = setImmediate(function count() {
      turns += 1
      timer = setImmediate(count)
    })
    app.get('/', (_request, reply) => {
      const { raw } = reply
      const write = raw.write.bind(raw) as (chunk: unknown) => boolean
      raw.write = (chunk: unknown) => (turnsOfPieces.push(turns), write(chunk))
      sendAnswer(reply, answer)
    })
    const { rawPayload, headers } = await app.inject('/')
    clearImmediate(timer)
    await app.close()
    t.ok(rawPayload.equals(Buffer.from(answer)), name)
    t.equal(headers['content-length'], String(rawPayload.length), name)
    t.match(headers['content-type'], 'application/json')
    t.equal(Math.max(1, turnsOfPieces.length), pieces, name)
    t.equal(new Set(turnsOfPieces).size, turnsOfPieces.length, name)
  }
})

t.test('an answer of 256 KiB is one piece, one byte more makes two', async (t) => {
  for (const [length, pieces] of [
    [256 * 1024, [256 * 1024]],
    [256 * 1024 + 1, [256 * 1024, 1]],
    [512 * 1024, [256 * 1024, 256 * 1024]],
  ] as const) {
    const app = fastify()
    const sent: number[] = []
    let isWhole = false
    app.get('/', (_request, reply) => {
      const body = Buffer.alloc(length, 'x')
      const send = reply.send.bind(reply)
      const recording = Object.assign(Object.create(reply) as FastifyReply, {
        send: (answer: Buffer | Readable) => {
          isWhole = Buffer.isBuffer(answer)
          return send(
            Buffer.isBuffer(answer) ? (sent.push(answer.length), answer) : answer.on('data', (piece: Buffer) => sent.push(piece.length)),
          )
        },
      })
      sendAnswer(recording, body)
    })
    const { rawPayload, headers } = await app.inject('/')
    await app.close()
    t.strictSame(sent, pieces)
    t.equal(isWhole, pieces.length === 1, 'one piece is sent at once')
    t.strictSame([rawPayload.length, headers['content-length']], [length, String(length)])
    t.match(headers['content-type'], /^application\/json/)
  }
})

t.test('a connection with a long answer reads the next request before the answer is fetched', (t) => {
  const listeners = (answer: string): number => {
    const socket = new Socket()
    const reply = { raw: { socket }, type: () => reply, header: () => reply, send: () => reply } as unknown as FastifyReply
    sendAnswer(reply, answer)
    return socket.listenerCount('data')
  }
  t.equal(listeners('x'.repeat(16 * 1024)), 0)
  t.equal(listeners('x'.repeat(16 * 1024 + 1)), 1)
  t.end()
})
