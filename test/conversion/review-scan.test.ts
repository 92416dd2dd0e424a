import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { excessOf, readObject } from '../../src/conversion/review-object.ts'
import { identityOf, scanReview } from '../../src/conversion/review-scan.ts'
import { LoopTurns, Turns } from '../../src/conversion/turns.ts'

const turns = (): Turns => new Turns(new LoopTurns())
const scan = (objects: string) => scanReview(Buffer.from(`{"request":{"objects":${objects},"uid":"u"}}`), turns())

t.test('the objects are found, with how much there is in each', async (t) => {
  const texts = ['{}', '{"a":1}', '{"a":[1,2,{}],"b":"]},\\"{"}', `{"a":${'['.repeat(20)}${']'.repeat(20)}}`]
  const { objects, envelope } = await scan(` [ ${texts.join('\n , ')} ] `)
  t.strictSame(envelope, { request: { objects: [], uid: 'u' } })
  t.strictSame([objects.length, objects.heaviest], [4, { values: 21, bytes: Math.max(...texts.map(({ length }) => length)) }])
  const found = [...objects].map(({ index, bytes, values, levels }) => [index, bytes.toString(), values, levels])
  t.strictSame(found, [
    [0, texts[0], 1, 1],
    [1, texts[1], 1, 1],
    [2, texts[2], 6, 3],
    [3, texts[3], 21, 21],
  ])
  t.strictSame([...objects].length, 4, 'they can be gone over again')
})

t.test('a list of a million objects takes no memory beside its text', async (t) => {
  const body = `[${'{},'.repeat(1_000_000)}{}]`
  const { objects } = await scan(body)
  t.equal(objects.length, 1_000_001)
  let last = 0
  for (const { index } of objects) last = index
  t.equal(last, 1_000_000)
})

t.test('where a list has an entry that is no object, its place is told', async (t) => {
  const cases: [string, RegExp][] = [
    ['[1]', /^request\.objects\[0\] is no object: it begins with "1\]/],
    ['[{}, "x"]', /^request\.objects\[1\] is no object: it begins with "\\"x\\"/],
    ['[{},{},[]]', /^request\.objects\[2\] is no object/],
    ['[null]', /^request\.objects\[0\] is no object: it begins with "null\]/],
  ]
  for (const [list, message] of cases) await t.rejects(scan(list), { name: 'MalformedConversionReview', message }, list)
})

t.test('of an object that is not read, its kind and name are', async (t) => {
  const whole = { spec: { a: ['}'] }, metadata: { labels: { name: 'x' }, name: 'n', namespace: 's' }, kind: 'K', apiVersion: 'g/v' }
  const cases: [string, JsonObject][] = [
    [JSON.stringify(whole), { kind: 'K', apiVersion: 'g/v', metadata: { name: 'n', namespace: 's' } }],
    ['{"metadata":5,"kind":"K"}', { kind: 'K', metadata: {} }],
    ['{"kind":"K","metadata":{"name":5}}', { kind: 'K', metadata: {} }],
    ['{"kind":"K","kind":"L"}', { kind: 'K', metadata: {} }],
    ['{}', { metadata: {} }],
    ['{"kind":"K","spec":', { kind: 'K', metadata: {} }],
  ]
  for (const [text, identity] of cases) t.strictSame(await identityOf(Buffer.from(text)), identity, text)
})

t.test('too many values and too many levels are told apart', (t) => {
  t.strictSame(
    [excessOf({ values: 100_000, levels: 1000 }), excessOf({ values: 100_001, levels: 3 }), excessOf({ values: 2000, levels: 1001 })],
    [undefined, 'has more than 100000 values (fields and items)', 'has more than 1000 levels of nesting'],
  )
  t.end()
})

t.test('a large object is read in slices to the same values, with its long integers', async (t) => {
  const text = `{"list":[${'{"a":"x\\n","b":[1.5,null]},'.repeat(8000)}9007199254740993],"__proto__":{"c":"ü"},"a":1,"a":2}`
  const [object] = [...(await scan(`[${text}]`)).objects]
  const read = await readObject(object!, turns())
  t.ok(object!.values > 10_000 && Object.isFrozen(read))
  const small = [...(await scan(`[${text.replace('{"a":"x\\n","b":[1.5,null]},'.repeat(7999), '')}]`)).objects][0]!
  const parsed = await readObject(small, turns())
  t.notOk(Object.isFrozen(parsed))
  t.strictSame({ ...read, list: (read.list as unknown[]).slice(7999) }, { ...parsed })
  await t.rejects(readObject({ ...object!, bytes: Buffer.from('{"a":}') }, turns()), {
    name: 'MalformedConversionReview',
    message: /^request\.objects\[0\] of the ConversionReview cannot be read: /,
  })
})
