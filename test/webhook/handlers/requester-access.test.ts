import t from 'tap'
import { configMap, deployment, node, pod } from '../../../src/api/builtin.ts'
import type { SubjectAccessReview } from '../../../src/api/builtin.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { accessReviewRule } from '../../../src/client/is-allowed.ts'
import { AccessReviews } from '../../../src/webhook/handlers/requester-access.ts'
import type { AccessAttributes } from '../../../src/webhook/definition/context.ts'
import type { UserInfo } from '../../../src/webhook/definition/context.ts'

const jane: UserInfo = { username: 'jane', uid: '7', groups: ['dev'], extra: { 'example.com/x': ['y'] } }
const createPods = { verb: 'create', type: pod, namespace: 'ns' }

/** Returns a client that records SubjectAccessReviews. `allows` determines their results. */
function world(allows: (spec: SubjectAccessReview['spec']) => boolean = () => true) {
  const clock = new FakeClock()
  const specs: SubjectAccessReview['spec'][] = []
  const client = {
    create: async (_type: unknown, { spec }: SubjectAccessReview) => (specs.push(spec), { spec, status: { allowed: allows(spec) } }),
  } as unknown as Pick<Client, 'create'>
  return { clock, specs, client, reviews: new AccessReviews(clock) }
}

t.test('a SubjectAccessReview names the user and the resource attributes', async (t) => {
  const { specs, client, reviews } = world()
  t.equal(await reviews.allows(client, jane, { ...createPods, subresource: 'exec', name: 'p' }, 'other'), true)
  t.strictSame(specs, [
    {
      user: 'jane',
      uid: '7',
      groups: ['dev'],
      extra: { 'example.com/x': ['y'] },
      resourceAttributes: { verb: 'create', group: '', resource: 'pods', namespace: 'ns', subresource: 'exec', name: 'p' },
    },
  ])
})

t.test('a user with a name only is reviewed by name, and attributes without a namespace get that of the admission request', async (t) => {
  const { specs, client, reviews } = world()
  const joe = { username: 'joe' }
  await reviews.allows(client, joe, { verb: 'get', type: deployment }, 'own')
  await reviews.allows(client, joe, { verb: 'get', type: deployment, namespace: '' }, 'own')
  await reviews.allows(client, joe, { verb: 'get', type: node, namespace: 'ns' }, 'own')
  const attributes = { verb: 'get', group: 'apps', resource: 'deployments' }
  t.strictSame(specs, [
    { user: 'joe', resourceAttributes: { ...attributes, namespace: 'own' } },
    { user: 'joe', resourceAttributes: { ...attributes, namespace: '' } },
    { user: 'joe', resourceAttributes: { verb: 'get', group: '', resource: 'nodes', namespace: '' } },
  ])
})

t.test('an access review without a status denies', async (t) => {
  const { reviews } = world()
  for (const answer of [{}, { status: {} }, { status: { allowed: 'true' } }])
    t.equal(await reviews.allows({ create: async () => answer } as never, { username: JSON.stringify(answer) }, createPods, ''), false)
})

t.test('an answer is cached from the time it arrived', async (t) => {
  const { clock, specs, client, reviews } = world()
  const slow = {
    create: async (type: unknown, review: SubjectAccessReview) => {
      await clock.advance(3_000)
      return (client.create as (...args: unknown[]) => unknown)(type, review)
    },
  } as unknown as Pick<Client, 'create'>
  const check = (): Promise<boolean> => reviews.allows(slow, jane, createPods, '')
  await check()
  await clock.advance(4_999)
  await check()
  t.equal(specs.length, 1)
})

t.test('a cached answer that has expired is renewed, and counts as new when the oldest is evicted', async (t) => {
  const { clock, specs, client, reviews } = world()
  const check = (index: number): Promise<boolean> => reviews.allows(client, jane, { ...createPods, name: `p${index}` }, 'other')
  await check(0)
  await clock.advance(4_000)
  for (let index = 1; index < 1000; index += 1) await check(index)
  await clock.advance(1_000)
  await check(0)
  t.equal(specs.length, 1001, 'the cached answer has expired')
  for (const index of [1000, 0, 2]) await check(index)
  t.equal(specs.length, 1002)
  await check(1)
  t.equal(specs.length, 1003, 'the oldest has been evicted')
})

t.test('a granted access is cached for five seconds, a denied one for one', async (t) => {
  for (const [allowed, ms] of [
    [true, 5_000],
    [false, 1_000],
  ] as const) {
    const { clock, specs, client, reviews } = world(() => allowed)
    const check = (): Promise<boolean> => reviews.allows(client, jane, createPods, 'other')
    for (const _ of [1, 2, 3]) t.equal(await check(), allowed)
    await clock.advance(ms - 1)
    await check()
    t.equal(specs.length, 1)
    await clock.advance(1)
    t.equal(await check(), allowed)
    t.equal(specs.length, 2)
  }
})

t.test('an answer is cached for one user and one set of attributes', async (t) => {
  const { specs, client, reviews } = world()
  const users: readonly UserInfo[] = [
    jane,
    { ...jane, username: 'joe' },
    { ...jane, uid: '8' },
    { ...jane, groups: ['dev', 'ops'] },
    { ...jane, extra: {} },
    { username: 'jane' },
  ]
  for (const user of users) await reviews.allows(client, user, createPods, 'other')
  const attributes: readonly Partial<AccessAttributes>[] = [
    { verb: 'get' },
    { type: deployment },
    { type: configMap },
    { type: resourceType({ group: 'example.com', version: 'v1', kind: 'Pod', plural: 'pods' }) },
    { namespace: '' },
    { name: 'p' },
    { subresource: 'exec' },
  ]
  for (const each of attributes) await reviews.allows(client, jane, { ...createPods, ...each }, 'other')
  t.equal(specs.length, users.length + attributes.length)
})

t.test('the oldest of a thousand cached answers is evicted', async (t) => {
  const { specs, client, reviews } = world()
  const check = (index: number): Promise<boolean> => reviews.allows(client, jane, { ...createPods, name: `p${index}` }, 'other')
  for (let index = 0; index <= 1000; index += 1) await check(index)
  await check(1000)
  await check(1)
  t.equal(specs.length, 1001)
  await check(0)
  t.equal(specs.length, 1002)
})

t.test('a failed access review is an error with its cause, and is not cached', async (t) => {
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
      'This process may not check whether the user "jane" may create pods: add accessReviewRule to the `rbac` of the controller or webhook, and apply the role that "proreus generate" writes.',
    cause: { message: /not you/ },
  })
  await t.rejects(reviews.allows(refuse(failure(500, 'InternalError', 'oops')), jane, { verb: 'get', type: deployment }, ''), {
    message: 'The API server did not answer whether the user "jane" may get deployments.apps.',
  })
  t.equal(await reviews.allows(world().client, jane, createPods, 'other'), true)
})

t.test('the rule for SubjectAccessReviews allows nothing else', (t) => {
  t.strictSame(accessReviewRule, { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] })
  t.ok([accessReviewRule, ...Object.values(accessReviewRule)].every((part) => Object.isFrozen(part)))
  t.end()
})
