import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { serviceAccountTokens } from '../../../src/devcluster/access/service-account-tokens.ts'
import { fixture, manualClock, pod, refusal } from '../../support/devcluster/registry.ts'

const key = { namespace: 'default', name: 'it' }
const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/**
 * Creates a ServiceAccount, and a Pod that uses it. Returns two functions that issue tokens: the tokens of `issue` are unbound, and the
 * tokens of `bound` are bound to the Pod.
 */
async function tokens() {
  const clock = manualClock()
  const f = await fixture({ clock })
  const account = await f.create('serviceaccounts', { metadata: { name: 'it' } })
  const made = await f.create('pods', pod('it', { serviceAccountName: 'it' }))
  const { withTokens, authenticator } = serviceAccountTokens({ store: f.store, clock, random: Math.random, key: signingKey })
  const { applyDefaults, prepare, respond } = withTokens(f.info('serviceaccounts')).subresources.token!.unstored!
  const answer = (account: JsonObject, body: JsonObject): JsonObject => {
    const type = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' }
    return respond(account, prepare(account, applyDefaults({ ...type, ...body })))
  }
  const issue = (spec: JsonObject = {}): string => {
    const { status } = answer(account, { metadata: {}, spec }) as { status: { token: string } }
    return status.token
  }
  const bound = (uid: string): string => issue({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'it', uid } })
  return { f, clock, account, made, answer, authenticator, issue, bound: () => bound((made.metadata as { uid: string }).uid) }
}

const server = 'https://kubernetes.default.svc'
const uidOf = (object: JsonObject): string => (object.metadata as { uid: string }).uid

/** Returns the claims in a token's payload. */
function claimsOf(token: string): JsonObject {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as JsonObject
}

t.test('a token is valid from its issue until its expiry', async (t) => {
  const { clock, authenticator, issue } = await tokens()
  clock.advance(500)
  const token = issue({ expirationSeconds: 600 })
  t.match(authenticator(token), { user: { username: 'system:serviceaccount:default:it' } })
  clock.advance(599_000)
  t.match(authenticator(token), { user: { username: 'system:serviceaccount:default:it' } })
  clock.advance(499)
  t.match(authenticator(token), { user: {} })
  clock.advance(1)
  t.equal(authenticator(token), undefined)
  clock.advance(-600_001)
  t.equal(authenticator(token), undefined, 'a token from the future is refused')
})

t.test('a TokenRequest returns a token with the requested audiences, expiry and bound object', async (t) => {
  const { account, answer, issue } = await tokens()
  const answered = answer(account, { spec: { expirationSeconds: 700, audiences: ['a', 'b'] } }) as { status: { token: string } }
  const { token } = answered.status
  t.strictSame(answered, {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: 'it', namespace: 'default', uid: uidOf(account), creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { audiences: ['a', 'b'], expirationSeconds: 700, boundObjectRef: null },
    status: { token, expirationTimestamp: '2026-01-01T00:11:40Z' },
  })
  const now = Date.parse('2026-01-01T00:00:00Z') / 1000
  const { jti, ...claims } = claimsOf(token)
  t.match(jti, /^[0-9a-f-]{36}$/)
  t.strictSame(claims, {
    aud: ['a', 'b'],
    exp: now + 700,
    iat: now,
    iss: server,
    'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'it', uid: uidOf(account) } },
    nbf: now,
    sub: 'system:serviceaccount:default:it',
  })
  t.match(claimsOf(issue()), { aud: [server], exp: now + 3600 }, 'the defaults are the API server as audience and one hour')
})

t.test('a token authenticates its ServiceAccount for the audiences of the token', async (t) => {
  const { account, made, authenticator, issue, bound } = await tokens()
  const key = 'authentication.kubernetes.io'
  const user = {
    username: 'system:serviceaccount:default:it',
    uid: uidOf(account),
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
  }
  const id = (token: string): string[] => [`JTI=${String(claimsOf(token).jti)}`]
  const own = bound()
  t.strictSame(authenticator(own), {
    user: { ...user, extra: { [`${key}/credential-id`]: id(own), [`${key}/pod-name`]: ['it'], [`${key}/pod-uid`]: [uidOf(made)] } },
    audiences: [server],
  })
  const token = issue({ audiences: ['a', server] })
  t.strictSame(authenticator(token, ['b', 'a']), { user: { ...user, extra: { [`${key}/credential-id`]: id(token) } }, audiences: ['a'] })
  t.strictSame(authenticator(token, ['b', 'c']), {
    refusal: `token audiences ["a" "${server}"] is invalid for the target audiences ["b" "c"]`,
  })
})

t.test('a modified token is refused', async (t) => {
  const { authenticator, issue } = await tokens()
  const { authenticator: other } = await tokens()
  const token = issue()
  const [header, payload, signature] = token.split('.') as [string, string, string]
  const forged = Buffer.from(JSON.stringify({ ...claimsOf(token), exp: 2 ** 40 })).toString('base64url')
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  const changed = [
    `${header}.${forged}.${signature}`,
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    `${token}.x`,
    `${header}.${payload}`,
    header,
    '',
  ]
  for (const text of changed) t.equal(authenticator(text), undefined, text)
  t.equal(other(token), undefined, 'the token of another API server is refused')
  t.match(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'ES256', typ: 'JWT' })
})

t.test('an invalid TokenRequest is refused with the message of kube-apiserver', async (t) => {
  const { account, made, answer, f } = await tokens()
  await f.create('pods', pod('other', { serviceAccountName: 'default' }))
  const attempt = (spec: JsonObject, metadata: JsonObject = {}) => refusal(() => answer(account, { metadata, spec }))
  const invalid = 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value:'
  for (const seconds of [599, 0, -1])
    t.match(await attempt({ expirationSeconds: seconds }), {
      code: 422,
      message: `${invalid} ${seconds}: may not specify a duration less than 10 minutes`,
    })
  t.match(await attempt({ expirationSeconds: 2 ** 32 + 1 }), {
    code: 422,
    message: `${invalid} 4294967297: may not specify a duration larger than 2^32 seconds`,
  })
  for (const expirationSeconds of [600, 2 ** 32]) t.match(answer(account, { spec: { expirationSeconds } }), { spec: { expirationSeconds } })
  t.match(await attempt({}, { name: 'other' }), {
    code: 422,
    message:
      'TokenRequest.authentication.k8s.io "it" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
  })
  t.match(answer(account, { metadata: { name: 'it' }, spec: {} }), { kind: 'TokenRequest' })
  const bound = (boundObjectRef: JsonObject) =>
    attempt({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'it', ...boundObjectRef } })
  t.match(await bound({ kind: 'ConfigMap' }), { code: 400, message: 'cannot bind token to object of type /v1, Kind=ConfigMap' })
  t.match(await bound({ apiVersion: 'apps/v1' }), { code: 400, message: 'cannot bind token to object of type apps/v1, Kind=Pod' })
  t.match(await bound({ kind: 'toString' }), { code: 400 })
  t.match(await bound({ name: 'none' }), { code: 404, message: 'pods "none" not found' })
  t.match(await bound({ name: 'other' }), {
    code: 400,
    message: 'cannot bind token for serviceaccount "it" to pod running with different serviceaccount name.',
  })
  t.match(await bound({ uid: 'x' }), {
    code: 409,
    message: `Operation cannot be fulfilled on Pod "it": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated`,
  })
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'it', uid: uidOf(made) }
  t.match(answer(account, { spec: { boundObjectRef } }), { spec: { boundObjectRef } })
})

t.test('a token that is bound to a Secret or a Node becomes invalid when that is deleted', async (t) => {
  const { f, authenticator, issue } = await tokens()
  for (const [plural, kind, namespace] of [
    ['secrets', 'Secret', 'default'],
    ['nodes', 'Node', undefined],
  ] as const) {
    const object = await f.create(plural, { metadata: { name: 'x' } })
    const token = issue({ boundObjectRef: { kind, apiVersion: 'v1', name: 'x' } })
    t.match(claimsOf(token), { 'kubernetes.io': { [kind.toLowerCase()]: { name: 'x', uid: uidOf(object) } } })
    t.match(authenticator(token), { user: { username: 'system:serviceaccount:default:it' } }, kind)
    await f.registry.delete(f.info(plural), namespace === undefined ? { name: 'x' } : { namespace, name: 'x' }, {}, f.context)
    t.equal(authenticator(token), undefined, kind)
  }
})

t.test('a token names the Node to which the token or its Pod is bound', async (t) => {
  const { f, authenticator, issue } = await tokens()
  const extraOf = (name: string, kind: string): unknown => {
    const authentication = authenticator(issue({ boundObjectRef: { kind, apiVersion: 'v1', name } }))
    return authentication !== undefined && 'user' in authentication ? authentication.user.extra : undefined
  }
  const node = await f.create('nodes', { metadata: { name: 'n' } })
  const fields = { 'authentication.kubernetes.io/node-name': ['n'], 'authentication.kubernetes.io/node-uid': [uidOf(node)] }
  t.match(extraOf('n', 'Node'), fields)
  await f.create('pods', pod('on-n', { serviceAccountName: 'it', nodeName: 'n' }))
  t.match(extraOf('on-n', 'Pod'), { 'authentication.kubernetes.io/pod-name': ['on-n'], ...fields })
  await f.registry.delete(f.info('nodes'), { name: 'n' }, {}, f.context)
  const { 'authentication.kubernetes.io/node-uid': uid, ...others } = extraOf('on-n', 'Pod') as Record<string, unknown>
  t.match(others, { 'authentication.kubernetes.io/node-name': ['n'] }, 'the token of a Pod stays valid without its Node')
  t.equal(uid, undefined)
})

t.test('a token that is bound to a Pod becomes invalid with it, even when a Pod with the same name is created', async (t) => {
  const { f, authenticator, issue, bound } = await tokens()
  const [token, free] = [bound(), issue()]
  t.match(authenticator(token), { user: { extra: { 'authentication.kubernetes.io/pod-name': ['it'] } } })
  await f.registry.delete(f.info('pods'), key, { gracePeriodSeconds: 0 }, f.context)
  t.equal(authenticator(token), undefined)
  await f.create('pods', pod('it', { serviceAccountName: 'it' }))
  t.equal(authenticator(token), undefined)
  t.match(authenticator(free), { user: { username: 'system:serviceaccount:default:it' } }, 'an unbound token stays valid')
})

t.test('a token becomes invalid when its ServiceAccount is deleted', async (t) => {
  const { f, authenticator, issue } = await tokens()
  const token = issue()
  await f.registry.delete(f.info('serviceaccounts'), key, {}, f.context)
  t.equal(authenticator(token), undefined)
  await f.create('serviceaccounts', { metadata: { name: 'it' } })
  t.equal(authenticator(token), undefined)
})
