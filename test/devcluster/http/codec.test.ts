/** Tests of the decoding of request bodies. */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { decodeJson, decodeObject, decodeOptions, decodeYaml, mediaTypeOf, readBody } from '../../../src/devcluster/http/codec.ts'
import { StatusError, badRequest } from '../../../src/devcluster/apimachinery/status-error.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' }
const foo = { apiVersion: 'ex.com/v1', kind: 'Foo', custom: true }

function refusal(run: () => unknown): { code: number | undefined; message: string } {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status.code, message: error.message }
    throw error
  }
  throw new Error('nothing was refused')
}

t.test('a JSON body keeps __proto__ as data and reports duplicate keys', (t) => {
  const { value, duplicates } = decodeObject(Buffer.from('{"__proto__":{"x":1},"a":1,"a":2}'), 'application/json; charset=utf-8', foo)
  t.equal(JSON.stringify(value), '{"__proto__":{"x":1},"a":2}')
  t.strictSame(duplicates, ['a'])
  t.equal(({} as { x?: unknown }).x, undefined)
  t.end()
})

t.test(
  'a YAML body reports duplicate keys by line and keeps merge keys, YAML 1.1 booleans, times as strings and __proto__ as data',
  (t) => {
    const text = ['a: &x {b: yes}', 'c: {<<: *x, d: 2001-01-01}', 'list:', '- k: 1', '  k: 2', '__proto__: {z: 1}', 'a: 3', ''].join('\n')
    const { value, duplicates } = decodeObject(Buffer.from(text), 'application/yaml', foo)
    t.equal(JSON.stringify(value), '{"a":3,"c":{"b":true,"d":"2001-01-01"},"list":[{"k":2}],"__proto__":{"z":1}}')
    t.strictSame(duplicates, ['line 5: key "k" already set in map', 'line 7: key "a" already set in map'])
    t.end()
  },
)

t.test('a JSON body with a YAML media type is decoded as JSON, with its duplicates reported as in YAML', (t) => {
  const { value, duplicates } = decodeYaml(Buffer.from('{"a":{"b":1,"b":2}}'), badRequest)
  t.strictSame(value, { a: { b: 2 } })
  t.strictSame(duplicates, ['line 1: key "b" already set in map'])
  t.end()
})

t.test('an integer in YAML beyond the range of a float is a string', (t) => {
  const digits = '9'.repeat(400)
  for (const exact of [true, false]) t.strictSame(decodeYaml(Buffer.from(`a: ${digits}\n`), badRequest, exact).value, { a: digits })
  t.end()
})

t.test('only the first of several YAML documents is decoded', (t) => {
  t.strictSame(decodeYaml(Buffer.from('a: 1\n---\nb: 2\n'), badRequest).value, { a: 1 })
  t.end()
})

t.test('a malformed body is refused with 400 and the beginning of the body', (t) => {
  t.strictSame(
    refusal(() => decodeObject(Buffer.from('{"a":'), undefined, configMap)),
    {
      code: 400,
      message: `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({"a":)`,
    },
  )
  t.strictSame(
    refusal(() => decodeObject(Buffer.from('x: [1'), 'application/json', foo)),
    {
      code: 400,
      message: `the object provided is unrecognized (must be of type Foo): couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value (783a205b31)`,
    },
  )
  t.match(
    refusal(() => decodeObject(Buffer.from('x: [1'), 'application/yaml', foo)),
    { code: 400, message: /error converting YAML to JSON: yaml: / },
  )
  t.match(
    refusal(() => decodeObject(Buffer.from('['.repeat(100_000)), 'application/yaml', foo)),
    { code: 400 },
  )
  t.match(
    refusal(() => decodeObject(Buffer.from(''), 'application/json', foo)),
    { code: 400, message: /\(<empty>\)$/ },
  )
  t.end()
})

t.test('an unsupported media type, or protobuf for a custom resource, is refused with 415', (t) => {
  const inUnknownFormat =
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml'
  const protobuf = 'application/vnd.kubernetes.protobuf'
  for (const expected of [foo, configMap]) {
    t.strictSame(
      refusal(() => decodeObject(Buffer.from('<a/>'), 'text/xml', expected)),
      { code: 415, message: `${inUnknownFormat}, ${protobuf}` },
    )
  }
  t.strictSame(
    refusal(() => decodeObject(Buffer.from('k8s\0'), protobuf, foo)),
    { code: 415, message: inUnknownFormat },
  )
  t.end()
})

t.test('a protobuf body is recognized by its media type', (t) => {
  const bytes = Buffer.from('6b3873000a0f0a0276311209436f6e6669674d617012050a030a0161', 'hex')
  t.strictSame(decodeObject(bytes, 'application/vnd.kubernetes.protobuf', configMap), {
    value: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } },
    duplicates: [],
  })
  t.match(
    refusal(() => decodeObject(bytes, 'application/json', configMap)),
    { code: 400, message: /json parse error: invalid character 'k'/ },
  )
  t.end()
})

t.test('YAML with too many tokens is refused independently of its size', (t) => {
  const refused = {
    code: 413,
    message: 'Request entity too large: limit of YAML is 250000 tokens; send it as JSON without duplicate keys',
  }
  const flow = `items: [${'a,'.repeat(700_000)}]`
  for (const text of [flow, `items: [${'a: b,'.repeat(280_000)}]`, '- a\n'.repeat(350_000), '['.repeat(1_400_000)])
    t.strictSame(
      refusal(() => decodeYaml(Buffer.from(text), badRequest)),
      refused,
    )
  t.equal(
    (decodeYaml(Buffer.from(JSON.stringify({ items: Array(350_000).fill('a') })), badRequest).value as { items: unknown[] }).items.length,
    350_000,
  )
  // The limit is 250,000 tokens. Each empty line is one token; `a: 1`, its line break and the start of the document are eight tokens
  // together.
  const sparse = (emptyLines: number): Buffer => Buffer.from(`a: 1\n${'\n'.repeat(emptyLines)}`)
  t.strictSame(decodeYaml(sparse(250_000 - 8), badRequest).value, { a: 1 })
  t.strictSame(
    refusal(() => decodeYaml(sparse(250_000 - 7), badRequest)),
    refused,
  )
  const lines = '    line with: [some, text]\n'.repeat(50_000)
  t.strictSame(decodeYaml(Buffer.from(`text: |\n${lines}`), badRequest).value, { text: lines.replaceAll('    line', 'line') })
  t.end()
})

t.test('the media type of a body defaults to JSON', (t) => {
  const types: [header: string | undefined, type: string][] = [
    [undefined, 'application/json'],
    ['', 'application/json'],
    [' ; charset=utf-8', 'application/json'],
    ['Application/YAML; charset=utf-8', 'application/yaml'],
    [' text/plain ', 'text/plain'],
  ]
  for (const [header, type] of types) t.equal(mediaTypeOf(header), type, String(header))
  t.end()
})

t.test('integers beyond 2^53 keep their digits when exact decoding is requested', (t) => {
  const digits = '{"a":9007199254740993}'
  for (const [type, text] of [
    ['application/json', digits],
    ['application/yaml', digits],
    ['application/yaml', 'a: 9007199254740993'],
  ] as const) {
    const value = (exact: boolean): unknown => (decodeObject(Buffer.from(text), type, { ...foo, exact }).value as { a: unknown }).a
    t.equal(String(value(true)), '9007199254740993', text)
    t.equal(String(value(false)), '9007199254740992', text)
    t.equal(String((decodeObject(Buffer.from(text), type, foo).value as { a: unknown }).a), '9007199254740992')
  }
  t.equal(String((decodeJson(Buffer.from(digits), badRequest).value as { a: unknown }).a), '9007199254740992')
  t.equal(String((decodeYaml(Buffer.from('a: 9007199254740993'), badRequest).value as { a: unknown }).a), '9007199254740992')
  t.end()
})

t.test('YAML keys that are sequences, numbers or aliases are converted as by kube-apiserver', (t) => {
  const text = ['- &a {x: 1, x: 2}', '- *a', '- 1: a', '  1: b', '- {b: {c: 1, c: 2}, b: 1}'].join('\n')
  t.strictSame(decodeYaml(Buffer.from(text), badRequest), {
    value: [{ x: 2 }, { x: 2 }, { 1: 'b' }, { b: 1 }],
    duplicates: [
      'line 1: key "x" already set in map',
      'line 4: key "1" already set in map',
      'line 5: key "c" already set in map',
      'line 5: key "b" already set in map',
    ],
  })
  t.strictSame(decodeYaml(Buffer.from(''), badRequest), { value: null, duplicates: [] })
  t.strictSame(decodeYaml(Buffer.from(' \n{"a": 1}'), badRequest), { value: { a: 1 }, duplicates: [] })
  t.strictSame(decodeYaml(Buffer.from('{a: 1}'), badRequest), { value: { a: 1 }, duplicates: [] })
  t.strictSame(
    refusal(() => decodeYaml(Buffer.from('a: b: c\n'), (problem) => badRequest(`no: ${problem}`))).message.replace(/yaml: .*/, 'yaml: '),
    'no: error converting YAML to JSON: yaml: ',
  )
  t.notMatch(refusal(() => decodeYaml(Buffer.from('a: b: c\nd: e\n'), badRequest)).message, /\n/, 'one line')
  t.end()
})

t.test('YAML may be nested as deeply as JSON', (t) => {
  const nested = (depth: number): Buffer => Buffer.from(`a: ${'['.repeat(depth)}${']'.repeat(depth)}`)
  t.strictSame(decodeYaml(nested(500), badRequest).duplicates, [])
  t.strictSame(
    refusal(() => decodeYaml(nested(501), badRequest)),
    { code: 400, message: 'error converting YAML to JSON: yaml: exceeded max depth' },
  )
  t.end()
})

t.test('a refusal quotes the beginning of the body', (t) => {
  const quoted = (body: string | Buffer): string =>
    /\(([^()]*)\)$/.exec(refusal(() => decodeObject(Buffer.from(body), 'application/json', configMap)).message)![1]!
  t.equal(quoted(`{${'x'.repeat(29)}`), `{${'x'.repeat(29)}`)
  t.equal(quoted(`{${'x'.repeat(30)}`), `{${'x'.repeat(29)} ...`)
  t.equal(quoted('x'.repeat(30)), '78'.repeat(30))
  t.equal(quoted('x'.repeat(31)), `${'78'.repeat(30)} ...`)
  t.equal(quoted(''), '<empty>')
  t.end()
})

const protobuf = 'application/vnd.kubernetes.protobuf'
const deleteOptions = { apiVersion: 'v1', kind: 'DeleteOptions' }

t.test('malformed options are refused with a short message', (t) => {
  const decode = (body: string | Buffer, type?: string) => decodeOptions(Buffer.from(body), type, deleteOptions)
  t.strictSame(decode('{"a":1,"a":2}'), { value: { a: 2 }, duplicates: ['a'] })
  t.strictSame(decode('a: 1', 'application/yaml'), { value: { a: 1 }, duplicates: [] })
  t.strictSame(
    refusal(() => decode('{')),
    { code: 400, message: "couldn't get version/kind; json parse error: unexpected end of JSON input" },
  )
  t.match(
    refusal(() => decode('x', 'text/plain')),
    { code: 415 },
  )
  const kind = Buffer.from('DeleteOptions').toString('hex')
  t.strictSame(decode(Buffer.from(`6b3873000a130a027631120d${kind}1200`, 'hex'), protobuf), {
    value: { kind: 'DeleteOptions', apiVersion: 'v1' },
    duplicates: [],
  })
  const broken = refusal(() => decode('x', protobuf))
  t.equal(broken.code, 400)
  t.notMatch(broken.message, /unrecognized/)
  t.end()
})

t.test('malformed protobuf is refused', (t) => {
  const refused = refusal(() => decodeObject(Buffer.from('x'), protobuf, configMap))
  t.equal(refused.code, 400)
  t.match(refused.message, /^the object provided is unrecognized \(must be of type ConfigMap\): .* \(78\)$/)
  t.end()
})

/** Returns a request whose body arrives in these chunks. */
function requestOf(parts: readonly Buffer[], headers: Record<string, string> = {}): IncomingMessage {
  return Object.assign(Readable.from(parts), { headers }) as unknown as IncomingMessage
}

async function refusalOf(running: Promise<unknown>): Promise<{ code: number | undefined; message: string }> {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof StatusError) return { code: error.status.code, message: error.message }
  throw new Error('nothing was refused', { cause: error })
}

t.test('a body of 3 MiB is accepted, and one byte more is refused with 413', async (t) => {
  const limit = 3 * 1024 * 1024
  const tooLarge = { code: 413, message: `Request entity too large: limit is ${limit}` }
  const half = Buffer.alloc(limit / 2, 'x')
  t.strictSame(await readBody(requestOf([Buffer.from('ab'), Buffer.from('c')])), Buffer.from('abc'))
  t.equal((await readBody(requestOf([half, half], { 'content-length': String(limit) }))).length, limit)
  const long = requestOf([half, half, Buffer.from('x'), Buffer.from('x')])
  t.strictSame(await refusalOf(readBody(long)), tooLarge)
  t.equal(long.destroyed, false, 'the connection stays open for the response')
  t.strictSame(
    await refusalOf(readBody(requestOf([], { 'content-length': String(limit + 1) }))),
    tooLarge,
    'an announced length beyond the limit is refused before reading',
  )
})

t.test('a truncated body is a bad request', async (t) => {
  const body = new Readable({ read: () => undefined })
  body.push('ab')
  const reading = readBody(Object.assign(body, { headers: {} }) as unknown as IncomingMessage)
  body.destroy(new Error('aborted'))
  t.strictSame(await refusalOf(reading), { code: 400, message: 'the request body is incomplete: aborted' })
})
