/**
 * Tests of the access filter. The client is a fake that answers a TokenReview or a SubjectAccessReview with a status like that of the API
 * server.
 */
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { accessFilter } from '../../src/manager/access-filter.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/recording-logger.ts'

interface Review {
  readonly spec: { readonly token?: string; readonly user?: string; readonly nonResourceAttributes?: { path: string; verb: string } }
}

/** The token `T` authenticates the user `T`. A token that begins with `bad` is invalid. Only the user `reader` may get /metrics. */
function world(respond: (review: Review, signal: AbortSignal) => Promise<object> | object = answer) {
  const clock = new FakeClock()
  const { logger, entries, lines } = recordingLogger('debug')
  const reviews: string[] = []
  const client = {
    create: async (_type: unknown, review: Review, { signal }: { signal: AbortSignal }) => {
      const { token, user, nonResourceAttributes: access } = review.spec
      reviews.push(token === undefined ? `${user} ${access?.verb} ${access?.path}` : `token ${token}`)
      return { status: await respond(review, signal) }
    },
  } as unknown as Pick<Client, 'create'>
  const filter = accessFilter({ client, paths: ['/metrics', '/debug/heap', '/debug/cache'], clock, logger })
  const ask = async (authorization?: string, { path = '/metrics', method = 'GET', address = '10.0.0.1' } = {}): Promise<number> => {
    const request = { method, headers: { authorization }, socket: { remoteAddress: address } } as unknown as IncomingMessage
    return (await filter(request, new URL(path, 'http://localhost')))?.code ?? 200
  }
  return { ask, filter, reviews, clock, entries, lines }
}

function answer({ spec: { token, user, nonResourceAttributes } }: Review): object {
  if (token !== undefined)
    return token.startsWith('bad') ? { error: 'invalid' } : { authenticated: true, user: { username: token, groups: ['g'] } }
  return { allowed: user === 'reader' && nonResourceAttributes?.path === '/metrics' && nonResourceAttributes.verb === 'get' }
}

t.test('a valid token whose user has the permission passes; others get 401 and 403', async (t) => {
  const { ask, reviews, clock } = world()
  t.equal(await ask('Bearer reader'), 200)
  t.strictSame(reviews, ['token reader', 'reader get /metrics'])
  t.equal(await ask('Bearer other'), 403)
  t.equal(await ask('Bearer reader', { path: '/debug/heap' }), 403)
  t.equal(await ask('Bearer reader', { method: 'PUT' }), 403)
  t.equal(await ask('Bearer bad'), 401)
  const before = reviews.length
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic cmVhZGVyOng=', 'Bearer a b', 'Bearer ä', 'reader'])
    t.equal(await ask(header), 401, String(header))
  t.equal(reviews.length, before, 'without a token there is no review')
  t.equal(clock.pending, 0, 'no review leaves its time limit behind')
})

t.test('results are cached: tokens for a minute, permissions for five, denials for half a minute', async (t) => {
  const { ask, reviews, clock } = world()
  const asked = async (token: string): Promise<string[]> => {
    reviews.length = 0
    await ask(`Bearer ${token}`)
    return [...reviews]
  }
  for (const token of ['reader', 'other', 'bad']) await ask(`Bearer ${token}`)
  await clock.advance(29_999)
  for (const token of ['reader', 'other', 'bad']) t.strictSame(await asked(token), [])
  await clock.advance(1)
  t.strictSame(await asked('other'), ['other get /metrics'])
  await clock.advance(29_999)
  for (const token of ['reader', 'bad']) t.strictSame(await asked(token), [])
  await clock.advance(1)
  t.strictSame(await asked('reader'), ['token reader'])
  t.strictSame(await asked('bad'), ['token bad'])
  await clock.advance(240_000)
  t.strictSame(await asked('reader'), ['token reader', 'reader get /metrics'])
})

t.test('a review that fails or hangs is answered with 500, is logged without the token, and is not cached', async (t) => {
  let fails = true
  const { ask, filter, entries } = world((review) => {
    if (fails) throw new Error('no connection')
    return answer(review)
  })
  t.equal(await ask('Bearer secret-token'), 500)
  const request = { method: 'GET', headers: { authorization: 'Bearer secret-token' }, socket: {} } as unknown as IncomingMessage
  t.match(await filter(request, new URL('http://localhost/metrics')), { code: 500, body: 'the authentication failed\n' })
  t.match(entries[0], { level: 'error', msg: 'the authentication of a request to /metrics failed', err: { message: 'no connection' } })
  t.notMatch(JSON.stringify(entries), /secret-token/)
  t.strictSame(
    entries.map(({ level }) => level),
    ['error', 'debug'],
    'a failure that persists is logged once',
  )
  for (let index = 0; index < 20; index++) t.equal(await ask(`Bearer ${index}`), 500, 'it does not count as rejected')
  fails = false
  t.equal(await ask('Bearer reader'), 200)
  fails = true
  await ask('Bearer third')
  t.match(entries.at(-1), { level: 'error' })
  const hanging = world(
    (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  )
  const pending = hanging.ask('Bearer reader')
  await hanging.clock.advance(8_000)
  t.equal(await pending, 500)
})

t.test('a missing permission is logged with advice, and without a stack', async (t) => {
  const message =
    'tokenreviews.authentication.k8s.io is forbidden: User "x" cannot create resource "tokenreviews" in API group "authentication.k8s.io"'
  const { ask, entries } = world(() => {
    throw new ApiError(failure(403, 'Forbidden', message))
  })
  t.equal(await ask('Bearer a'), 500)
  t.match(entries[0]?.msg, /; it needs the verb create on tokenreviews and subjectaccessreviews: apply config\/rbac\/role\.yaml /)
  t.match(entries[0]?.['err'], { message })
  t.notOk('stack' in (entries[0]?.['err'] as object))
})

t.test('many bad tokens of one address do not reach the API server, and do not hinder another', async (t) => {
  const { ask, reviews, clock } = world()
  t.equal(await ask('Bearer reader', { address: '10.0.0.1' }), 200)
  const codes = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(`Bearer bad${index}`, { address: '10.0.0.9' })))
  t.strictSame([...new Set(codes)].sort(), [401, 429])
  for (let index = 300; index < 400; index++) codes.push(await ask(`Bearer bad${index}`, { address: '10.0.0.9' }))
  t.ok(reviews.length <= 2 + 10, `${reviews.length} reviews`)
  t.equal(await ask('Bearer other', { address: '10.0.0.9' }), 429, 'an unknown token of that address waits')
  t.equal(await ask('Bearer reader', { address: '10.0.0.9' }), 200, 'a known token does not')
  t.equal(await ask('Bearer other', { address: '10.0.0.2' }), 403)
  await clock.advance(60_000)
  t.equal(await ask('Bearer other', { address: '10.0.0.9' }), 403)
})

t.test('valid tokens of one address do not count as rejected', async (t) => {
  const { ask } = world()
  for (let index = 0; index < 30; index++) t.equal(await ask(`Bearer user${index}`), 403)
})

t.test('at most eight reviews are in flight, and equal ones are one', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { ask, reviews } = world(async (review) => {
    await gate.promise
    return answer(review)
  })
  const same = Array.from({ length: 12 }, () => ask('Bearer reader'))
  const others = Array.from({ length: 20 }, (_, index) => ask(`Bearer bad${index}`, { address: `10.0.1.${index}` }))
  await Promise.resolve()
  t.equal(reviews.length, 8)
  gate.resolve()
  t.strictSame([...new Set(await Promise.all(same))], [200], 'equal ones of one address do not count as rejected')
  t.strictSame((await Promise.all(others)).filter((code) => code === 429).length, 13)
})

t.test('a path that does not exist costs no review of the permission, and is not shown to clients without a token', async (t) => {
  const { ask, reviews } = world()
  for (let index = 0; index < 100; index++) t.equal(await ask('Bearer other', { path: `/p${index}` }), 404)
  t.strictSame(reviews, ['token other'])
  t.equal(await ask('Bearer bad', { path: '/p1' }), 401)
  t.equal(await ask(undefined, { path: '/p1' }), 401)
})

t.test('a user with many tokens does not displace the decisions about others', async (t) => {
  // The reviews of different ServiceAccount tokens return different values of `extra`.
  const { ask, reviews } = world((review) => {
    const { token } = review.spec
    if (token === undefined || token === 'reader') return answer(review)
    return { authenticated: true, user: { username: 'minter', extra: { 'authentication.kubernetes.io/credential-id': [token] } } }
  })
  t.equal(await ask('Bearer reader'), 200)
  for (let index = 0; index < 1100; index++) await ask(`Bearer minted${index}`, { address: '10.0.0.9' })
  reviews.length = 0
  t.equal(await ask('Bearer reader'), 200)
  t.strictSame(reviews, ['token reader'], 'the permission is still known')
  reviews.length = 0
  await ask('Bearer minted1099')
  t.strictSame(reviews, [], 'the latest decisions about the user are known')
})

t.test('one address has at most half of the reviews in flight', async (t) => {
  const gate = Promise.withResolvers<void>()
  const { ask, reviews } = world(async (review) => {
    await gate.promise
    return answer(review)
  })
  const greedy = Array.from({ length: 8 }, (_, index) => ask(`Bearer user${index}`, { address: '10.0.0.9' }))
  const other = ask('Bearer reader')
  await Promise.resolve()
  t.equal(reviews.length, 5)
  gate.resolve()
  t.equal(await other, 200)
  t.strictSame((await Promise.all(greedy)).sort(), [403, 403, 403, 403, 429, 429, 429, 429])
})
