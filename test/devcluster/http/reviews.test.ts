/** Access reviews and token reviews. */
import t from 'tap'
import { systemClock } from '../../../src/api/clock.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { tokenAuthenticator } from '../../../src/devcluster/http/authenticate.ts'
import { ruleAuthorizer } from '../../../src/devcluster/http/authorizer.ts'
import { reviewRows } from '../../../src/devcluster/http/reviews.ts'
import type { RequestContext, UserInfo } from '../../../src/devcluster/registry/request-context.ts'
import { StatusError } from '../../../src/devcluster/registry/status-error.ts'

const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }]
const authorizer = ruleAuthorizer([{ user: 'bob', namespace: 'a', rules }])
const bob: UserInfo = { username: 'bob', uid: '1', groups: ['system:authenticated'], extra: { scopes: ['x'] } }
const rows = reviewRows(authorizer, { clock: systemClock, tokens: tokenAuthenticator(new Map([['secret', bob]])) })

async function review(kind: string, object: JsonObject): Promise<JsonObject> {
  const row = rows.find((candidate) => candidate.kind === kind)!
  const context: RequestContext = {
    user: bob,
    dryRun: false,
    fieldManager: '',
    fieldValidation: 'Warn',
    userAgent: '',
    warn: () => undefined,
    signal: new AbortController().signal,
  }
  return row.review!(object, context)
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

t.test('SubjectAccessReview answers for the user that it names', async (t) => {
  const object = { kind: 'SubjectAccessReview', metadata: {}, spec: { user: 'bob', groups: ['g'], resourceAttributes: createPods } }
  t.strictSame(await review('SubjectAccessReview', object), { ...object, status: { allowed: true } })
  t.match(await review('SubjectAccessReview', { spec: { ...object.spec, user: 'eve' } }), { status: { allowed: false } })
  t.match(
    await review('SubjectAccessReview', { spec: { groups: ['system:masters'], nonResourceAttributes: { verb: 'get', path: '/metrics' } } }),
    {
      status: { allowed: true },
    },
  )
  t.equal(
    await refusal('SubjectAccessReview', { spec: { resourceAttributes: createPods } }),
    '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
  )
  t.match(
    await refusal('SubjectAccessReview', { spec: { user: 'bob' } }),
    /exactly one of nonResourceAttributes or resourceAttributes must be specified/,
  )
  t.match(await refusal('SubjectAccessReview', {}), /exactly one of/)
})

t.test('LocalSubjectAccessReview wants its own namespace', async (t) => {
  const spec = { user: 'bob', resourceAttributes: createPods }
  t.match(await review('LocalSubjectAccessReview', { metadata: { namespace: 'a' }, spec }), { status: { allowed: true } })
  t.match(await refusal('LocalSubjectAccessReview', { metadata: { namespace: 'b' }, spec }), /must match metadata.namespace/)
  t.match(
    await refusal('LocalSubjectAccessReview', { spec: { user: 'bob', nonResourceAttributes: { verb: 'get', path: '/' } } }),
    /nonResourceAttributes: Invalid value: {"Path":"\/","Verb":"get"}: disallowed on this kind of request/,
  )
})

t.test('Self… reviews answer for who asks', async (t) => {
  t.match(await review('SelfSubjectAccessReview', { spec: { resourceAttributes: createPods } }), { status: { allowed: true } })
  t.match(await review('SelfSubjectAccessReview', { spec: { resourceAttributes: { ...createPods, namespace: 'b' } } }), {
    status: { allowed: false },
  })
  t.match(await review('SelfSubjectReview', {}), {
    status: { userInfo: { username: 'bob', uid: '1', groups: ['system:authenticated'], extra: { scopes: ['x'] } } },
  })
  const { resourceRules, incomplete } = (await review('SelfSubjectRulesReview', { spec: { namespace: 'a' } })).status as JsonObject
  t.equal(incomplete, false)
  t.equal(await refusal('SelfSubjectRulesReview', { spec: {} }), 'no namespace on request')
  t.match((resourceRules as JsonObject[]).at(-1), rules[0])
})

t.test('TokenReview knows tokens', async (t) => {
  t.match(await review('TokenReview', { spec: { token: 'secret' } }), { status: { authenticated: true, user: { username: 'bob' } } })
  t.equal(await refusal('TokenReview', { spec: {} }), 'token is required for TokenReview in authentication')
  t.match(await review('TokenReview', { spec: { token: 'other' } }), { status: { error: 'invalid bearer token' } })
})
