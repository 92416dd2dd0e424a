import t from 'tap'
import { BodyScan } from '../../../src/webhook/body/scan.ts'
import { looksOrdinary } from '../../../src/webhook/body/glance.ts'
import { reviewOfSpec } from '../../support/hostile-reviews.ts'

const limits = { levels: 20, values: 1000 }

function scan(text: string, step = Infinity): BodyScan {
  const result = new BodyScan(Buffer.from(text), limits)
  while (!result.advance(step));
  return result
}

t.test('finds the uid and the objects, in whatever steps', (t) => {
  const object = '{"metadata":{"name":"object","uid":"no"},"a":"}]\\"{","b":[{"request":{"uid":"no","object":{}}}]}'
  const text = `{ "apiVersion" : "x", "list": [{"uid":"no"}], "request" : { "kind":{"uid":"no"}, "uid" : "yes", "oldObject":null, "object" : ${object} , "options":{"a":[1,2]} } , "response": {"uid":"no","object":{}} }`
  for (const step of [1, 2, 3, 7, 64, Infinity]) {
    const { uid, object: range, oldObject, excess } = scan(text, step)
    t.strictSame(
      { uid, excess, oldObject, object: range && text.slice(range.start, range.end) },
      { uid: 'yes', excess: undefined, oldObject: undefined, object },
    )
  }
  const both = scan(reviewOfSpec('{}').replace('"oldObject":null', '"oldObject":{"a":1}'))
  t.ok(both.object !== undefined && both.oldObject !== undefined)
  t.equal(scan(reviewOfSpec('{}').replace('"oldObject":null', '"oldObject":[{"a":1}]')).oldObject, undefined, 'a list is none')
  t.end()
})

t.test('a uid that needs decoding is none', (t) => {
  t.equal(scan('{"request":{"uid":"\\u0041"}}').uid, undefined)
  t.equal(scan('{"request":{"uid":"é"}}').uid, undefined)
  t.equal(scan(`{"request":{"uid":"${'u'.repeat(100)}"}}`).uid, undefined)
  t.end()
})

t.test('stops at what is too much', (t) => {
  t.strictSame(scan('['.repeat(20)).excess, undefined)
  t.strictSame(scan('['.repeat(21)).excess, { what: 'levels', limit: 20 })
  t.strictSame(scan(`[${'1,'.repeat(990)}1]`).excess, undefined)
  t.strictSame(scan(`[${'1,'.repeat(1001)}1]`).excess, { what: 'values', limit: 1000 })
  t.strictSame(scan(`["${'{,['.repeat(1000)}"]`).excess, undefined, 'not within texts')
  t.end()
})

t.test('anything is scanned, whatever it is', (t) => {
  for (const text of ['', '}}}}', '"', '"\\', ']{"request":{"object":', '{"request":{"uid":', '\\', ',,,,'])
    t.equal(scan(text).excess, undefined)
  t.end()
})

t.test('what looks ordinary', (t) => {
  const many = (count: number, at: (index: number) => string): Buffer =>
    Buffer.from(`[${Array.from({ length: count }, (_, i) => at(i)).join(',')}]`)
  const cases: [string, Buffer, boolean][] = [
    [
      'containers',
      many(
        3000,
        (i) => `{"name":"c${i}","image":"registry.local/team/service:${i}","ports":[{"port":${i}}],"env":[{"name":"A","value":"b"}]}`,
      ),
      true,
    ],
    ['new names', many(20_000, (i) => `{"name${i}":1}`), false],
    ['half of it new names', Buffer.concat([many(10_000, (i) => `{"name${i}":1}`), many(10_000, () => '{"name":1}')]), false],
    ['levels', Buffer.from(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`), false],
    ['one long text', Buffer.from(`["${'x'.repeat(200_000)}"]`), false],
  ]
  for (const [name, bytes, ordinary] of cases) {
    // Like a random sample, but the same each time.
    let seed = 1
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647
    t.equal(looksOrdinary(bytes, random), ordinary, name)
  }
  t.equal(looksOrdinary(Buffer.from('1')), false)
  t.end()
})
