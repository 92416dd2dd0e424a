/** Tests of `httpGet` probes with real servers. The expected messages are those of the kubelet's prober. */
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { ContainerSpec } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { HttpGetAction } from '../../../../src/devcluster/pods/probes/http-request.ts'
import { httpProbe } from '../../../../src/devcluster/pods/probes/http-probe.ts'
import type { ProbeContext } from '../../../../src/devcluster/pods/probes/probe-context.ts'
import { ProbeError } from '../../../../src/devcluster/pods/probes/probe-outcome.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { testCertificate } from '../../../support/certs/server-certificate.ts'
import { closedPort, listen, loopbackTarget } from '../../../support/devcluster/loopback-target.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const contextOf = (changes: Partial<ProbeContext> = {}): ProbeContext => ({
  container: { name: 'main' } as ContainerSpec,
  target: loopbackTarget,
  clock: systemClock,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  ...changes,
})

/** Runs a probe. In its output, the addresses of the client and the server are replaced by `CLIENT` and `SERVER`. */
async function probe(action: HttpGetAction, changes?: Partial<ProbeContext>): Promise<readonly [kind: string, output: string]> {
  const replaced = (text: string): string => text.replace(/127\.0\.0\.1:\d+->/, 'CLIENT->').replaceAll(`127.0.0.1:${action.port}`, 'SERVER')
  try {
    const { kind, output } = await httpProbe(action, contextOf(changes))
    return [kind, replaced(output)]
  } catch (error) {
    if (!(error instanceof ProbeError)) throw error
    return [`error, ${error.state}`, replaced(error.message)]
  }
}

/** Returns a server that responds with the request line and the headers of the request, one per line. */
const echo = (): Server =>
  createServer(({ method, url, rawHeaders }, response) => {
    const headers = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []))
    response.end([`${method} ${url}`, ...headers].join('\n'))
  })

/** Returns a server that calls `answer` for each connection when the first bytes have arrived. */
const rawServer = (answer: (socket: Socket) => void): Server => createTcpServer((socket) => void socket.once('data', () => answer(socket)))

t.test('a probe sends the headers of the kubelet', async (t) => {
  const { port } = await listen(t, echo())
  t.strictSame(await probe({ port, path: '/healthz?full=1' }), [
    'success',
    'GET /healthz?full=1\nHost: SERVER\nUser-Agent: kube-probe/1.36\nAccept: */*\nConnection: close',
  ])
})

t.test('a probe may replace or remove headers, and repeat others', async (t) => {
  const { port } = await listen(t, echo())
  const headers = [
    ['host', 'web.example'],
    ['USER-AGENT', 'own'],
    ['accept', ''],
    ['x-a', '1'],
    ['X-A', 'ü'],
    ['Content-Length', '5'],
  ] as const
  const [, output] = await probe({ port, httpHeaders: headers.map(([name, value]) => ({ name, value })) })
  t.equal(output, `GET /\nHost: web.example\nConnection: close\nUser-Agent: own\nX-A: 1\nX-A: ${Buffer.from('ü').toString('latin1')}`)
})

t.test('a path is sent as Go writes it', async (t) => {
  const { port } = await listen(t, echo())
  const paths: Readonly<Record<string, string>> = {
    '': '/',
    healthz: '/healthz',
    '?q': '/?q',
    '/a/../b': '/a/../b',
    '/a%20b#fragment': '/a%20b',
    '/%zz?q': '/%25zz%3Fq',
    '/a?%zz#f': '/a?%zz',
    '/a?b#%zz': '/a%3Fb%23%25zz',
    '/a?b#%20?\n': '/a?b',
    '/a\\b"<>{}|^`': '/a%5Cb%22%3C%3E%7B%7D%7C%5E%60',
    '/line\nbreak': '/line%0Abreak',
    '//other.example/x': '/x',
    'http://other.example/x': '/x',
    '/ä?ö ü': '/%C3%A4?%C3%B6%20%C3%BC',
    '/\ud800': '/%EF%BF%BD',
  }
  for (const [path, expected] of Object.entries(paths)) {
    const [kind, output] = await probe({ port, path })
    t.strictSame([kind, output.split('\n')[0]], ['success', `GET ${expected}`])
  }
})

t.test('a port may be named, and a number may be a string', async (t) => {
  const { port } = await listen(t, echo())
  const container = { name: 'main', ports: [{ name: 'web', containerPort: port }] } as ContainerSpec
  t.match(await probe({ port: 'web' }, { container }), ['success'])
  t.match(await probe({ port: String(port) }), ['success'])
  t.strictSame(await probe({ port: 'web' }), ['error, unknown', 'strconv.Atoi: parsing "web": invalid syntax'])
  for (const invalid of [0, 65_536, -1, 1.5, '70000'])
    t.strictSame(await probe({ port: invalid }), ['error, unknown', `invalid port number: ${invalid}`])
})

t.test('statuses from 200 to 399 are successes, and the body of a failure is not shown', async (t) => {
  const { port } = await listen(
    t,
    createServer((request, response) => {
      response.statusCode = Number(request.url?.slice(1))
      response.end('secret')
    }),
  )
  const outcomes: Readonly<Record<number, readonly string[]>> = {
    200: ['success', 'secret'],
    299: ['success', 'secret'],
    300: ['warning', 'Probe terminated redirects, Response body: secret'],
    302: ['warning', 'Probe terminated redirects, Response body: secret'],
    304: ['warning', 'Probe terminated redirects, Response body: '],
    400: ['failure', 'HTTP probe failed with statuscode: 400'],
    503: ['failure', 'HTTP probe failed with statuscode: 503'],
    600: ['failure', 'HTTP probe failed with statuscode: 600'],
  }
  for (const [status, expected] of Object.entries(outcomes)) t.strictSame(await probe({ port, path: `/${status}` }), expected)
})

t.test('redirects within the same host are followed, and others are a warning', async (t) => {
  const { cert, key } = testCertificate()
  const secure = await listen(
    t,
    createSecureServer({ cert, key }, ({ url, headers }, response) => {
      if (url !== '/back') return response.end(`over TLS ${headers.referer}`)
      response.writeHead(302, { Location: `http://127.0.0.1:${port}/end` })
      return response.end()
    }),
  )
  const unused = await closedPort()
  const server = createServer((request, response) => {
    const { url = '', headers } = request
    const own = `http://127.0.0.1:${port}`
    const locations: Readonly<Record<string, string>> = {
      '/loop': '/loop',
      '/relative': 'end',
      '/absolute': `${own}/end`,
      '/other': 'http://other.example/',
      '/same-by-name': `http://localhost:${port}/end`,
      '/tls': `https://127.0.0.1:${secure.port}/`,
      '/tls-and-back': `https://127.0.0.1:${secure.port}/back`,
      '/port': `http://127.0.0.1:${unused}/`,
      '/ftp': 'ftp://127.0.0.1/',
      '/invalid': 'http://[invalid',
    }
    const location = locations[url]
    if (location === undefined) return response.end(`${url} ${headers.host} ${headers['x-a']} ${headers.referer}`)
    response.writeHead(302, { Location: location })
    return response.end('moved')
  })
  const { port } = await listen(t, server)
  const to = (path: string, ...declared: { name: string; value: string }[]): ReturnType<typeof probe> =>
    probe({
      port,
      path,
      httpHeaders: [{ name: 'Host', value: 'web.example' }, { name: 'X-A', value: 'a' }, ...declared],
    })
  t.strictSame(await to('/relative'), ['success', '/end web.example a http://SERVER/relative'])
  t.strictSame(await to('/absolute'), ['success', '/end SERVER a http://SERVER/absolute'])
  t.strictSame(await to('/tls'), ['success', 'over TLS http://SERVER/tls'])
  t.strictSame(await to('/tls-and-back'), ['success', '/end SERVER a undefined'], 'the URL over TLS is not sent in plain text')
  t.strictSame(await to('/relative', { name: 'Referer', value: 'own' }), ['success', '/end web.example a own'])
  t.strictSame(await to('/other'), ['warning', 'Probe terminated redirects, Response body: moved'])
  t.strictSame(await to('/same-by-name'), ['warning', 'Probe terminated redirects, Response body: moved'])
  t.strictSame(await to('/loop'), ['failure', 'Get "/loop": stopped after 10 redirects'])
  t.strictSame(await to('/port'), [
    'failure',
    `Get "http://127.0.0.1:${unused}/": dial tcp 127.0.0.1:${unused}: connect: connection refused`,
  ])
  t.strictSame(await to('/ftp'), ['failure', 'Get "ftp://127.0.0.1/": unsupported protocol scheme "ftp"'])
  t.strictSame(await to('/invalid'), ['failure', 'Get "http://SERVER/invalid": failed to parse Location header "http://[invalid"'])
})

t.test('the connection of a response that redirects is closed, also when the response does not end', async (t) => {
  const end = await listen(t, echo())
  const endless = await listen(
    t,
    createServer((_request, response) => {
      response.writeHead(302, { Location: `http://127.0.0.1:${end.port}/` })
      response.write('moved')
    }),
  )
  t.match(await probe({ port: endless.port }), ['success'])
  await eventually(() => endless.connections === 0)
})

t.test('HTTPS trusts every certificate', async (t) => {
  const { cert, key } = testCertificate()
  const secure = await listen(
    t,
    createSecureServer({ cert, key }, ({ headers }, response) => response.end(headers.host)),
  )
  const plain = await listen(t, echo())
  const other = await listen(
    t,
    rawServer((socket) => socket.write('SSH-2.0-OpenSSH\r\n')),
  )
  t.strictSame(await probe({ port: secure.port, scheme: 'HTTPS' }), ['success', 'SERVER'])
  t.strictSame(await probe({ port: plain.port, scheme: 'HTTPS' }), [
    'failure',
    'Get "https://SERVER/": http: server gave HTTP response to HTTPS client',
  ])
  t.strictSame(await probe({ port: other.port, scheme: 'HTTPS' }), [
    'failure',
    'Get "https://SERVER/": tls: first record does not look like a TLS handshake',
  ])
})

t.test('a connection that fails has the words of Go', async (t) => {
  const failing: Readonly<Record<string, readonly [answer: (socket: Socket) => void, http: string, https?: string]>> = {
    reset: [(socket) => socket.resetAndDestroy(), 'read tcp CLIENT->SERVER: read: connection reset by peer'],
    closed: [(socket) => socket.end(), 'EOF'],
    'not HTTP': [
      (socket) => socket.write('SSH-2.0-OpenSSH\r\n'),
      'net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-OpenSSH"',
      'tls: first record does not look like a TLS handshake',
    ],
    'a header without end': [
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(2 * 1024 * 1024)}`),
      'net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 1048576 bytes; aborted',
      'http: server gave HTTP response to HTTPS client',
    ],
  }
  for (const [name, [answer, http, https = http]] of Object.entries(failing)) {
    const listening = await listen(t, rawServer(answer))
    const { port } = listening
    t.strictSame(await probe({ port }), ['failure', `Get "http://SERVER/": ${http}`], name)
    t.strictSame(await probe({ port, scheme: 'HTTPS' }), ['failure', `Get "https://SERVER/": ${https}`], `${name}, over TLS`)
    await eventually(() => listening.connections === 0)
  }
  t.strictSame(await probe({ port: await closedPort() }), ['failure', 'Get "http://SERVER/": dial tcp SERVER: connect: connection refused'])
})

t.test('a body that breaks off is an error, and the kubelet tries again', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const cut = await listen(
    t,
    rawServer((socket) => socket.end(`${head}Content-Length: 20\r\n\r\nok`)),
  )
  const invalid = await listen(
    t,
    rawServer((socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)),
  )
  t.strictSame(await probe(cut), ['error, failure', 'unexpected EOF'])
  t.strictSame(await probe(invalid), ['error, failure', 'invalid byte in chunk length'])
})

t.test('a response in lines without a carriage return is read, and one that switches the protocol fails', async (t) => {
  const simple = await listen(
    t,
    rawServer((socket) => socket.end('HTTP/1.0 200 OK\nContent-Type: text/plain\n\nok')),
  )
  const switching = await listen(
    t,
    rawServer((socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')),
  )
  t.strictSame(await probe(simple), ['success', 'ok'])
  t.strictSame(await probe(switching), ['failure', 'HTTP probe failed with statuscode: 101'])
  await eventually(() => switching.connections === 0)
})

t.test('ten kilobytes of an endless body are read', async (t) => {
  const endless = createServer((_request, response) => {
    const write = (): void => {
      while (response.write('a'.repeat(65_536)));
    }
    response.on('drain', write)
    write()
  })
  const listening = await listen(t, endless)
  t.strictSame(await probe({ port: listening.port }), ['success', 'a'.repeat(10_240)])
  await eventually(() => listening.connections === 0)
})

/** Starts a server, and runs a probe with a timeout of one second. Advances the clock by one second when the server has called `waits`. */
async function timeOut(t: Test, start: (waits: () => void) => Server, scheme?: string): ReturnType<typeof probe> {
  const waiting = Promise.withResolvers<void>()
  const listening = await listen(t, start(waiting.resolve))
  const clock = new FakeClock()
  const outcome = probe({ port: listening.port, ...(scheme !== undefined && { scheme }) }, { clock, timeoutMs: 1000 })
  await waiting.promise
  await clock.advance(999)
  t.equal(clock.pending, 1)
  await clock.advance(1)
  const result = await outcome
  await eventually(() => listening.connections === 0)
  return result
}

t.test('a server that does not answer in time fails', async (t) => {
  const silent = (waits: () => void): Server => createTcpServer((socket) => void socket.on('data', waits))
  const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
  t.strictSame(await timeOut(t, silent), ['failure', `Get "http://SERVER/": ${late}`])
  t.strictSame(await timeOut(t, silent, 'HTTPS'), ['failure', `Get "https://SERVER/": ${late}`])
})

t.test('a server that sends one byte after the other does not get more time', async (t) => {
  /**
   * Returns a function that creates a server. In each iteration of the event loop, the server sends one byte: first the bytes of `text`,
   * and then the character `0` again and again, until the connection is closed. When the server has sent `text` and 100 zeros, the server
   * calls `waits`.
   */
  const drip =
    (text: string) =>
    (waits: () => void): Server =>
      rawServer((socket) => {
        let sent = 0
        const send = (): void => {
          if (socket.destroyed) return
          socket.write(text[sent++] ?? '0')
          if (sent === text.length + 100) waits()
          setImmediate(send)
        }
        send()
      })
  t.strictSame(await timeOut(t, drip('HTTP/1.1 200 OK\r\nX-A: ')), [
    'failure',
    'Get "http://SERVER/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
  ])
  t.strictSame(await timeOut(t, drip('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')), [
    'error, failure',
    'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
  ])
})

t.test('the end of the container ends the request', async (t) => {
  const waiting = Promise.withResolvers<void>()
  const listening = await listen(
    t,
    createTcpServer((socket) => void socket.on('data', () => waiting.resolve())),
  )
  const ended = new AbortController()
  const reason = new Error('ended')
  const rejection = rejectionOf(httpProbe({ port: listening.port }, contextOf({ signal: ended.signal })))
  await waiting.promise
  ended.abort(reason)
  t.equal(await rejection, reason)
  await eventually(() => listening.connections === 0)
})

t.test('hostile hosts, schemes and headers are refused', async (t) => {
  const listening = await listen(t, echo())
  const { port } = listening
  for (const host of ['a b', 'a/b', 'user@host', 'a?b', '[::1', 'a#b', 'a\\b', 'a\r\nb'])
    t.match(await probe({ port, host }), ['error, unknown', /^parse .*: invalid host$/], host)
  t.strictSame(await probe({ port, scheme: 'gopher' }), ['failure', 'Get "gopher://SERVER/": unsupported protocol scheme "gopher"'])
  t.strictSame(await probe({ port, httpHeaders: [{ name: 'X-A', value: 'a\r\nX-B: b' }] }), [
    'failure',
    'Get "http://SERVER/": net/http: invalid header field value for "X-A"',
  ])
  t.strictSame(await probe({ port, httpHeaders: [{ name: 'X A', value: 'a' }] }), [
    'failure',
    'Get "http://SERVER/": net/http: invalid header field name "X A"',
  ])
  t.strictSame(await probe({ port, httpHeaders: [{ name: '__proto__', value: 'a' }] }), [
    'success',
    'GET /\nHost: SERVER\nUser-Agent: kube-probe/1.36\nAccept: */*\nConnection: close\n__proto__: a',
  ])
  t.match(await probe({ port, httpHeaders: [{ name: 'Host', value: 'a\r\nX-B: b' }] }), ['success', /^GET \/\nHost: \nUser-Agent/])
})

t.test('a declared host is passed on', async (t) => {
  const { port } = await listen(t, echo())
  const hosts: (string | undefined)[] = []
  const target: ProbeContext['target'] = {
    ...loopbackTarget,
    connect: (number, host) => {
      hosts.push(host)
      return loopbackTarget.connect(number)
    },
  }
  await probe({ port, host: 'web.example' }, { target })
  await probe({ port }, { target })
  t.strictSame(hosts, ['web.example', undefined])
})

t.test('a few informational responses are ignored, and a flood of them ends the probe', async (t) => {
  const few = await listen(
    t,
    createServer((_, response) => {
      for (let count = 0; count < 10; count += 1) response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end('ready')
    }),
  )
  t.strictSame(await probe({ port: few.port }), ['success', 'ready'])
  const hints = Buffer.from('HTTP/1.1 103 \r\n\r\n'.repeat(4000))
  const flood = await listen(
    t,
    rawServer((socket) => {
      const write = (): void => {
        while (!socket.destroyed && socket.write(hints));
      }
      socket.on('drain', write)
      write()
    }),
  )
  t.strictSame(await probe({ port: flood.port }), [
    'failure',
    'Get "http://SERVER/": net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 65536 bytes; aborted',
  ])
})
