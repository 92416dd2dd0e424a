/** Tests of the scan of JSON for duplicate keys and for nesting that is too deep. `JSON.parse` reports neither. */
import t from 'tap'
import { maxDepth, scanJson } from '../../../src/devcluster/apimachinery/duplicate-keys.ts'
import { fc } from '../../support/property.ts'

const duplicates: [text: string, paths: string[]][] = [
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":2}', ['a']],
  ['{"a":1,"a":2,"a":3}', ['a']],
  ['{"spec":{"size":1,"size":2}}', ['spec.size']],
  ['{"a":[{"b":1},{"b":1,"b":2}]}', ['a[1].b']],
  ['{"a":{"b":1},"a":{"b":1}}', ['a']],
  ['{"__proto__":1,"__proto__":2}', ['__proto__']],
  ['{"\\u0061":1,"a":2}', ['a']],
  ['[[{"x":0,"x":0}]]', ['[0][0].x']],
  ['{"b":{"y":1,"y":1},"a":[0,{"x":1,"x":1}],"b":1}', ['b.y', 'a[1].x', 'b']],
  ['{"":1,"":2}', ['']],
  ['"a\\"b"', []],
]

t.test('duplicate keys are reported with their paths', (t) => {
  for (const [text, paths] of duplicates) t.strictSame(scanJson(text), { duplicates: paths }, text)
  t.end()
})

t.test('at most 100 duplicate keys are reported', (t) => {
  const pairs = Array.from({ length: 150 }, (_, index) => `"k${index}":1,"k${index}":2`).join()
  t.strictSame(scanJson(`{"a":{${pairs}}}`), { duplicates: Array.from({ length: 100 }, (_, index) => `a.k${index}`) })
  t.end()
})

t.test('the paths of duplicate keys below a long key are made until they have a megabyte', (t) => {
  // Each path has at least 500,000 characters. If the scan created a string for the path of each duplicate key, this test would need up to
  // a hundred gigabytes.
  const key = 'k'.repeat(500_000)
  const fields = (of: (index: number) => string): string => Array.from({ length: 100_000 }, (_, index) => of(index)).join()
  for (const text of [
    `{"${key}":{${fields((index) => `"${index}":1`)}}}`,
    `{"${key}":{${fields((index) => `"${index}":1,"${index}":2`)}}}`,
    `{"${key}":{${fields(() => '"a":1')}}}`,
    `{"${key}":{${fields(() => '"a":{"b":1,"b":2}')}}}`,
    `{"${key}":[${fields(() => '{"b":1,"b":2}')}]}`,
  ]) {
    const { duplicates } = scanJson(text)
    t.ok(duplicates.length <= 3, text.slice(-30))
    t.ok(duplicates.every((path) => path.startsWith(key)))
  }
  t.end()
})

const errors: [text: string, error: string][] = [
  ['', 'unexpected end of JSON input'],
  ['{', 'unexpected end of JSON input'],
  ['{"a', 'unexpected end of JSON input'],
  ['not json', "invalid character 'n' looking for beginning of value"],
  ['{"a":}', "invalid character '}' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['[', 'unexpected end of JSON input'],
  ['{"a":1,"a":2', 'unexpected end of JSON input'],
  ['[1 2]', "invalid character '2' after array element"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
  ["'a'", `invalid character '\\'' looking for beginning of value`],
]

t.test("invalid JSON is reported with the message of Go's decoder", (t) => {
  for (const [text, error] of errors) t.strictSame(scanJson(text), { duplicates: [], error }, text)
  t.end()
})

t.test('nesting beyond 500 levels is refused', (t) => {
  t.equal(maxDepth, 500)
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  t.strictSame(scanJson(nested(maxDepth)), { duplicates: [] })
  t.strictSame(scanJson(nested(maxDepth + 1)), { duplicates: [], error: 'exceeded max depth' })
  const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
  t.strictSame(scanJson(objects(500)), { duplicates: [] })
  t.strictSame(scanJson(objects(501)), { duplicates: [], error: 'exceeded max depth' })
  const wide = `[${Array.from({ length: 600 }, () => '[{}]').join()}]`
  t.strictSame(scanJson(wide), { duplicates: [] }, 'a closed array or object does not count')
  t.strictSame(scanJson(`[[],{},${nested(499)}]`), { duplicates: [] })
  t.strictSame(scanJson(`[[],{},${nested(500)}]`), { duplicates: [], error: 'exceeded max depth' })
  t.strictSame(scanJson(nested(1_000_000)), { duplicates: [], error: 'exceeded max depth' })
  t.end()
})

t.test('the scan accepts exactly the texts that JSON.parse accepts', (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      t.equal(scanJson(text).error, undefined)
    }),
  )
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), (text, at, inserted) => {
      const broken = text.slice(0, at % (text.length + 1)) + inserted + text.slice(at % (text.length + 1))
      let parses = true
      try {
        JSON.parse(broken)
      } catch {
        parses = false
      }
      return (scanJson(broken).error === undefined) === parses
    }),
    { numRuns: 2000 },
  )
  t.end()
})
