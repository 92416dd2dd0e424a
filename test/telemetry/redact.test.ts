import { inspect } from 'node:util'
import t from 'tap'
import { createLogger } from '../../src/telemetry/logger.ts'
import { redact } from '../../src/telemetry/redact.ts'

t.test('values without secrets are copied', async (t) => {
  const shared = { a: 1 }
  const value = { first: shared, second: shared, list: [shared, [shared]] }
  t.strictSame(redact(value), value)
})

t.test('cycles are cut, and secrets within are redacted', async (t) => {
  const parent: Record<string, unknown> = { name: 'parent', token: 'hidden' }
  parent['child'] = { name: 'child', parent, siblings: [parent] }
  const child = { name: 'child', parent: '[circular]', siblings: ['[circular]'] }
  t.strictSame(redact(parent), { name: 'parent', token: '[redacted]', child })
})

t.test('objects that refer to each other are redacted quickly', async (t) => {
  const nodes: Record<string, unknown>[] = Array.from({ length: 40 }, (_, id) => ({ id, token: 'hidden' }))
  for (const node of nodes) node['all'] = [...nodes]
  const lines: string[] = []
  createLogger({ destination: { write: (line) => void lines.push(line) } }).info({ nodes }, 'many')
  t.notMatch(lines[0], /hidden/)
  t.match(lines[0], /\[too large\]/)
  t.ok(lines[0]!.length < 1_000_000, `${lines[0]!.length} characters`)
})

t.test('shared objects without a cycle are redacted quickly', async (t) => {
  let value: unknown = { password: 'hidden' }
  for (let level = 0; level < 11; level += 1) value = Array.from({ length: 30 }, () => value)
  t.notMatch(JSON.stringify(redact(value)), /hidden/)
})

t.test('values that are too large or too deep are cut', async (t) => {
  const long = redact({ list: Array.from({ length: 100_000 }, (_, index) => index) })
  t.equal(long.list.at(-1), '[too large]')
  t.ok(long.list.length < 11_000)
  const wide = redact(Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key-${index}`, { token: 'hidden' }])))
  t.equal(wide['…'], '[too large]')
  t.notMatch(JSON.stringify(wide), /hidden/)
  const keys = Array.from({ length: 9_000 }, (_, index) => `${'k'.repeat(300)}${index}`)
  for (const named of [Object.fromEntries(keys.map((key) => [key, 1])), new Map(keys.map((key) => [key, 1]))]) {
    const line = JSON.stringify(redact(named))
    t.ok(line.length < 270_000, `${line.length} characters of keys`)
    t.ok(line.endsWith('"…":"[too large]"}'), line.slice(-40))
  }
  let deep: unknown = { password: 'hidden' }
  for (let level = 0; level < 50; level += 1) deep = { deep }
  t.match(JSON.stringify(redact(deep)), /"\[too deep\]"/)
})

t.test('a value is redacted in its JSON form', (t) => {
  class Thing {
    readonly a = 1
  }
  const bytes = new Uint8Array(3)
  const symbol = Symbol('a')
  const cases: [unknown, unknown][] = [
    [12n, '12'],
    [undefined, undefined],
    [null, null],
    [true, true],
    [() => 1, undefined],
    [symbol, undefined],
    [bytes, '[3 bytes]'],
    [bytes.buffer, '[3 bytes]'],
    [Object(5), 5],
    [new Thing(), { a: 1 }],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Set([1, { b: 2 }]), [1, { b: 2 }]],
    [
      new Map<unknown, unknown>([
        ['a', 1],
        [{}, 2],
        [symbol, 3],
      ]),
      { a: 1, '[object]': 2, 'Symbol(a)': 3 },
    ],
    [{ toJSON: () => ({ c: 3 }) }, { c: 3 }],
    [{ toJSON: 3 }, { toJSON: 3 }],
    [
      {
        toJSON() {
          throw new Error('no')
        },
      },
      '[unreadable]',
    ],
    [
      Object.defineProperty({ a: 1 }, 'b', {
        enumerable: true,
        get() {
          throw new Error('no')
        },
      }),
      { a: 1, b: '[unreadable]' },
    ],
  ]
  for (const [value, expected] of cases) t.strictSame(redact(value), expected)
  const odd = redact(JSON.parse('{"__proto__":{"a":1}}') as object)
  t.strictSame(Object.entries(odd), [['__proto__', { a: 1 }]])
  t.equal(Object.getPrototypeOf(odd), Object.prototype)
  t.end()
})

t.test('a secret name applies to all values below it, except where the secret is identified', (t) => {
  const R = '[redacted]'
  const cases: [object, object][] = [
    [{ token: 'a', password: '', secret: 5, credentials: 7n, hasToken: true, apiKey: null }, { token: R, password: '', secret: R, credentials: R, hasToken: true, apiKey: null }],
    [{ tokens: 5, passwords: '5' }, { tokens: 5, passwords: R }],
    [{ credentials: { user: 'a', list: ['b', 1], nested: { pin: 2 } } }, { credentials: { user: R, list: [R, R], nested: { pin: R } } }],
    [{ password: { name: 'a', key: 'b', fooRef: 'c', fooName: 'd', fooFrom: 'e', other: 'f' } }, { password: { name: 'a', key: 'b', fooRef: 'c', fooName: 'd', fooFrom: 'e', other: R } }],
    [
      { secret: { apiVersion: 'v1', kind: 'a', metadata: { name: 'b', token: 'c' }, namespace: 'd', uid: 'e', field: 'f', type: 'g', mode: 256, items: ['h'], path: 'i', audience: 'j', defaultMode: 420, expirationSeconds: 60, text: 'k' } },
      { secret: { apiVersion: 'v1', kind: 'a', metadata: { name: 'b', token: R }, namespace: 'd', uid: 'e', field: 'f', type: 'g', mode: 256, items: ['h'], path: 'i', audience: 'j', defaultMode: 420, expirationSeconds: 60, text: R } },
    ],
    [{ tls: { cert: 'a', key: 'b' }, item: { key: 'c' } }, { tls: { cert: 'a', key: R }, item: { key: 'c' } }],
    [{ kind: 'Secret', data: { a: 'b' }, stringData: 'c' }, { kind: 'Secret', data: R, stringData: R }],
    [{ type: 'Opaque', metadata: {}, data: { a: 'b' } }, { type: 'Opaque', metadata: {}, data: R }],
    [{ type: 'Opaque', data: { a: 'b' } }, { type: 'Opaque', data: { a: 'b' } }],
    [{ kind: 'Other', type: 'Opaque', metadata: {}, data: { a: 'b' } }, { kind: 'Other', type: 'Opaque', metadata: {}, data: { a: 'b' } }],
    [{ kind: 'ConfigMap', data: { a: 'b' } }, { kind: 'ConfigMap', data: { a: 'b' } }],
    [{ kind: 'SecretList', items: [{ data: { a: 'b' } }] }, { kind: 'SecretList', items: [{ data: R }] }],
    [{ kind: 'List', items: [{ data: { a: 'b' } }] }, { kind: 'List', items: [{ data: { a: 'b' } }] }],
    [{ env: [{ name: 'DB_PASSWORD', value: 'a' }, { name: 'MODE', value: 'b' }] }, { env: [{ name: 'DB_PASSWORD', value: R }, { name: 'MODE', value: 'b' }] }],
    [{ apiVersion: 'client.authentication.k8s.io/v1', env: [{ name: 'A', value: 'b' }] }, { apiVersion: 'client.authentication.k8s.io/v1', env: [{ name: 'A', value: R }] }],
    [[{ key: 'password', value: 'a' }], [{ key: 'password', value: R }]],
    [[{ header: 'Cookie', value: 'a' }], [{ header: 'Cookie', value: R }]],
    [[{ op: 'add', path: '/data/token', value: 'a' }, { op: 'add', path: '/token/data', value: 'a' }], [{ op: 'add', path: '/data/token', value: R }, { op: 'add', path: '/token/data', value: 'a' }]],
    [[{ field: 'spec.password', message: 'Invalid value: "a": short' }], [{ field: 'spec.password', message: `Invalid value: ${R}` }]],
    [[{ field: 'spec.password', message: 'spec.x: Invalid value: "a": short' }], [{ field: 'spec.password', message: `spec.x: Invalid value: ${R}` }]],
    [[{ field: 'spec.name', message: 'x: Invalid value: "a": short' }], [{ field: 'spec.name', message: 'x: Invalid value: "a": short' }]],
    [{ headers: ['Host', 'a', 'Cookie', 'b', 'Accept', 'c'] }, { headers: ['Host', 'a', 'Cookie', R, 'Accept', 'c'] }],
    [{ rawHeaders: [['Host', 'a'], ['Cookie', 'b']] }, { rawHeaders: [['Host', 'a'], ['Cookie', R]] }],
    [{ headers: { Host: 'a', Cookie: 'b' } }, { headers: { Host: 'a', Cookie: R } }],
    [{ args: ['--password', 'a', '--mode', 'b', 'password', 'c'] }, { args: ['--password', R, '--mode', 'b', 'password', 'c'] }],
    [new Map([['token', 'a'], ['b', 'c']]), { token: R, b: 'c' }],
  ] // prettier-ignore
  for (const [value, expected] of cases) t.strictSame(redact(value), expected, inspect(value, { depth: 4 }))
  t.end()
})

t.test('JSON in a text is redacted as JSON, and unchanged without secrets', (t) => {
  const clean = '{ "a": [1,   2] }'
  t.equal(redact(clean), clean)
  t.equal(redact('{ "token": "a", "b": 1 }'), '{"token":"[redacted]","b":1}')
  t.equal(redact('[ {"kind":"Secret","data":{}} ]'), '[{"kind":"Secret","data":"[redacted]"}]')
  t.equal(redact('{ "token": "a", '), '{ "token": "[redacted]", ')
  t.end()
})

t.test('the limits of the redaction are exact', (t) => {
  const nested = (levels: number): unknown => {
    let value: unknown = 'end'
    for (let level = 0; level < levels; level += 1) value = [value]
    return value
  }
  t.strictSame(redact(nested(13)), nested(13))
  t.match(JSON.stringify(redact(nested(14))), /^\[{13}"\[too deep\]"\]{13}$/)
  // The list itself counts as one of the 10,000 values.
  const list = (length: number): number[] => Array.from({ length }, () => 1)
  t.strictSame(redact(list(9_999)), list(9_999))
  t.strictSame(redact(list(10_000)), [...list(9_999), '[too large]'])
  const text = 'x'.repeat(32 * 1024)
  t.equal(redact(text), text)
  t.equal(redact(`${text}yz`), `${text}… (2 more characters)`)
  const texts = redact(Array.from({ length: 10 }, () => text))
  t.strictSame(texts, [...Array.from({ length: 8 }, () => text), '[too large]', '[too large]'], '256 Ki in total')
  const half = 'x'.repeat(16 * 1024)
  t.strictSame(redact([half, ...Array.from({ length: 8 }, () => text)]).slice(-2), [text, `${half}… (16384 more characters)`])
  const key = 'k'.repeat(317)
  t.strictSame(redact({ [key]: 1, [`${key}l`]: 2 }), { [key]: 1, [`${key}…`]: 2 })
  t.end()
})

t.test('absent values and booleans are never redacted', (t) => {
  const value = { kind: 'Secret', data: null, stringData: undefined, immutable: true, password: false, token: null }
  t.strictSame(redact(value), value)
  t.end()
})
