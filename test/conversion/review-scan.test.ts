import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { excessOf, readObject } from '../../src/conversion/review-object.ts'
import { identityOf, scanReview } from '../../src/conversion/review-scan.ts'
import { LoopTurns, TaskSlices } from '../../src/runtime/time-slices.ts'

const slices = (): TaskSlices => new TaskSlices(new LoopTurns(), 10)
const scan = (objects: string) => scanReview(Buffer.from(`{"request":{"objects":${objects},"uid":"u"}}`), slices())

t.test('the objects are found, with their numbers of values and levels', async (t) => {
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
  t.strictSame([...objects].length, 4, 'they can be iterated again')
})

t.test('a list of a million objects takes no memory besides its text', async (t) => {
  const body = `[${'{},'.repeat(1_000_000)}{}]`
  const { objects } = await scan(body)
  t.equal(objects.length, 1_000_001)
  let last = 0
  for (const { index } of objects) last = index
  t.equal(last, 1_000_000)
})

t.test('an item that is not an object is reported with its index', async (t) => {
  const cases: [string, RegExp][] = [
    ['[1]', /^request\.objects\[0\] is not an object: it begins with "1\]/],
    ['[{}, "x"]', /^request\.objects\[1\] is not an object: it begins with "\\"x\\"/],
    ['[{},{},[]]', /^request\.objects\[2\] is not an object/],
    ['[null]', /^request\.objects\[0\] is not an object: it begins with "null\]/],
  ]
  for (const [list, message] of cases) await t.rejects(scan(list), { name: 'MalformedConversionReview', message }, list)
})

t.test('kind and name of an object are found without parsing it', async (t) => {
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

t.test('excess values and excess levels are distinguished', (t) => {
  t.strictSame(
    [excessOf({ values: 100_000, levels: 1000 }), excessOf({ values: 100_001, levels: 3 }), excessOf({ values: 2000, levels: 1001 })],
    [undefined, 'has more than 100000 values (fields and items)', 'has more than 1000 levels of nesting'],
  )
  t.end()
})

t.test('a large object is parsed in slices, with exact integers', async (t) => {
  const text = `{"list":[${'{"a":"x\\n","b":[1.5,null]},'.repeat(8000)}9007199254740993],"__proto__":{"c":"ü"},"a":1,"a":2}`
  const [object] = [...(await scan(`[${text}]`)).objects]
  const read = await readObject(object!, slices())
  t.ok(object!.values > 10_000 && Object.isFrozen(read))
  const small = [...(await scan(`[${text.replace('{"a":"x\\n","b":[1.5,null]},'.repeat(7999), '')}]`)).objects][0]!
  const parsed = await readObject(small, slices())
  t.notOk(Object.isFrozen(parsed))
  t.strictSame({ ...read, list: (read.list as unknown[]).slice(7999) }, { ...parsed })
  await t.rejects(readObject({ ...object!, bytes: Buffer.from('{"a":}') }, slices()), {
    name: 'MalformedConversionReview',
    message: /^request\.objects\[0\] of the ConversionReview cannot be read: /,
  })
})

t.test('envelope, white space and number of fields are limited', async (t) => {
  const review = (fields: string, objects = '[]'): Promise<unknown> =>
    scanReview(Buffer.from(`{"request":{"objects":${objects}}${fields}}`), slices())
  const notJson = (problem: string) => ({
    name: 'MalformedConversionReview',
    message: `The body is not the JSON of a ConversionReview: ${problem}.`,
  })
  const largeEnvelope = { message: 'The ConversionReview without its objects is larger than 65536 bytes.' }
  // The length of the review without the list of objects and without the x characters in the field `a`.
  const around = '{"request":{"objects":},"a":""}'.length
  await review(`,"a":"${'x'.repeat(65_536 - around)}"`, `[{"b":"${'y'.repeat(70_000)}"}]`)
  await t.rejects(review(`,"a":"${'x'.repeat(65_537 - around)}"`, '[{}]'), largeEnvelope)
  await review('', `[${' '.repeat(65_536)}{}]`)
  await t.rejects(review('', `[${' '.repeat(65_537)}{}]`), { message: 'There is more than 65536 bytes of white space in a row.' })
  await review('', `[${' \t\n\r'.repeat(100)}{}]`)
  const fields = (count: number): string => Array.from({ length: count }, (_, index) => `,"f${index}":${index}`).join('')
  await review(fields(31))
  await t.rejects(review(fields(32)), notJson('the field "f31" is one too many'))
  await t.rejects(review(`,"${'k'.repeat(60)}":1,"${'k'.repeat(60)}":2`), notJson(`the field "${'k'.repeat(39)} is one too many`))
})

t.test('an object has at most 8 MiB', async (t) => {
  const object = (bytes: number): string => `[{"a":"${'x'.repeat(bytes - 8)}"}]`
  const { objects } = await scan(object(8 * 1024 * 1024))
  t.equal(objects.heaviest.bytes, 8 * 1024 * 1024)
  await t.rejects(scan(object(8 * 1024 * 1024 + 1)), { message: 'request.objects[0] is larger than 8388608 bytes.' })
})

t.test('the heaviest are the maxima of values and bytes over all objects', async (t) => {
  const few = `{"a":"${'x'.repeat(100)}"}`
  const { objects } = await scan(`[{},{"a":[1,2,3]},${few},{}]`)
  t.strictSame(objects.heaviest, { values: 4, bytes: few.length })
  t.strictSame((await scan('[]')).objects.heaviest, { values: 0, bytes: 0 })
  t.equal((await scan('[]')).objects.length, 0)
  t.strictSame([...(await scan('[ ]')).objects], [])
})

t.test('a review that ends early or has trailing data is invalid JSON', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', '"{" is expected at byte 0'],
    ['  []', '"{" is expected at byte 2'],
    ['{} x', 'unexpected data after the review'],
    ['{"a" 1}', '":" is expected at byte 5'],
    ['{"a":1 "b":2}', '"}" is expected at byte 10'],
    ['{"a":}', 'it ends too early'],
    ['{"a":1,}', 'a field has no name'],
    ['{"a', 'it ends too early'],
    ['{"request":{"objects":[{},]}}', 'it ends too early'],
    ['{"request":{"objects":[{},', 'it ends too early'],
    ['{"a":"b\\"}', 'it ends too early'],
    ['{"request":{"objects":[{]}}', '"]" is expected at byte 25'],
    ['{"request":{"objects":[{}}}', '"]" is expected at byte 25'],
  ]
  for (const [text, problem] of cases) {
    const error = await scanReview(Buffer.from(text), slices()).catch((thrown: unknown) => thrown as Error)
    t.strictSame(
      error instanceof Error ? [error.name, error.message] : error,
      ['MalformedConversionReview', `The body is not the JSON of a ConversionReview: ${problem}.`],
      text,
    )
  }
})

t.test('only request.objects is separated from the review', async (t) => {
  const text = '{"objects":[{"a":1}],"request":{"x":{"objects":[1]},"objects":{"b":2}},"n":-1.5e3,"t":"\\\\","u":"\\"]"}'
  const { envelope, objects } = await scanReview(Buffer.from(text), slices())
  t.strictSame(envelope, JSON.parse(text))
  t.strictSame([objects.length, objects.heaviest], [0, { values: 0, bytes: 0 }])
  const other = await scanReview(Buffer.from('{"request":[{"objects":[{}]}]}'), slices())
  t.strictSame([other.envelope, other.objects.length], [{ request: [{ objects: [{}] }] }, 0])
})

t.test('a long list is scanned in slices', async (t) => {
  let turnsGiven = 0
  const due = { next: async () => void (turnsGiven += 1) } as unknown as TaskSlices
  await scanReview(Buffer.from('{"request":{"objects":[{},{},{}]}}'), due)
  t.equal(turnsGiven, 3)
})

t.test('nested metadata is not taken for that of the object', async (t) => {
  const text = '{"metadata":{"ownerReferences":[{"name":"o"}],"namespace":"s"},"spec":{"metadata":{"name":"x"},"kind":"y"},"kind":"K"}'
  t.strictSame(await identityOf(Buffer.from(text)), { kind: 'K', metadata: { namespace: 's' } })
  t.strictSame(await identityOf(Buffer.from('[]')), { metadata: {} })
})

t.test('an object of up to 10,000 values is parsed at once, a larger one in slices', async (t) => {
  const turnsGiven = async (items: number): Promise<number> => {
    let turns = 0
    const next = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      turns += 1
    }
    const slices = { next } as unknown as TaskSlices
    const [object] = [...(await scan(`[{"a":[${Array(items).fill('1').join(',')}]}]`)).objects]
    t.equal(object!.values, items + 1)
    await readObject(object!, slices)
    return turns
  }
  t.equal(await turnsGiven(9_999), 0)
  t.ok((await turnsGiven(10_000)) > 5)
})
