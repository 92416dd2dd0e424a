/** Tests of the admission of new Pods: ServiceAccounts and LimitRanges. */
import t from 'tap'
import { apiOf } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-pod-admission'
const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const path = `/api/v1/namespaces/${namespace}`
const containers = [{ name: 'main', image: 'nginx' }]

t.test('a Pod gets the default ServiceAccount and its token volume', async (t) => {
  await until('the account is there', async () => (await api('GET', `${path}/serviceaccounts/default`)).status === 200)
  const { status, body } = await api('POST', `${path}/pods?dryRun=All`, { body: { metadata: { name: 'p' }, spec: { containers } } })
  t.equal(status, 201)
  const name = /^kube-api-access-[a-z0-9]{5}$/
  t.match(body, {
    spec: {
      serviceAccountName: 'default',
      serviceAccount: 'default',
      containers: [{ volumeMounts: [{ name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }],
      volumes: [
        {
          name,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
            ],
          },
        },
      ],
    },
  })
})

t.test('a Pod with a missing ServiceAccount is refused', async (t) => {
  const { status, body } = await api('POST', `${path}/pods?dryRun=All`, {
    body: { metadata: { name: 'p' }, spec: { serviceAccountName: 'nobody', containers } },
  })
  t.equal(status, 403)
  t.equal(body.message, `pods "p" is forbidden: error looking up service account ${namespace}/nobody: serviceaccount "nobody" not found`)
})

t.test('an update without tolerations restores the default ones', async (t) => {
  const spec = { serviceAccountName: 'default', schedulerName: 'nobody', containers }
  const created = await until('the account is known', async () => {
    const { status, body } = await api('POST', `${path}/pods`, { body: { metadata: { name: 'tolerant' }, spec } })
    return status === 201 && body
  })
  const { tolerations, ...rest } = created.spec as { tolerations: { key: string }[] }
  t.strictSame(
    tolerations.map(({ key }) => key),
    ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'],
  )
  const replaced = await api('PUT', `${path}/pods/tolerant`, { body: { metadata: { name: 'tolerant', labels: { a: 'b' } }, spec: rest } })
  t.equal(replaced.status, 200, replaced.text)
  t.strictSame((replaced.body.spec as { tolerations: unknown }).tolerations, tolerations)
  t.equal((await api('DELETE', `${path}/pods/tolerant?gracePeriodSeconds=0`)).status, 200)
})

t.test('a LimitRange sets default requests and limits', async (t) => {
  const limits = [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1' } }]
  await api('POST', `${path}/limitranges`, { body: { metadata: { name: 'l' }, spec: { limits } } })
  t.teardown(() => api('DELETE', `${path}/limitranges/l`))
  const created = await until('the limit range is known', async () => {
    const { body } = await api('POST', `${path}/pods?dryRun=All`, { body: { metadata: { name: 'p' }, spec: { containers } } })
    return JSON.stringify(body).includes('limit-ranger') && body
  })
  t.match(created, {
    metadata: {
      annotations: { 'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container main; cpu limit for container main' },
    },
    spec: { containers: [{ resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } }] },
  })
})
