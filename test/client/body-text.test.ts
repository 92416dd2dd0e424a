import { PassThrough, Readable } from 'node:stream'
import t from 'tap'
import { readText } from '../../src/client/body-text.ts'
import { createTransport } from '../../src/client/transport.ts'
import type { Handler } from '../support/client/server.ts'
import { startTestServer } from '../support/client/server.ts'
import { eventually } from '../support/eventually.ts'

const tooLong = (): Error => new Error('too long')
const chunked = (...parts: (string | Buffer)[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)))

t.test('a body up to the limit is returned', async (t) => {
  t.equal(await readText(chunked(), 0, tooLong), '')
  t.equal(await readText(chunked('ab', 'cd'), 4, tooLong), 'abcd')
  t.equal(await readText(chunked('abcd'), Infinity, tooLong), 'abcd')
  const check = Buffer.from('✓')
  t.equal(await readText(chunked(check.subarray(0, 1), check.subarray(1)), 3, tooLong), '✓')
  t.equal(await readText(chunked('\u{feff}a'), 4, tooLong), 'a', 'without the byte order mark')
})

t.test('a longer body is refused, or truncated, as soon as it exceeds the limit', async (t) => {
  for (const cut of [false, true]) {
    const body = new PassThrough()
    const text = cut ? readText(body, 3) : readText(body, 3, tooLong)
    body.write('ab')
    body.write('cd')
    if (cut) t.equal(await text, 'abc')
    else await t.rejects(text, { message: 'too long' })
    t.equal(body.destroyed, true)
  }
})

t.test('a body that breaks rejects', async (t) => {
  const body = new PassThrough()
  const text = readText(body, 3)
  body.write('a')
  body.destroy(new Error('broken'))
  await t.rejects(text, { message: 'broken' })
})

const mebibyte = 1024 * 1024

/** Returns a handler that responds with 64 MiB. `sent` is the number of bytes that the handler has written. */
function flood(status: number, contentType = 'application/json'): { readonly handler: Handler; sent: number; closed: boolean } {
  const flooding = {
    sent: 0,
    closed: false,
    handler: ((_request, response) => {
      response.writeHead(status, { 'content-type': contentType })
      response.on('close', () => (flooding.closed = true))
      const pump = (): void => {
        while (flooding.sent < 64 * mebibyte && !response.destroyed) {
          flooding.sent += mebibyte
          if (response.write(Buffer.alloc(mebibyte, 'x'))) continue
          response.once('drain', pump)
          return
        }
        response.end()
      }
      pump()
      return undefined
    }) satisfies Handler,
  }
  return flooding
}

t.test('a response over maxResponseBytes is refused while it arrives', async (t) => {
  const flooding = flood(200)
  const server = await startTestServer(flooding.handler)
  const transport = createTransport(server.connection, { maxResponseBytes: 2 * mebibyte })
  t.teardown(async () => (await transport.close(), await server.close()))
  const refused = 'The response to GET /api/v1/pods has more than 2097152 bytes (maxResponseBytes)'
  await t.rejects(transport.request({ method: 'GET', path: '/api/v1/pods', verb: 'list' }), {
    code: 'PRO_API',
    message: `${refused}: read the list with listInPages and a smaller pageSize, or raise the limit.`,
  })
  await eventually(() => flooding.closed)
  t.ok(flooding.sent < 48 * mebibyte, 'the connection was closed')
  flooding.sent = 0
  await t.rejects(transport.request({ method: 'GET', path: '/api/v1/pods' }), { message: `${refused}.` })
  await t.rejects(transport.request({ method: 'GET', path: '/api/v1/pods', maxResponseBytes: mebibyte }), {
    message: 'The response to GET /api/v1/pods has more than 1048576 bytes (maxResponseBytes).',
  })
})

t.test('a failure response is truncated after 1 MiB, for requests and streams', async (t) => {
  for (const verb of ['request', 'stream'] as const) {
    const flooding = flood(500)
    const server = await startTestServer(flooding.handler)
    const transport = createTransport(server.connection)
    t.teardown(async () => (await transport.close(), await server.close()))
    const answer: Promise<unknown> = transport[verb]({ method: 'GET', path: '/' })
    await t.rejects(answer, {
      statusCode: 500,
      message: /^the API server answered GET \/ with 500: x{1000}$/,
    })
    await eventually(() => flooding.closed)
    t.ok(flooding.sent < 48 * mebibyte, 'the connection was closed')
  }
})
