import t from 'tap'
import * as json from '../../src/api/json-bytes.ts'
import { ValueScan } from '../../src/api/json-bytes.ts'
import { fc } from '../support/property.ts'

function scan(text: string, start = 0, limit?: number, most?: { values: number; levels: number }): Omit<ValueScan, 'scan'> {
  const bytes = Buffer.from(text)
  return { ...new ValueScan().scan(bytes, start, limit ?? bytes.length, most?.values, most?.levels) }
}

t.test('the marks are those of JSON', async (t) => {
  const marks = [json.quote, json.backslash, json.comma, json.colon]
  t.equal(String.fromCharCode(...marks), '"\\,:')
  const brackets = [json.openBrace, json.closeBrace, json.openBracket, json.closeBracket]
  t.equal(String.fromCharCode(...brackets), '{}[]')
})

t.test('a value is scanned to its end, and its values and levels are counted', async (t) => {
  const cases: readonly (readonly [text: string, end: number, values: number, levels: number])[] = [
    ['[]', 2, 1, 1],
    ['{}', 2, 1, 1],
    ['[1,2]', 5, 2, 1],
    ['[1,2] ,3', 5, 2, 1],
    ['[[],[1]]', 8, 4, 2],
    ['[[[]]]]', 6, 3, 3],
    ['{"a":[{}],"b":{"c":1,"d":2}}', 28, 6, 3],
    ['{"a":{},"b":[[1]]},', 18, 5, 3],
    ['5', 1, 0, 0],
    ['-1.5e3,6', 6, 0, 0],
    ['true}', 4, 0, 0],
    ['null]', 4, 0, 0],
    ['""', 2, 0, 0],
    ['"a,b[{",7', 7, 0, 0],
    ['"a\\"b",7', 6, 0, 0],
    ['"a\\\\",7', 5, 0, 0],
    ['"\\\\\\",",7', 7, 0, 0],
    ['["]",","]', 9, 2, 1],
    ['{"}":"{"}', 9, 1, 1],
    ['["é😀"]', 10, 1, 1],
    ['', 0, 0, 0],
  ]
  for (const [text, end, values, levels] of cases) t.strictSame(scan(text), { end, values, levels, closed: true }, text)
})

t.test('a value in the middle of a text is scanned alone', async (t) => {
  const text = '{"a":[1,2],"b":"x","c":3}'
  t.strictSame(scan(text, text.indexOf('[')), { end: 10, values: 2, levels: 1, closed: true })
  t.strictSame(scan(text, text.indexOf('"x"')), { end: 18, values: 0, levels: 0, closed: true })
  t.strictSame(scan(text, text.indexOf('3')), { end: 24, values: 0, levels: 0, closed: true })
})

t.test('a value that does not end before the limit is not closed', async (t) => {
  t.strictSame(scan('[1,2]', 0, 4), { end: 4, values: 2, levels: 1, closed: false })
  t.strictSame(scan('[1,2]', 0, 5), { end: 5, values: 2, levels: 1, closed: true })
  t.strictSame(scan('[[1]', 0), { end: 4, values: 2, levels: 2, closed: false })
  t.strictSame(scan('{"a":"b', 0), { end: 8, values: 1, levels: 1, closed: false }, 'an open string ends after the limit')
  t.strictSame(scan('"ab"', 0, 3), { end: 4, values: 0, levels: 0, closed: true })
  t.strictSame(scan('"ab', 0), { end: 4, values: 0, levels: 0, closed: true })
  t.strictSame(scan('"ab\\"', 0), { end: 6, values: 0, levels: 0, closed: true })
  t.strictSame(scan('"ab\\', 0), { end: 5, values: 0, levels: 0, closed: true })
  t.strictSame(scan('123', 0, 2), { end: 2, values: 0, levels: 0, closed: true })
})

t.test('the scan stops when there are too many values or levels', async (t) => {
  const most = (values: number, levels: number): { values: number; levels: number } => ({ values, levels })
  t.strictSame(scan('[1,2,3]', 0, 7, most(3, 1)), { end: 7, values: 3, levels: 1, closed: true })
  t.strictSame(scan('[1,2,3]', 0, 7, most(2, 1)), { end: 5, values: 3, levels: 1, closed: false })
  t.strictSame(scan('[1,2,3]', 0, 7, most(1, 1)), { end: 3, values: 2, levels: 1, closed: false })
  t.strictSame(scan('[[[1]]]', 0, 7, most(9, 3)), { end: 7, values: 3, levels: 3, closed: true })
  t.strictSame(scan('[[[1]]]', 0, 7, most(9, 2)), { end: 3, values: 3, levels: 3, closed: false })
  t.strictSame(scan('[[[1]]]', 0, 7, most(2, 9)), { end: 3, values: 3, levels: 3, closed: false })
  t.strictSame(scan('[[],[]]', 0, 7, most(9, 2)), { end: 7, values: 4, levels: 2, closed: true }, 'levels next to each other')
})

t.test('any JSON is scanned to its end', async () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('', ',', '}', ']'), (value, after) => {
      const length = Buffer.byteLength(value)
      const { end, closed } = scan(`${value}${after}`)
      return end === length && closed
    }),
  )
})
