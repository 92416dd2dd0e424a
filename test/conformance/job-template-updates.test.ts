/** Tests of updates of the Pod template of a Job. */
import t from 'tap'
import { batch } from '../../src/api/kubernetes/batch.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { newNamespaces } from '../support/conformance/new-namespaces.ts'
import { refusal } from '../support/conformance/refusal.ts'

const { client } = await conformanceControlPlane(t)
const namespace = await newNamespaces(client, 'job-template-updates')()

const resources = { requests: { cpu: '1' } }
const terms = [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }]
const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }
const podAntiAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a', labelSelector: { matchLabels: { a: 'b' } } }],
}

t.test('a suspended Job takes scheduling directives and resources in its template', async (t) => {
  const key = { namespace, name: 'suspended' }
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.com/work:1' }] }
  await client.create(batch.job, { metadata: key, spec: { suspend: true, template: { spec } } })
  const change = async (template: object): Promise<string[]> =>
    (await refusal(client.patch(batch.job, key, { spec: { template } }))).map((text) => String(text).split(' ')[0]!)
  for (const allowed of [
    { nodeSelector: { a: 'b' } },
    { tolerations: [{ key: 'a', operator: 'Exists' }] },
    { schedulingGates: [{ name: 'example.com/gate' }] },
    { affinity: { nodeAffinity } },
    { affinity: null },
    { containers: [{ name: 'main', image: 'example.com/work:1', resources }] },
  ])
    t.strictSame(await change({ spec: allowed }), [], JSON.stringify(allowed))
  t.strictSame(await change({ metadata: { labels: { a: 'b' }, annotations: { a: 'b' } } }), [])
  for (const refused of [
    { containers: [{ name: 'main', image: 'example.com/work:2' }] },
    { containers: [{ name: 'other', image: 'example.com/work:1' }] },
    { restartPolicy: 'OnFailure' },
    { serviceAccountName: 'other' },
    { affinity: { podAntiAffinity } },
  ])
    t.strictSame(await change({ spec: refused }), ['422', 'spec.template.spec:'], JSON.stringify(refused))
})
