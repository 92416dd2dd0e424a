/** Decoding of request bodies. */
import t from 'tap'
import { decodeObject, decodeYaml } from '../../../src/devcluster/http/codec.ts'
import { StatusError, badRequest } from '../../../src/devcluster/registry/status-error.ts'

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
  const { value, duplicates } = decodeObject(Buffer.from('{"__proto__":{"x":1},"a":1,"a":2}'), 'application/json; charset=utf-8', 'Foo')
  t.equal(JSON.stringify(value), '{"__proto__":{"x":1},"a":2}')
  t.same(duplicates, ['a'])
  t.equal(({} as { x?: unknown }).x, undefined)
  t.end()
})

t.test('YAML: duplicates by line, merge keys, booleans of YAML 1.1, times as strings, __proto__ as data', (t) => {
  const text = ['a: &x {b: yes}', 'c: {<<: *x, d: 2001-01-01}', 'list:', '- k: 1', '  k: 2', '__proto__: {z: 1}', 'a: 3', ''].join('\n')
  const { value, duplicates } = decodeObject(Buffer.from(text), 'application/yaml', 'Foo')
  t.equal(JSON.stringify(value), '{"a":3,"c":{"b":true,"d":"2001-01-01"},"list":[{"k":2}],"__proto__":{"z":1}}')
  t.same(duplicates, ['line 5: key "k" already set in map', 'line 7: key "a" already set in map'])
  t.end()
})

t.test('what calls itself YAML and is JSON is read as JSON, and its duplicates as those of YAML', (t) => {
  const { value, duplicates } = decodeYaml(Buffer.from('{"a":{"b":1,"b":2}}'), badRequest)
  t.same(value, { a: { b: 2 } })
  t.same(duplicates, ['line 1: key "b" already set in map'])
  t.end()
})

t.test('broken bodies are refused with 400 and a beginning of what was sent', (t) => {
  t.same(
    refusal(() => decodeObject(Buffer.from('{"a":'), undefined, 'ConfigMap')),
    {
      code: 400,
      message: `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({"a":)`,
    },
  )
  t.same(
    refusal(() => decodeObject(Buffer.from('x: [1'), 'application/json', 'Foo')),
    {
      code: 400,
      message: `the object provided is unrecognized (must be of type Foo): couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value (783a205b31)`,
    },
  )
  t.match(
    refusal(() => decodeObject(Buffer.from('x: [1'), 'application/yaml', 'Foo')),
    { code: 400, message: /error converting YAML to JSON: yaml: / },
  )
  t.match(
    refusal(() => decodeObject(Buffer.from('['.repeat(100_000)), 'application/yaml', 'Foo')),
    { code: 400 },
  )
  t.match(
    refusal(() => decodeObject(Buffer.from(''), 'application/json', 'Foo')),
    { code: 400, message: /\(<empty>\)$/ },
  )
  t.end()
})

t.test('protobuf and unknown media types are refused with 415', (t) => {
  const protobuf = Buffer.from([0x6b, 0x38, 0x73, 0x00, 1, 2])
  for (const type of ['application/vnd.kubernetes.protobuf', 'application/json']) {
    t.match(
      refusal(() => decodeObject(protobuf, type, 'Foo')),
      { code: 415, message: /kubectl create -f -/ },
    )
  }
  t.same(
    refusal(() => decodeObject(Buffer.from('<a/>'), 'text/xml', 'Foo')),
    {
      code: 415,
      message: 'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    },
  )
  t.end()
})
