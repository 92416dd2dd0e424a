import t from 'tap'
import { invalid } from '../../src/api/field-error.ts'
import { hostileReviews, reviewOfSpec } from '../support/hostile/reviews.ts'
import type { Handlers } from '../support/hostile/server.ts'
import { ask, serve, url } from '../support/hostile/server.ts'
import type { ReviewAnswer } from '../support/webhook/fixture.ts'
import { patchOf } from '../support/webhook/fixture.ts'

t.test('a large review reaches the handlers of its kind', async (t) => {
  const seen: unknown[] = []
  const { server } = await serve(t, {
    default: (object) => (object.spec.evil === 'aaA' ? { ...object, spec: { ...object.spec, evil: 'abAb' } } : object),
    validate: (object, _old, context) => {
      seen.push([Object.isFrozen(object.spec.items?.[0]), object.spec.items?.length, object.spec.items?.at(-1)?.weight])
      context.warn('looked')
      return []
    },
  })
  const items = `[${Array.from({ length: 60_000 }, (_, i) => `{"name":"n${i}","weight":${i % 9},"text":"${'é'.repeat(10)}"}`).join(',')}]`
  const body = Buffer.from(reviewOfSpec(`{"items":${items}}`))
  t.match(await ask(server, 'validate', body), { uid: 'hostile', allowed: true, warnings: ['looked'] })
  t.match(await ask(server, 'mutate', body), { uid: 'hostile', allowed: true, warnings: ['looked'], patch: undefined })
  t.strictSame(seen, Array(2).fill([true, 60_000, 59_999 % 9]))
  const changed = await ask(server, 'mutate', Buffer.from(reviewOfSpec(`{"evil":"aaaaA","items":${items.replace('"weight":0,', '')}}`)))
  t.match(changed, { allowed: false, status: { code: 422 } }, 'the schema is validated first')
  const defaulted = await ask(server, 'mutate', Buffer.from(reviewOfSpec(`{"items":${items.replace('"weight":0,', '')}}`)))
  t.strictSame(patchOf(defaulted), [{ op: 'add', path: '/spec/items/0/weight', value: 1 }])
})

t.test('the patch of a large review has the defaults of the schema, followed by the changes of handlers', async (t) => {
  const seen: string[] = []
  const { server } = await serve(t, {
    default: (object) => {
      seen.push(`${object.spec.items?.length} ${object.spec.items?.at(-1)?.weight}`)
      return object.spec.labels?.change === undefined ? object : { ...object, spec: { ...object.spec, evil: 'abAb' } }
    },
    validate: ({ spec }, _old, context) => {
      if (spec.labels?.warn !== undefined) context.warn('looked')
      return spec.labels?.bad === undefined ? [] : [invalid('spec.labels', spec.labels, 'is bad')]
    },
  })
  const count = 60_000
  const items = `[${Array.from({ length: count }, (_, i) => `{"name":"n${i}","text":"${'x'.repeat(20)}"}`).join()}]`
  const about = (labels: object): Promise<ReviewAnswer> =>
    ask(server, 'mutate', reviewOfSpec(`{"items":${items},"labels":${JSON.stringify(labels)}}`))
  const evil = { op: 'add', path: '/spec/evil', value: 'abAb' }
  const cases: [object, string[], object[]][] = [
    [{}, [], []],
    [{ change: 'y' }, [], [evil]],
    [{ warn: 'y' }, ['looked'], []],
    [{ warn: 'y', change: 'y' }, ['looked'], [evil]],
  ]
  for (const [labels, warnings, own] of cases) {
    const answer = await about(labels)
    t.strictSame(answer.warnings ?? [], warnings)
    const patch = patchOf(answer)
    t.strictSame(patch[0], { op: 'add', path: '/spec/items/0/weight', value: 1 })
    t.strictSame(patch.slice(count), own)
  }
  t.strictSame(seen, Array(cases.length).fill(`${count} 1`))
  t.match(await about({ bad: 'y', warn: 'y' }), { allowed: false, warnings: ['looked'], status: { code: 422 } })
})

t.test('a defaulter can fill in required fields of a large object, and is not called on wrong types', async (t) => {
  const lacking = reviewOfSpec(`{"evil":"${'a'.repeat(3_000_000)}A","plain":[{}]}`)
  const fill: Handlers = {
    default: (object) => ({ ...object, spec: { ...object.spec, plain: [{ name: 'filled', weight: 1 }] } }),
  }
  const { server } = await serve(t, fill)
  t.match(await ask(server, 'mutate', lacking), { allowed: false, status: { details: { causes: [{ field: 'spec.evil' }] } } })
  const mended = await ask(server, 'mutate', lacking.replace('aaA', 'aAa'))
  t.match(mended, { allowed: true })
  t.match(patchOf(mended), [
    { op: 'add', path: '/spec/plain/0/name', value: 'filled' },
    { op: 'add', path: '/spec/plain/0/weight', value: 1 },
  ])
  t.match(await ask(server, 'validate', lacking.replace('aaA', 'aAa')), { allowed: false })

  const bad = await serve(t, {
    default: (object) => ({ ...object, spec: { ...object.spec, plain: [{ name: 'filled', weight: 11 }], names: ['a', 'a'] } }),
  })
  const revalidated = await ask(bad.server, 'mutate', lacking.replace('aaA', 'aAa'))
  t.match(revalidated, { allowed: false, status: { details: { causes: [{ field: 'spec.names[1]' }, { field: 'spec.plain[0].weight' }] } } })

  const called: unknown[] = []
  const late = await serve(t, { refuseInvalidEarly: false, default: (object) => (called.push(object), object) })
  const wrong = reviewOfSpec(`{"labels":{"a":1,"b":"${'x'.repeat(3_000_000)}"}}`)
  t.match(await ask(late.server, 'mutate', wrong), { allowed: true })
  t.equal(called.length, 0, 'default() is not called on wrong types')
})

t.test('errors of handlers and of the schema are combined alike in small and large objects', async (t) => {
  const { server } = await serve(t, {
    default: (object) => (object.spec.evil === 'wrong' ? { ...object, spec: { ...object.spec, evil: 'abAb' } } : object),
    validate: ({ spec }) => (spec.labels?.bad === undefined ? [] : [invalid('spec.labels', 'bad', 'is bad')]),
  })
  const causesOf = async (filler: number, spec: object, labels: object = {}): Promise<(string | undefined)[]> => {
    const answer = await ask(server, 'mutate', reviewOfSpec(JSON.stringify({ ...spec, labels: { filler: 'x'.repeat(filler), ...labels } })))
    return answer.status?.details?.causes?.map(({ field }) => field) ?? []
  }
  const heavy = (count: number): object => ({ plain: Array.from({ length: count }, () => ({ name: 'a', weight: 11 })) })
  for (const filler of [10, 200_000, 3_000_000]) {
    t.strictSame(await causesOf(filler, { evil: 'wrong' }), [], 'a defaulter may fix what the schema refuses')
    t.strictSame(
      await causesOf(filler, { names: ['a', 'a'] }, { bad: '' }),
      ['spec.labels', 'spec.names[1]'],
      'errors of handlers are listed beside those of the schema',
    )
    t.strictSame(await causesOf(filler, { evil: 5 }, { bad: '' }), ['spec.evil', 'spec.labels'])
    t.equal((await causesOf(filler, heavy(200), { bad: '' })).length, 201)
    t.equal((await causesOf(filler, heavy(400), { bad: '' })).length, 251, 'the last of many states how many are omitted')
  }
})

t.test('a large review with too many values is refused, whatever they are', async (t) => {
  const { server } = await serve(t, { validate: () => [] })
  const list = reviewOfSpec('{}').replace(/"object":\{.*\},"oldObject"/, `"object":[${'1,'.repeat(2_000_000)}1],"oldObject"`)
  t.match(await ask(server, 'validate', list), { uid: 'hostile', allowed: false, status: { code: 413 } })
})

t.test('a large body that is not a review is refused like a small one', async (t) => {
  const { server } = await serve(t)
  const filler = 'x'.repeat(3_000_000)
  const cases: [string, string, number, RegExp][] = [
    ['no JSON around the object', reviewOfSpec(`{"evil":"${filler}"}`).replace('"operation"', 'operation'), 400, /is not (the )?JSON/],
    ['no JSON in the object', reviewOfSpec(`{"evil":"${filler}",}`), 400, /is not (the )?JSON/],
    ['no JSON at all', filler, 400, /is not (the )?JSON/],
    ['a list', reviewOfSpec('{}').replace(/"object":\{.*\},"oldObject"/, `"object":["${filler}"],"oldObject"`), 400, /has no object/],
    ['another kind', reviewOfSpec(`{"evil":"${filler}"}`).replaceAll('Target', 'Other'), 400, /sent Other/],
  ]
  for (const [name, payload, code, text] of cases) {
    const answer = await server.app.inject({
      method: 'POST',
      url: url('validate'),
      payload,
      headers: { 'content-type': 'application/json' },
    })
    t.equal(answer.statusCode, code, name)
    t.match(answer.body, text, name)
  }
  const options = reviewOfSpec('{}').replace('"options":null', `"options":{"a":"${filler}"}`)
  t.match(await ask(server, 'validate', options), { uid: 'hostile', allowed: false, status: { code: 413 } })
  const user = reviewOfSpec('{}').replace('"username":"eve"', `"username":"eve","extra":{"a":["${filler}"]}`)
  await t.rejects(
    ask(server, 'validate', user),
    { message: /^413: .*131072 bytes without its objects/ },
    'the uid is not searched for in the whole body',
  )
})

t.test('a review that takes too long is aborted at its deadline, and the next one gets another thread', async (t) => {
  const { server } = await serve(t)
  const slow = Buffer.from(hostileReviews.find(({ name }) => name === '400,000 keys')!.text())
  t.match(await ask(server, 'validate', slow, '2ms'), { uid: 'hostile', allowed: false, status: { code: 504 } })
  t.match(await ask(server, 'validate', slow), { uid: 'hostile', allowed: true })
})

t.test('the number of listed errors and the length of their values are limited', async (t) => {
  const { server } = await serve(t)
  const items = Array.from({ length: 5000 }, (_, i) => ({ weight: `${i}` }))
  const many = await ask(server, 'validate', reviewOfSpec(JSON.stringify({ plain: items })))
  const causes = many.status?.details?.causes ?? []
  t.equal(causes.length, 251)
  t.match(causes.at(-1), { field: '<nil>', reason: 'FieldValueTooMany', message: /^Too many: at least 750 more errors are not listed/ })
  const long = await ask(server, 'validate', reviewOfSpec(JSON.stringify({ evil: '!'.repeat(100_000) })))
  t.ok((long.status?.message?.length ?? Infinity) < 20_000)
})
