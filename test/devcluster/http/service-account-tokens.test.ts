import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { serviceAccountTokens } from '../../../src/devcluster/http/service-account-tokens.ts'
import { fixture, manualClock, pod } from '../../support/devcluster-registry.ts'

const key = { namespace: 'default', name: 'it' }

/** A ServiceAccount and a Pod of it, and tokens that are bound to neither or to the Pod. */
async function tokens() {
  const clock = manualClock()
  const f = await fixture({ clock })
  const account = await f.create('serviceaccounts', { metadata: { name: 'it' } })
  const made = await f.create('pods', pod('it', { serviceAccountName: 'it' }))
  const { withTokens, authenticator } = serviceAccountTokens(f.store, clock)
  const { answer } = withTokens(f.info('serviceaccounts')).subresources.token!
  const issue = (spec: JsonObject = {}): string => {
    const { status } = answer!(account, { metadata: {}, spec }) as { status: { token: string } }
    return status.token
  }
  const bound = (uid: string): string => issue({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'it', uid } })
  return { f, clock, authenticator, issue, bound: () => bound((made.metadata as { uid: string }).uid) }
}

t.test('a token is accepted until it expires', async (t) => {
  const { clock, authenticator, issue } = await tokens()
  const token = issue({ expirationSeconds: 600 })
  clock.advance(599_000)
  t.match(authenticator(token), { user: { username: 'system:serviceaccount:default:it' } })
  clock.advance(2_000)
  t.equal(authenticator(token), undefined)
})

t.test('a token that is bound to a Pod ends with it, and is not that of another one of its name', async (t) => {
  const { f, authenticator, issue, bound } = await tokens()
  const [token, free] = [bound(), issue()]
  t.match(authenticator(token), { user: { extra: { 'authentication.kubernetes.io/pod-name': ['it'] } } })
  await f.registry.delete(f.info('pods'), key, { gracePeriodSeconds: 0 }, f.context)
  t.equal(authenticator(token), undefined)
  await f.create('pods', pod('it', { serviceAccountName: 'it' }))
  t.equal(authenticator(token), undefined)
  t.match(authenticator(free), { user: { username: 'system:serviceaccount:default:it' } }, 'one that is bound to nothing goes on')
})

t.test('a token ends with its ServiceAccount', async (t) => {
  const { f, authenticator, issue } = await tokens()
  const token = issue()
  await f.registry.delete(f.info('serviceaccounts'), key, {}, f.context)
  t.equal(authenticator(token), undefined)
  await f.create('serviceaccounts', { metadata: { name: 'it' } })
  t.equal(authenticator(token), undefined)
})
