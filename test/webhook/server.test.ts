import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import type { FieldError } from '../../src/api/field-error.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { shareMemory } from '../../src/webhook/http/memory-shares.ts'
import { jobConversion } from '../support/conversion/fixture.ts'
import { eventually } from '../support/eventually.ts'
import type { Fixture } from '../support/webhook/fixture.ts'
import { fixture, review, widgetObject } from '../support/webhook/fixture.ts'

const path = '/validate-apps-example-com-v1-widget'
const body = JSON.stringify(review({ object: widgetObject({ size: 3, image: 'i' }) }))

interface Answer {
  code: number | undefined
  connection: string | undefined
  text: string
  /** The serial number of the certificate that the server presents. */
  serial: string
}

class Sender {
  readonly port: number
  readonly agent: Agent

  constructor(test: Test, { source }: Fixture, port: number) {
    this.port = port
    this.agent = new Agent({ keepAlive: true, maxSockets: 1, ca: source.current().caBundle, servername: 'localhost' })
    test.after(() => this.agent.destroy())
  }

  send(payload: string | Buffer = body, headers: Record<string, string> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = 'transfer-encoding' in headers ? {} : { 'content-length': String(Buffer.byteLength(payload)) }
      const all = { 'content-type': 'application/json', ...length, ...headers }
      const sent = request(
        { host: '127.0.0.1', port: this.port, path, method: 'POST', agent: this.agent, headers: all },
        (response: IncomingMessage) => {
          let text = ''
          const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve({ code: response.statusCode, connection: response.headers.connection, text, serial }))
        },
      )
      sent.on('error', reject)
      sent.end(payload)
    })
  }
}

/** Returns a handler that waits until `open` is called. */
function gate(): { validate: () => Promise<readonly FieldError[]>; entered: Promise<void>; open: () => void } {
  const entered = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<readonly FieldError[]>()
  return {
    validate: () => {
      entered.resolve()
      return opened.promise
    },
    entered: entered.promise,
    open: () => opened.resolve([]),
  }
}

t.test('the server serves over TLS and keeps connections open', async (t) => {
  const fix = await fixture(t)
  const { port, url } = await fix.server.start()
  t.equal(url, `https://localhost:${port}`)
  const sender = new Sender(t, fix, port)
  const first = await sender.send()
  t.equal(first.code, 200)
  t.match(JSON.parse(first.text), { response: { uid: 'uid-1', allowed: true } })
  t.equal(first.connection, 'keep-alive')
  const { server } = fix.server.app
  t.equal(server.keepAliveTimeout, 120_000)
  t.match(server, { headersTimeout: 10_000, requestTimeout: 30_000 })
})

t.test('TLS before 1.2 is refused, also after a certificate change', async (t) => {
  const fix = await fixture(t)
  const { port } = await fix.server.start()
  const handshake = async (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> => {
    // The security level 0 allows old TLS versions in the client. If a handshake with an old version fails, the server has therefore
    // rejected the version.
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      ca: fix.source.current().caBundle,
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    return socket.getProtocol()
  }
  for (const round of ['at start', 'after the change']) {
    t.equal(await handshake('TLSv1.2'), 'TLSv1.2', round)
    t.equal(await handshake('TLSv1.3'), 'TLSv1.3', round)
    await t.rejects(handshake('TLSv1.1'), round)
    await fix.source.change()
  }
})

t.test('the certificate is replaced without closing connections', async (t) => {
  const fix = await fixture(t)
  const { port } = await fix.server.start()
  const [before, after] = [new Sender(t, fix, port), new Sender(t, fix, port)]
  const { serial } = await before.send()
  await fix.source.change()
  t.equal((await before.send()).serial, serial, 'an open connection is kept')
  t.not((await after.send()).serial, serial, 'a new one gets the new certificate')
})

t.test('a body of 7 MiB is accepted, a larger one refused', async (t) => {
  const fix = await fixture(t)
  const { port } = await fix.server.start()
  const sized = (bytes: number): string => {
    const text = JSON.stringify(review({ object: widgetObject({ size: 3, image: 'i', note: '#' }) }))
    return text.replace('#', 'x'.repeat(bytes - text.length + 1))
  }
  const limit = 7 * 1024 * 1024
  t.equal((await new Sender(t, fix, port).send(sized(limit))).code, 200)
  const refused = await new Sender(t, fix, port).send(sized(limit + 1))
  t.equal(refused.code, 413)
  t.match(refused.text, /larger than 7340032 bytes/)

  t.test('by the announced length, before the body arrives', async (t) => {
    const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca: fix.source.current().caBundle })
    t.after(() => socket.destroy())
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${limit + 1}\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    t.match(answer.toString(), /^HTTP\/1\.1 413 /)
  })

  t.test('by the received bytes, without an announced length', async (t) => {
    const sent = new Sender(t, fix, port).send(sized(limit + 1000), { 'transfer-encoding': 'chunked' })
    t.equal((await sent).code, 413)
  })
})

t.test('while draining, answers close their connections and new connections are accepted', async (t) => {
  const fix = await fixture(t)
  const { port } = await fix.server.start()
  const sender = new Sender(t, fix, port)
  t.equal((await sender.send()).connection, 'keep-alive')
  fix.server.beginDrain()
  t.equal((await sender.send()).connection, 'close')
  const again = await sender.send()
  t.equal(again.code, 200)
  t.equal(again.connection, 'close')
  t.equal((await sender.send(body, { 'content-type': 'text/plain' })).connection, 'close', 'also with an error')
})

t.test('stop waits for requests in flight, and closes idle connections', async (t) => {
  const { validate, entered, open } = gate()
  const fix = await fixture(t, { validate })
  const { port } = await fix.server.start()
  const idle = connect({ host: '127.0.0.1', port, servername: 'localhost', ca: fix.source.current().caBundle })
  const raw = connectTcp({ host: '127.0.0.1', port })
  const closed = Promise.all([once(idle, 'close'), once(raw, 'close')])
  idle.resume()
  await once(idle, 'secureConnect')
  const answer = new Sender(t, fix, port).send()
  await entered
  t.equal(fix.server.inFlight, 1)
  let stopped = false
  const stopping = fix.server.stop(30_000).then(() => (stopped = true))
  await t.rejects(new Sender(t, fix, port).send(), { code: 'ECONNREFUSED' })
  await closed
  t.equal(stopped, false, 'connections without a request are closed, the one with a request is open')
  open()
  const { code, connection } = await answer
  t.equal(code, 200)
  t.equal(connection, 'close')
  await stopping
  t.equal(fix.server.inFlight, 0)
  await fix.server.stop(0)
})

t.test('the deadline of stop closes the remaining connections and aborts their handlers', async (t) => {
  let signal: AbortSignal | undefined
  const fix = await fixture(t, {
    validate: (_object, _old, context) => {
      signal = context.signal
      return new Promise<never>(() => undefined)
    },
  })
  const { port } = await fix.server.start()
  const answer = t.rejects(new Sender(t, fix, port).send(), { code: 'ECONNRESET' })
  await eventually(() => fix.server.inFlight === 1 && signal !== undefined)
  await fix.server.stop(20)
  await answer
  await eventually(() => signal!.aborted)
  t.match(signal?.reason, { name: 'AbortError' })
})

t.test('a disconnect of the API server aborts the handler', async (t) => {
  let signal: AbortSignal | undefined
  const fix = await fixture(t, {
    validate: (_object, _old, context) => {
      signal = context.signal
      return new Promise<never>((_resolve, reject) =>
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error)),
      )
    },
  })
  const { port } = await fix.server.start()
  const sender = new Sender(t, fix, port)
  sender.send().catch(() => undefined) // the test disconnects this client on purpose
  await eventually(() => signal !== undefined)
  sender.agent.destroy()
  await eventually(() => signal!.aborted)
  await eventually(() => fix.server.inFlight === 0)
  t.notOk(fix.lines.some((line) => line.startsWith('error')))
})

t.test('under load, a drain fails no request', async (t) => {
  const fix = await fixture(t)
  const { port } = await fix.server.start()
  let running = true
  let answered = 0
  const clients = Array.from({ length: 8 }, async () => {
    const sender = new Sender(t, fix, port)
    while (running) {
      const { code } = await sender.send()
      if (code !== 200) throw new Error(`got ${code}`)
      answered += 1
    }
  })
  await eventually(() => answered > 200)
  fix.server.beginDrain()
  const before = answered
  await eventually(() => answered > before + 200)
  running = false
  await t.resolves(Promise.all(clients))
  await fix.server.stop(10_000)
})

t.test('a port in use is reported in one sentence', async (t) => {
  const fix = await fixture(t)
  const { port } = await fix.server.start()
  const second = await fixture(t, {}, { port })
  await t.rejects(second.server.start(), {
    code: 'PRO_PORT_IN_USE',
    message: `The address :${port} is in use by another process: stop that one, or choose another address with --webhook-host and --webhook-port.`,
  })
  const third = await fixture(t, {}, { host: '203.0.113.1' })
  await t.rejects(third.server.start(), { code: 'PRO_CONFIG_INVALID', message: /cannot listen on 203\.0\.113\.1/ })
})

t.test('a failed accept does not crash the process', async (t) => {
  const fix = await fixture(t)
  await fix.server.start()
  fix.server.app.server.emit('error', new Error('accept EMFILE'))
  t.match(fix.entries.at(-1), { level: 'warn', msg: 'the webhook server could not accept a connection', err: { message: 'accept EMFILE' } })
})

t.test('a client that does not trust the certificate is a warning, other failed handshakes are debug', async (t) => {
  const fix = await fixture(t)
  const { server } = fix.server.app
  const logged = (code: string | undefined): unknown[] => {
    fix.entries.length = 0
    server.emit('tlsClientError', Object.assign(new Error('x'), code === undefined ? {} : { code }), { destroyed: true })
    return fix.entries.map(({ level, msg, code: loggedCode }) => [level, msg, loggedCode])
  }
  const untrusted = 'a client does not trust the certificate of the webhook server: is the caBundle of the webhook configurations current?'
  for (const alert of ['UNKNOWN_CA', 'BAD_CERTIFICATE', 'CERTIFICATE_UNKNOWN'])
    t.strictSame(logged(`ERR_SSL_TLSV1_ALERT_${alert}`), [['warn', untrusted, undefined]])
  t.strictSame(logged('ECONNRESET'), [['debug', 'a TLS handshake failed', 'ECONNRESET']])
  t.strictSame(logged(undefined), [['debug', 'a TLS handshake failed', undefined]])
})

t.test('the start and certificate changes are logged until the server stops', async (t) => {
  const fix = await fixture(t)
  await fix.source.change()
  t.strictSame(fix.lines, [], 'before it has started')
  const { port } = await fix.server.start()
  const { serial } = await new Sender(t, fix, port).send()
  t.equal(serial, new X509Certificate(fix.source.current().cert).serialNumber, 'the certificate may change before the server starts')
  const { notAfter } = await fix.source.change()
  const entries = fix.entries.filter(({ level }) => level === 'info')
  t.strictSame(
    entries.map(({ msg, port: at, paths, notAfter: until }) => ({ msg, at, paths, until })),
    [
      { msg: 'the webhook server listens', at: port, paths: fix.server.paths, until: undefined },
      { msg: 'the webhook server presents a new certificate', at: undefined, paths: undefined, until: notAfter.toISOString() },
    ],
  )
  t.strictSame(fix.server.paths, [
    '/mutate-apps-example-com-v1-widget',
    path,
    '/mutate-apps-example-com-v1beta1-widget',
    '/validate-apps-example-com-v1beta1-widget',
  ])
  await fix.server.stop(0)
  fix.entries.length = 0
  await fix.source.change()
  t.strictSame(fix.entries, [])
})

t.test('the bytes in flight and their limit are metrics', async (t) => {
  const { validate, entered, open } = gate()
  const mebibyte = 2 ** 20
  const memory = shareMemory({ limitBytes: 512 * mebibyte, idleBytes: 160 * mebibyte, heapLimitBytes: 512 * mebibyte, processors: 2 })
  const fix = await fixture(t, { validate }, { memory })
  const answer = fix.server.app.inject({ method: 'POST', url: path, payload: body, headers: { 'content-type': 'application/json' } })
  await entered
  t.ok(fix.server.inFlightBytes > 16 * 1024)
  const text = await fix.metrics.registry.metrics()
  t.match(text, new RegExp(`^proreus_webhook_in_flight_bytes ${fix.server.inFlightBytes}$`, 'm'))
  t.match(text, new RegExp(`^proreus_webhook_in_flight_bytes_limit ${memory.requestBytes}$`, 'm'))
  open()
  await answer
  await eventually(() => fix.server.inFlightBytes === 0)
})

t.test('the timeout of a review includes the time that its body takes to arrive', async (t) => {
  const clock = new FakeClock(50_000)
  const entered = Promise.withResolvers<void>()
  const validate = (): Promise<never> => {
    entered.resolve()
    return new Promise<never>(() => undefined)
  }
  const fix = await fixture(t, { validate }, { clock })
  const payload = new PassThrough()
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const answer = fix.server.app.inject({ method: 'POST', url: `${path}?timeout=10s`, payload, headers })
  payload.write(body.slice(0, 10))
  await eventually(() => fix.server.inFlightBytes > 0)
  await clock.advance(4_000)
  payload.end(body.slice(10))
  await entered.promise
  await clock.advance(5_900)
  t.match((await answer).body, /did not decide within 5900 ms/)
})

t.test('a server without conversions or webhooks has no paths for them', async (t) => {
  const { server } = await fixture(t, {}, { webhooks: [] })
  t.strictSame(server.paths, [])
  const { server: converting } = await fixture(t, {}, { webhooks: [], conversions: [jobConversion] })
  t.strictSame(converting.paths, ['/convert'])
})

t.test('the server listens on the configured host', async (t) => {
  const fix = await fixture(t, {}, { host: '127.0.0.1' })
  const { port, url } = await fix.server.start()
  t.equal(url, `https://127.0.0.1:${port}`)
  t.equal((fix.server.app.server.address() as AddressInfo).address, '127.0.0.1')
})
