/** Decoding of request bodies. */
import t from 'tap'
import { decodeObject, decodeYaml } from '../../../src/devcluster/http/codec.ts'
import { StatusError, badRequest } from '../../../src/devcluster/registry/status-error.ts'

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

t.test('JSON keeps __proto__ as data and reports duplicates', (t) => {
  const { value, duplicates } = decodeObject(Buffer.from('{"__proto__":{"x":1},"a":1,"a":2}'), 'application/json; charset=utf-8', foo)
  t.equal(JSON.stringify(value), '{"__proto__":{"x":1},"a":2}')
  t.strictSame(duplicates, ['a'])
  t.equal(({} as { x?: unknown }).x, undefined)
  t.end()
})

t.test('YAML: duplicates by line, merge keys, booleans of YAML 1.1, times as strings, __proto__ as data', (t) => {
  const text = ['a: &x {b: yes}', 'c: {<<: *x, d: 2001-01-01}', 'list:', '- k: 1', '  k: 2', '__proto__: {z: 1}', 'a: 3', ''].join('\n')
  const { value, duplicates } = decodeObject(Buffer.from(text), 'application/yaml', foo)
  t.equal(JSON.stringify(value), '{"a":3,"c":{"b":true,"d":"2001-01-01"},"list":[{"k":2}],"__proto__":{"z":1}}')
  t.strictSame(duplicates, ['line 5: key "k" already set in map', 'line 7: key "a" already set in map'])
  t.end()
})

t.test('what calls itself YAML and is JSON is read as JSON, and its duplicates as those of YAML', (t) => {
  const { value, duplicates } = decodeYaml(Buffer.from('{"a":{"b":1,"b":2}}'), badRequest)
  t.strictSame(value, { a: { b: 2 } })
  t.strictSame(duplicates, ['line 1: key "b" already set in map'])
  t.end()
})

t.test('of several documents of YAML the first is read', (t) => {
  t.strictSame(decodeYaml(Buffer.from('a: 1\n---\nb: 2\n'), badRequest).value, { a: 1 })
  t.end()
})

t.test('broken bodies are refused with 400 and a beginning of what was sent', (t) => {
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

t.test('other media types are refused with 415, and so is protobuf for custom resources', (t) => {
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

t.test('protobuf is what the media type says it is', (t) => {
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

t.test('YAML of more parts than can be read in a moment is refused, whatever its size', (t) => {
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
  const lines = '    line with: [some, text]\n'.repeat(50_000)
  t.strictSame(decodeYaml(Buffer.from(`text: |\n${lines}`), badRequest).value, { text: lines.replaceAll('    line', 'line') })
  t.end()
})
