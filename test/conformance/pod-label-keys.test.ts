/** Tests of `matchLabelKeys` and `mismatchLabelKeys`: the API server adds an expression for each key to the label selector of a new Pod. */
import t from 'tap'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-pod-label-keys'
const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, connection)

const labels = { app: 'web', hash: '7' }
const topologyKey = 'kubernetes.io/hostname'
const term = {
  labelSelector: { matchLabels: { tier: 'front' } },
  matchLabelKeys: ['hash', 'missing'],
  mismatchLabelKeys: ['app'],
  topologyKey,
}
const isSame = { key: 'hash', operator: 'In', values: ['7'] }
const isOther = { key: 'app', operator: 'NotIn', values: ['web'] }
const merged = { ...term, labelSelector: { matchLabels: { tier: 'front' }, matchExpressions: [isSame, isOther] } }

function termsOf(one: object): object {
  return {
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: one }],
    requiredDuringSchedulingIgnoredDuringExecution: [one],
  }
}

function podOf(name: string, spec: object): object {
  return {
    metadata: { name, labels },
    spec: { containers: [{ name: 'main', image: 'x' }], automountServiceAccountToken: false, ...spec },
  }
}

const path = `/api/v1/namespaces/${namespace}/pods`

t.test('the labels of a new Pod are added to the selectors of its affinity terms and topology spread constraints', async (t) => {
  const spread = { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', matchLabelKeys: ['hash'] }
  const spec = {
    affinity: { podAffinity: termsOf(term), podAntiAffinity: termsOf(term) },
    topologySpreadConstraints: [
      { ...spread, labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Exists' }] } },
      { ...spread, topologyKey: 'zone', labelSelector: {} },
    ],
  }
  const stored = {
    affinity: { podAffinity: termsOf(merged), podAntiAffinity: termsOf(merged) },
    topologySpreadConstraints: [
      { ...spread, labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Exists' }, isSame] } },
      { ...spread, topologyKey: 'zone', labelSelector: { matchExpressions: [isSame] } },
    ],
  }
  const { status, body } = await api('POST', path, { body: podOf('p', spec) })
  t.equal(status, 201)
  const { affinity, topologySpreadConstraints } = body['spec'] as Record<string, unknown>
  t.strictSame({ affinity, topologySpreadConstraints }, stored)
  const update = await api('PATCH', `${path}/p`, {
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: { hash: '8' } } },
  })
  t.match(update, { status: 200, body: { spec: { affinity } } }, 'an update of the labels does not change the selectors')
})

t.test('a key of matchLabelKeys must not be in the selector, if the Pod has the label', async (t) => {
  const withHash = { ...term, labelSelector: { matchLabels: { hash: '7' } } }
  const refused = await api('POST', `${path}?dryRun=All`, { body: podOf('q', { affinity: { podAffinity: termsOf(withHash) } }) })
  t.equal(refused.status, 422)
  const field = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0][0]'
  t.match(String(refused.body['message']), `${field}: Invalid value: "hash": exists in both matchLabelKeys and labelSelector`)
  const missing = { ...term, labelSelector: { matchLabels: { missing: 'x' } } }
  const allowed = await api('POST', `${path}?dryRun=All`, { body: podOf('q', { affinity: { podAffinity: termsOf(missing) } }) })
  t.equal(allowed.status, 201, 'the Pod does not have the label')
})
