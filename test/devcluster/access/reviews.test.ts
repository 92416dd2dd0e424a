/** Tests of access reviews and TokenReviews. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { tokenAuthenticator } from '../../../src/devcluster/access/authenticate.ts'
import { ruleAuthorizer } from '../../../src/devcluster/access/authorizer.ts'
import { reviewRows } from '../../../src/devcluster/access/reviews.ts'
import type { RequestContext, UserInfo } from '../../../src/devcluster/apimachinery/request-context.ts'
import { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'

const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }]
const authorizer = ruleAuthorizer([{ user: 'bob', namespace: 'a', rules }])
const bob: UserInfo = { username: 'bob', uid: '1', groups: ['system:authenticated'], extra: { scopes: ['x'] } }
const rows = reviewRows(authorizer, {
  clock: new FakeClock(),
  tokens: tokenAuthenticator(new Map([['secret', bob]])),
})

const context: RequestContext = {
  user: bob,
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  userAgent: '',
  warn: () => undefined,
  signal: new AbortController().signal,
}

async function review(kind: string, object: JsonObject): Promise<JsonObject> {
  return rows.find((candidate) => candidate.kind === kind)!.review!(object, context)
}

async function refusal(kind: string, object: JsonObject): Promise<string> {
  try {
    await review(kind, object)
  } catch (error) {
    if (error instanceof StatusError) return error.message
  }
  return 'accepted'
}

const createPods = { verb: 'create', group: '', resource: 'pods', namespace: 'a' }

/** Returns the error message for an invalid review, without the constant text between the kind and the problem. */
async function problem(kind: string, object: JsonObject): Promise<string> {
  return (await refusal(kind, object)).replace('.authorization.k8s.io "" is invalid: ', '')
}

const metrics = { verb: 'get', path: '/metrics' }
const both = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'

t.test('a SubjectAccessReview decides for the user in its spec', async (t) => {
  const object = { kind: 'SubjectAccessReview', metadata: {}, spec: { user: 'bob', groups: ['g'], resourceAttributes: createPods } }
  t.strictSame(await review('SubjectAccessReview', object), { ...object, status: { allowed: true } })
  const eves = { spec: { ...object.spec, user: 'eve' } }
  t.strictSame(await review('SubjectAccessReview', eves), { ...eves, status: { allowed: false } })
  const masters = { spec: { groups: ['system:masters'], nonResourceAttributes: metrics } }
  t.strictSame(await review('SubjectAccessReview', masters), { ...masters, status: { allowed: true } })
})

t.test('a review without attributes, or with both kinds of them, is refused with every error', async (t) => {
  const nobody = 'spec.user: Invalid value: "": at least one of user or group must be specified'
  const nothing = `spec.resourceAttributes: Invalid value: null: ${both}`
  const two =
    'spec.nonResourceAttributes: Invalid value: {"Path":"/metrics","Verb":"get"}: cannot be specified in combination with resourceAttributes'
  const twice = { resourceAttributes: createPods, nonResourceAttributes: metrics }
  t.equal(await problem('SubjectAccessReview', { spec: { resourceAttributes: createPods } }), nobody)
  t.equal(await problem('SubjectAccessReview', { spec: { user: 'bob' } }), nothing)
  t.equal(await problem('SubjectAccessReview', { spec: { groups: ['g'], ...twice } }), two)
  t.equal(await problem('SubjectAccessReview', {}), `[${nothing}, ${nobody}]`)
  t.equal(await problem('SelfSubjectAccessReview', { spec: {} }), nothing)
  t.equal(await problem('SelfSubjectAccessReview', { spec: twice }), two)
})

t.test('a LocalSubjectAccessReview is limited to its own namespace', async (t) => {
  const spec = { user: 'bob', resourceAttributes: createPods }
  const object = { metadata: { namespace: 'a' }, spec }
  t.strictSame(await review('LocalSubjectAccessReview', object), { ...object, status: { allowed: true } })
  t.equal(
    await problem('LocalSubjectAccessReview', { metadata: { namespace: 'b' }, spec }),
    'spec.resourceAttributes.namespace: Invalid value: "a": must match metadata.namespace',
  )
  t.equal(
    await problem('LocalSubjectAccessReview', {
      metadata: { namespace: 'b' },
      spec: { user: 'bob', nonResourceAttributes: { verb: 'get', path: '/' } },
    }),
    'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request',
  )
})

t.test('the authorizer receives every attribute of a review', async (t) => {
  const asked: unknown[] = []
  const asking = reviewRows(
    {
      authorize(attributes) {
        asked.push(attributes)
        return { allowed: false, reason: 'because' }
      },
    },
    { clock: new FakeClock() },
  )
  const answer = (kind: string, object: JsonObject): Promise<JsonObject> =>
    asking.find((row) => row.kind === kind)!.review!(object, context)
  const resourceAttributes = { verb: 'get', group: 'g', version: 'v1', resource: 'r', subresource: 's', namespace: 'n', name: 'x' }
  const user = { user: 'eve', groups: ['a', 'b'], uid: '7', extra: { k: ['v', 'w'] } }
  const spec = { ...user, resourceAttributes }
  t.strictSame(await answer('SubjectAccessReview', { spec }), { spec, status: { allowed: false, reason: 'because' } })
  await answer('SubjectAccessReview', { spec: { user: 'eve', nonResourceAttributes: metrics } })
  await answer('SelfSubjectAccessReview', { spec: { nonResourceAttributes: { verb: 'get' } } })
  const nothing = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
  t.strictSame(asked, [
    { user: { username: 'eve', groups: ['a', 'b'], uid: '7', extra: { k: ['v', 'w'] } }, ...resourceAttributes },
    { user: { username: 'eve', groups: [], extra: {} }, ...nothing, ...metrics },
    { user: bob, ...nothing, verb: 'get', path: '' },
  ])
})

t.test('a SelfSubjectAccessReview and a SelfSubjectReview are about the requesting user', async (t) => {
  const allowed = { kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: createPods } }
  t.strictSame(await review('SelfSubjectAccessReview', allowed), { ...allowed, status: { allowed: true } })
  t.match(await review('SelfSubjectAccessReview', { spec: { resourceAttributes: { ...createPods, namespace: 'b' } } }), {
    status: { allowed: false },
  })
  t.strictSame(await review('SelfSubjectReview', { kind: 'SelfSubjectReview' }), {
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { userInfo: { username: 'bob', uid: '1', groups: ['system:authenticated'], extra: { scopes: ['x'] } } },
  })
  const [self] = rows.filter(({ kind }) => kind === 'SelfSubjectReview')
  const plain = { ...context, user: { username: 'eve', groups: [] } }
  t.strictSame((await self!.review!({}, plain)).status, { userInfo: { username: 'eve', groups: [] } })
})

t.test('a SelfSubjectRulesReview lists the rules of the requesting user in a namespace', async (t) => {
  const named = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['s'] }
  const path = { apiGroups: [], resources: [], verbs: ['get'], nonResourceURLs: ['/version'] }
  const some = reviewRows(
    ruleAuthorizer([
      { user: 'bob', namespace: 'a', rules: [...rules, named, path] },
      { user: 'bob', namespace: 'b', rules: [{ ...rules[0]!, resources: ['nodes'] }] },
      { user: 'bob', rules: [], problem: 'role not found' },
    ]),
    { clock: new FakeClock() },
  ).find(({ kind }) => kind === 'SelfSubjectRulesReview')!
  const type = { kind: 'SelfSubjectRulesReview', apiVersion: 'authorization.k8s.io/v1' }
  t.strictSame(await some.review!({ ...type, metadata: { name: 'x' }, spec: { namespace: 'a' } }, context), {
    ...type,
    metadata: {},
    spec: {},
    status: {
      resourceRules: [rules[0], named],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/version'] }],
      incomplete: false,
      evaluationError: 'role not found',
    },
  })
  const unable = reviewRows({ authorize: () => ({ allowed: true, reason: '' }) }, { clock: new FakeClock() })
  const [blind] = unable.filter(({ kind }) => kind === 'SelfSubjectRulesReview')
  t.strictSame((await blind!.review!({ spec: { namespace: 'a' } }, context)).status, {
    resourceRules: [],
    nonResourceRules: [],
    incomplete: true,
  })
  t.equal(await refusal('SelfSubjectRulesReview', { spec: {} }), 'no namespace on request')
})

t.test('a TokenReview returns the user of a token', async (t) => {
  const server = 'https://kubernetes.default.svc'
  const user = { username: 'bob', uid: '1', groups: ['system:authenticated'], extra: { scopes: ['x'] } }
  const known = { spec: { token: 'secret' } }
  t.strictSame(await review('TokenReview', known), { ...known, status: { authenticated: true, user, audiences: [server] } })
  const meant = { spec: { token: 'secret', audiences: ['other', server] } }
  t.strictSame(await review('TokenReview', meant), { ...meant, status: { authenticated: true, user, audiences: [server] } })
  const unknown = { user: {}, error: 'invalid bearer token' }
  t.strictSame((await review('TokenReview', { spec: { token: 'secret', audiences: ['other'] } })).status, unknown)
  t.strictSame((await review('TokenReview', { spec: { token: 'other' } })).status, unknown)
  t.equal(await refusal('TokenReview', { spec: {} }), 'token is required for TokenReview in authentication')
  const refusing = reviewRows(authorizer, { clock: new FakeClock(), tokens: () => ({ refusal: 'not for you' }) }).at(-1)!
  t.strictSame((await refusing.review!(known, context)).status, { user: {}, error: '[invalid bearer token, not for you]' })
})

t.test('reviews support the verb create only', (t) => {
  t.strictSame(
    rows.map(({ group, version, kind, listKind, plural, singular, namespaced, verbs, storageKey, storageVersion, custom }) => ({
      name: `${plural}.${version}.${group}`,
      kinds: [kind, listKind, singular],
      namespaced,
      verbs,
      stored: `${storageKey}@${storageVersion}`,
      custom,
    })),
    [
      ['SubjectAccessReview', 'authorization.k8s.io', false],
      ['LocalSubjectAccessReview', 'authorization.k8s.io', true],
      ['SelfSubjectAccessReview', 'authorization.k8s.io', false],
      ['SelfSubjectRulesReview', 'authorization.k8s.io', false],
      ['SelfSubjectReview', 'authentication.k8s.io', false],
      ['TokenReview', 'authentication.k8s.io', false],
    ].map(([kind, group, namespaced]) => {
      const singular = String(kind).toLowerCase()
      return {
        name: `${singular}s.v1.${group}`,
        kinds: [kind, `${kind}List`, singular],
        namespaced,
        verbs: ['create'],
        stored: `${group}/${singular}s@v1`,
        custom: false,
      }
    }),
  )
  t.strictSame(
    reviewRows(authorizer, { clock: new FakeClock() }).map(({ kind }) => kind),
    rows.slice(0, -1).map(({ kind }) => kind),
    'TokenReview is not served without a token authenticator',
  )
  t.end()
})
