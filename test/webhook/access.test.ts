import t from 'tap'
import { deployment, node, pod } from '../../src/api/builtin.ts'
import type { SubjectAccessReview } from '../../src/api/builtin.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { AccessReviews } from '../../src/webhook/access.ts'
import type { AccessAttributes } from '../../src/webhook/access.ts'
import type { UserInfo } from '../../src/webhook/context.ts'

const jane: UserInfo = { username: 'jane', uid: '7', groups: ['dev'], extra: { 'example.com/x': ['y'] } }
const createPods = { verb: 'create', type: pod, namespace: 'ns' }

/** An API server that allows what `allows` says, and counts. */
function world(allows: (spec: SubjectAccessReview['spec']) => boolean = () => true) {
  const clock = new FakeClock()
  const asked: SubjectAccessReview['spec'][] = []
  const client = {
    create: async (_type: unknown, { spec }: SubjectAccessReview) => (asked.push(spec), { spec, status: { allowed: allows(spec) } }),
  } as unknown as Pick<Client, 'create'>
  return { clock, asked, client, reviews: new AccessReviews(clock) }
}

t.test('asks as whom, and what', async (t) => {
  const { asked, client, reviews } = world()
  t.equal(await reviews.allows(client, jane, { ...createPods, subresource: 'exec', name: 'p' }, 'other'), true)
  t.strictSame(asked, [
    {
      user: 'jane',
      uid: '7',
      groups: ['dev'],
      extra: { 'example.com/x': ['y'] },
      resourceAttributes: { verb: 'create', group: '', resource: 'pods', namespace: 'ns', subresource: 'exec', name: 'p' },
    },
  ])
})

t.test('who has only a name is asked about by it, and what names no namespace is asked about in that of the request', async (t) => {
  const { asked, client, reviews } = world()
  const joe = { username: 'joe' }
  await reviews.allows(client, joe, { verb: 'get', type: deployment }, 'own')
  await reviews.allows(client, joe, { verb: 'get', type: deployment, namespace: '' }, 'own')
  await reviews.allows(client, joe, { verb: 'get', type: node, namespace: 'ns' }, 'own')
  const attributes = { verb: 'get', group: 'apps', resource: 'deployments' }
  t.strictSame(asked, [
    { user: 'joe', resourceAttributes: { ...attributes, namespace: 'own' } },
    { user: 'joe', resourceAttributes: { ...attributes, namespace: '' } },
    { user: 'joe', resourceAttributes: { verb: 'get', group: '', resource: 'nodes', namespace: '' } },
  ])
})

t.test('an answer without a status is a no', async (t) => {
  const { reviews } = world()
  for (const answer of [{}, { status: {} }, { status: { allowed: 'true' } }])
    t.equal(await reviews.allows({ create: async () => answer } as never, { username: JSON.stringify(answer) }, createPods, ''), false)
})

t.test('an answer is remembered from when it came', async (t) => {
  const { clock, asked, client, reviews } = world()
  const slow = {
    create: async (type: unknown, review: SubjectAccessReview) => {
      await clock.advance(3_000)
      return (client.create as (...args: unknown[]) => unknown)(type, review)
    },
  } as unknown as Pick<Client, 'create'>
  const ask = (): Promise<boolean> => reviews.allows(slow, jane, createPods, '')
  await ask()
  await clock.advance(4_999)
  await ask()
  t.equal(asked.length, 1)
})

t.test('an answer that was asked for again is among the newest', async (t) => {
  const { clock, asked, client, reviews } = world()
  const ask = (index: number): Promise<boolean> => reviews.allows(client, jane, { ...createPods, name: `p${index}` }, 'other')
  await ask(0)
  await clock.advance(4_000)
  for (let index = 1; index < 1000; index += 1) await ask(index)
  await clock.advance(1_000)
  await ask(0)
  t.equal(asked.length, 1001, 'it was too old')
  for (const index of [1000, 0, 2]) await ask(index)
  t.equal(asked.length, 1002)
  await ask(1)
  t.equal(asked.length, 1003, 'the oldest has gone')
})

t.test('an answer is used again for some seconds, a no for one', async (t) => {
  for (const [allowed, ms] of [
    [true, 5_000],
    [false, 1_000],
  ] as const) {
    const { clock, asked, client, reviews } = world(() => allowed)
    const ask = (): Promise<boolean> => reviews.allows(client, jane, createPods, 'other')
    for (const _ of [1, 2, 3]) t.equal(await ask(), allowed)
    await clock.advance(ms - 1)
    await ask()
    t.equal(asked.length, 1)
    await clock.advance(1)
    t.equal(await ask(), allowed)
    t.equal(asked.length, 2)
  }
})

t.test('an answer is for one user and one question', async (t) => {
  const { asked, client, reviews } = world()
  const users: readonly UserInfo[] = [
    jane,
    { ...jane, username: 'joe' },
    { ...jane, groups: ['dev', 'ops'] },
    { ...jane, extra: {} },
    { username: 'jane' },
  ]
  for (const user of users) await reviews.allows(client, user, createPods, 'other')
  const questions: readonly Partial<AccessAttributes>[] = [
    { verb: 'get' },
    { type: deployment },
    { namespace: '' },
    { name: 'p' },
    { subresource: 'exec' },
  ]
  for (const question of questions) await reviews.allows(client, jane, { ...createPods, ...question }, 'other')
  t.equal(asked.length, users.length + questions.length)
})

t.test('the oldest answer goes when there are a thousand', async (t) => {
  const { asked, client, reviews } = world()
  const ask = (index: number): Promise<boolean> => reviews.allows(client, jane, { ...createPods, name: `p${index}` }, 'other')
  for (let index = 0; index <= 1000; index += 1) await ask(index)
  await ask(1000)
  await ask(1)
  t.equal(asked.length, 1001)
  await ask(0)
  t.equal(asked.length, 1002)
})

t.test('a server that does not say is an error with its cause, and asked again', async (t) => {
  const { reviews } = world()
  const refuse = (status: ConstructorParameters<typeof ApiError>[0]): Pick<Client, 'create'> => ({
    create: () => Promise.reject(new ApiError(status)),
  })
  await t.rejects(reviews.allows(refuse(failure(503, 'ServiceUnavailable', 'later')), jane, createPods, 'other'), {
    code: 'PRO_API',
    message: 'The API server did not answer whether the user "jane" may create pods.',
    cause: { message: /later/ },
  })
  await t.rejects(reviews.allows(refuse(failure(403, 'Forbidden', 'not you')), jane, createPods, 'other'), {
    code: 'PRO_PERMISSION',
    message:
      'This process may not check whether the user "jane" may create pods: add accessReviewRule to the `rbac` of the webhook, and apply the role that "proreus generate" writes.',
    cause: { message: /not you/ },
  })
  await t.rejects(reviews.allows(refuse(failure(500, 'InternalError', 'oops')), jane, { verb: 'get', type: deployment }, ''), {
    message: 'The API server did not answer whether the user "jane" may get deployments.apps.',
  })
  t.equal(await reviews.allows(world().client, jane, createPods, 'other'), true)
})
