/** Tests of HTTP responses: headers, encodings, compression, warnings. */
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { failure } from '../../../src/api/status.ts'
import type { Exchange } from '../../../src/devcluster/http/exchange.ts'
import type { Answer } from '../../../src/devcluster/http/respond.ts'
import { respond, respondObject, respondStatus, respondText, setWarnings } from '../../../src/devcluster/http/respond.ts'

interface Sent {
  readonly code: number
  readonly headers: Record<string, unknown>
  readonly body: string | undefined
}

/** Returns an HTTP exchange, and the responses that are recorded for it. */
function exchangeOf(
  headers: Record<string, string> = {},
  query = '',
): { exchange: Exchange; sent: Sent[]; response: { headersSent: boolean; destroyed: boolean } } {
  const sent: Sent[] = []
  let answer: { code: number; headers: Record<string, unknown> } = { code: 0, headers: {} }
  const set: Record<string, unknown> = {}
  const response = {
    headersSent: false,
    destroyed: false,
    socket: null,
    hasHeader: (name: string) => Object.keys(set).some((known) => known.toLowerCase() === name),
    setHeader(name: string, value: unknown) {
      set[name] = value
      return response
    },
    appendHeader(name: string, value: unknown) {
      set[name] = set[name] === undefined ? value : [set[name], value].flat()
      return response
    },
    writeHead: (code: number, more: Record<string, unknown>) => (answer = { code, headers: { ...set, ...more } }),
    end: (body?: Buffer | string) => sent.push({ ...answer, body: body && Buffer.from(body as string).toString('latin1') }),
  }
  const exchange = {
    request: { headers },
    response,
    query: new URLSearchParams(query),
    warnings: new Set<string>(),
    method: 'GET',
    path: '/',
    since: 0,
  }
  return { exchange: exchange as unknown as Exchange, sent, response }
}

const sentBy = async (answer: Answer, headers?: Record<string, string>): Promise<Sent> => {
  const { exchange, sent } = exchangeOf(headers)
  await respond(exchange, answer)
  return sent[0]!
}
const noCache = { 'Cache-Control': 'no-cache, private' }

t.test('a response has a Content-Length and forbids caching by default', async (t) => {
  t.strictSame(await sentBy({ code: 200, contentType: 'a/b', body: 'ä' }), {
    code: 200,
    headers: { ...noCache, 'Content-Type': 'a/b', 'Content-Length': 2 },
    body: Buffer.from('ä').toString('latin1'),
  })
  t.strictSame(await sentBy({ code: 404, body: '', headers: { 'Cache-Control': 'public', X: 'y' } }), {
    code: 404,
    headers: { 'Cache-Control': 'public', X: 'y', 'Content-Length': 0 },
    body: '',
  })
  for (const code of [204, 304])
    t.strictSame(
      await sentBy({ code, contentType: 'a/b', body: 'x' }),
      { code, headers: noCache, body: undefined },
      'the status allows no body',
    )
})

t.test('a short body is sent together with the headers, except with warnings, whose bytes Node.js would then encode again', async (t) => {
  const bodyOf = async (body: string | Buffer, warnings: readonly string[] = []): Promise<unknown> => {
    const { exchange, response } = exchangeOf()
    let given: unknown
    Object.assign(response, { end: (sent: unknown) => (given = sent) })
    for (const warning of warnings) exchange.warnings.add(warning)
    await respond(exchange, { code: 200, body })
    return given
  }
  t.equal(await bodyOf('ä'), 'ä')
  t.strictSame(await bodyOf('ä', ['ü']), Buffer.from('ä'))
  const long = 'ä'.repeat(20_000)
  t.strictSame(await bodyOf(long), Buffer.from(long))
  const bytes = Buffer.from('x')
  t.equal(await bodyOf(bytes), bytes)
})

t.test('a response is sent once, and not after the client disconnected', async (t) => {
  for (const state of ['headersSent', 'destroyed'] as const) {
    const { exchange, sent, response } = exchangeOf()
    response[state] = true
    await respond(exchange, { code: 200, body: 'x' })
    t.strictSame(sent, [], state)
    const { exchange: slow, sent: late, response: leaving } = exchangeOf({ 'accept-encoding': 'gzip' })
    const responding = respond(slow, { code: 200, body: 'x'.repeat(200_000) })
    leaving[state] = true
    await responding
    t.strictSame(late, [], `${state} meanwhile`)
  }
})

t.test('a response of more than 128 KiB is compressed when the client accepts gzip', async (t) => {
  const limit = 128 * 1024
  const answer = (length: number): Answer => ({ code: 200, body: 'x'.repeat(length) })
  const plain = { ...noCache, 'Content-Length': limit }
  t.strictSame((await sentBy(answer(limit), { 'accept-encoding': 'gzip' })).headers, plain)
  for (const accepted of [{}, { 'accept-encoding': 'br, deflate' }, { 'accept-encoding': 'xgzip' }])
    t.strictSame((await sentBy(answer(limit + 1), accepted)).headers, { ...plain, 'Content-Length': limit + 1 })
  const { headers, body } = await sentBy(answer(limit + 1), { 'accept-encoding': 'br, gzip;q=0.5' })
  t.strictSame(headers, { ...noCache, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding', 'Content-Length': body!.length })
  t.equal(gunzipSync(Buffer.from(body!, 'latin1')).length, limit + 1)
})

t.test('a compressed response keeps its own Vary header, and an unsent body is not compressed', async (t) => {
  const body = 'x'.repeat(129 * 1024)
  for (const [code, headers] of [
    [200, { Vary: ['Accept', 'Accept-Encoding'], 'Content-Encoding': 'gzip' }],
    [304, { Vary: 'Accept', 'Content-Encoding': undefined }],
  ] as const) {
    const { exchange, sent } = exchangeOf({ 'accept-encoding': 'gzip' })
    exchange.response.setHeader('Vary', 'Accept')
    await respond(exchange, { code, body })
    t.match(sent[0]?.headers, headers, String(code))
  }
})

t.test('JSON is indented for pretty=true and for browsers, curl and wget', async (t) => {
  const object = { b: 1, a: [2] }
  const indented = '{\n  "b": 1,\n  "a": [\n    2\n  ]\n}'
  const bodyFor = async (headers: Record<string, string>, query = ''): Promise<string | undefined> => {
    const { exchange, sent } = exchangeOf(headers, query)
    await respondObject(exchange, 201, object, () => 'TEXT\n', 'json')
    t.match(sent, [{ code: 201, headers: { 'Content-Type': 'application/json' } }])
    return sent[0]!.body
  }
  for (const agent of ['curl/8.0', 'Wget/1.2', 'Mozilla/5.0 (X11)']) t.equal(await bodyFor({ 'user-agent': agent }), indented, agent)
  for (const agent of ['kubectl/v1.36 curl', 'Mozilla/4.0']) t.equal(await bodyFor({ 'user-agent': agent }), 'TEXT\n', agent)
  t.equal(await bodyFor({}), 'TEXT\n')
  for (const asked of ['1', 't', 'T', 'true', 'TRUE', 'True']) t.equal(await bodyFor({}, `pretty=${asked}`), indented, asked)
  for (const asked of ['0', 'false', 'yes', 'tRUE'])
    t.equal(await bodyFor({ 'user-agent': 'curl/8.0' }, `pretty=${asked}`), 'TEXT\n', asked)
  t.equal(await bodyFor({ 'user-agent': 'curl/8.0' }, 'pretty='), indented)
})

t.test('a YAML response has sorted keys and quotes strings that YAML 1.1 would read as other types', async (t) => {
  const { exchange, sent } = exchangeOf()
  const object = { b: ['x', { d: 1, c: 'yes' }], a: '012', long: 'word '.repeat(40).trim() }
  await respondObject(exchange, 200, object, () => 'TEXT\n', 'yaml')
  t.strictSame(sent[0], {
    code: 200,
    headers: { ...noCache, 'Content-Type': 'application/yaml', 'Content-Length': sent[0]!.body!.length },
    body: `a: "012"\nb:\n- x\n- c: "yes"\n  d: 1\nlong: ${object.long}\n`,
  })
})

t.test('a failure is sent in an encoding that the client accepts', async (t) => {
  const status = failure(429, 'TooManyRequests', 'later', { retryAfterSeconds: 7 })
  const sentFor = async (headers: Record<string, string>, given = status): Promise<Sent> => {
    const { exchange, sent } = exchangeOf(headers)
    await respondStatus(exchange, given, { Connection: 'close' })
    return sent[0]!
  }
  const headers = { ...noCache, Connection: 'close', 'Retry-After': '7' }
  const json = `${JSON.stringify(status)}\n`
  t.strictSame(await sentFor({}), {
    code: 429,
    headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': json.length },
    body: json,
  })
  t.equal((await sentFor({ accept: 'text/xml' })).body, json)
  t.equal((await sentFor({ 'user-agent': 'curl/8' })).body, JSON.stringify(status, undefined, 2))
  t.match(await sentFor({ accept: 'application/yaml' }), {
    headers: { 'Content-Type': 'application/yaml' },
    body: 'apiVersion: v1\ncode: 429\ndetails:\n  retryAfterSeconds: 7\nkind: Status\nmessage: later\n',
  })
  const { code: _code, ...without } = failure(400, 'X', 'y')
  const answered = await sentFor({}, without)
  t.equal(answered.code, 500)
  t.equal(answered.headers['Retry-After'], undefined)
})

t.test('a text response has X-Content-Type-Options: nosniff', async (t) => {
  const { exchange, sent } = exchangeOf()
  await respondText(exchange, 200, 'ok')
  t.strictSame(sent, [
    {
      code: 200,
      headers: { ...noCache, 'X-Content-Type-Options': 'nosniff', 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': 2 },
      body: 'ok',
    },
  ])
})

t.test('warnings are quoted, truncated when they are too long together, and limited to 4 KiB', (t) => {
  const warned = (...texts: string[]): unknown => {
    const { exchange, sent } = exchangeOf()
    for (const text of texts) exchange.warnings.add(text)
    setWarnings(exchange)
    exchange.response.writeHead(200, {} as never)
    exchange.response.end()
    return sent[0]!.headers.Warning
  }
  const header = (text: string): string => `299 - "${text}"`
  t.equal(warned(), undefined)
  t.equal(warned('a\nb'), undefined)
  t.strictSame(warned('a "b" \\c', 'a\tb', 'ä'), [header('a \\"b\\" \\\\c'), Buffer.from(header('ä')).toString('latin1')])
  const long = (letter: string, length: number): string => letter.repeat(length)
  t.strictSame(warned(long('a', 2048), long('b', 2048)), [header(long('a', 2048)), header(long('b', 2048))])
  t.strictSame(warned(long('a', 2048), long('b', 2049)), [header(long('a', 256)), header(long('b', 256))])
  const letters = [...'abcdefghijklmnopqr']
  t.strictSame(
    warned(...letters.map((letter) => long(letter, 300))),
    letters.slice(0, 16).map((letter) => header(long(letter, 256))),
  )
  t.end()
})
