/** Tests of the subresource `ephemeralcontainers`, and of `kubectl debug`, which writes it. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { pod } from '../../src/api/builtin.ts'
import { until } from '../../src/testing/until.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const namespace = 'conformance-ephemeral-containers'
const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
const { client } = controlPlane
const api = apiOf(t, controlPlane.connection)
const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] }
const debug = { name: 'debug', image: 'busybox:1' }
const strategic = 'application/strategic-merge-patch+json'

await until('a Pod can be created', () => client.create(pod, { metadata: { namespace, name: 'web', labels: { app: 'web' } }, spec }))
await until('the Pod runs', async () => (await client.get(pod, { namespace, name: 'web' })).status?.phase === 'Running')

t.test('ephemeral containers are added by a patch, and neither changed nor removed', async (t) => {
  const path = `/api/v1/namespaces/${namespace}/pods/web`
  const patch = (ephemeralContainers: readonly JsonObject[], contentType = strategic) =>
    api('PATCH', `${path}/ephemeralcontainers?fieldManager=debugger`, { body: { spec: { ephemeralContainers } }, contentType })
  t.match((await api('GET', `${path}/ephemeralcontainers`)).body, { kind: 'Pod', metadata: { name: 'web' }, spec })
  const added = await patch([debug])
  t.equal(added.status, 200)
  t.match(added.body, {
    metadata: { generation: 2 },
    spec: { ephemeralContainers: [{ ...debug, imagePullPolicy: 'IfNotPresent', terminationMessagePolicy: 'File', resources: {} }] },
  })
  const entries = (added.body.metadata as JsonObject).managedFields as JsonObject[]
  t.match(
    entries.find(({ manager }) => manager === 'debugger'),
    {
      operation: 'Update',
      subresource: 'ephemeralcontainers',
      fieldsV1: { 'f:spec': { 'f:ephemeralContainers': { 'k:{"name":"debug"}': { 'f:image': {} } } } },
    },
  )
  t.equal((await patch([{ ...debug, name: 'second' }])).status, 200)
  const causes = async (containers: readonly JsonObject[], contentType?: string): Promise<unknown> => {
    const { status, body } = await patch(containers, contentType)
    return [status, ((body.details as JsonObject | undefined)?.causes as JsonObject[]).map(({ message }) => String(message).split('\n')[0])]
  }
  const refused = (text: string): unknown => [422, [`Forbidden: existing ephemeral containers "debug" may not be ${text}`]]
  t.strictSame(await causes([{ ...debug, image: 'other' }]), refused('changed'))
  t.strictSame(await causes([{ ...debug, name: 'second' }], 'application/merge-patch+json'), refused('removed'))

  const current = await client.get(pod, { namespace, name: 'web' })
  t.strictSame(
    current.spec?.ephemeralContainers?.map(({ name }) => name),
    ['second', 'debug'],
  )
  const body = { ...current, metadata: { name: 'web' }, spec: { ...current.spec, ephemeralContainers: [] } }
  const replaced = await api('PUT', path, { body })
  t.match(replaced, { status: 422, body: { message: /spec: Forbidden: pod updates may not change fields other than/ } })
})

t.test('kubectl debug adds an ephemeral container', needsKubectl, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const run = (args: string): Promise<string> => kubectl.ok(`-n ${namespace} ${args}`)
  await run('debug web --image=busybox:2 --container=shell --target=main --attach=false -- sleep 1')
  const containers = JSON.parse(await run('get pod web -o jsonpath={.spec.ephemeralContainers}')) as JsonObject[]
  t.match(
    containers.find(({ name }) => name === 'shell'),
    { image: 'busybox:2', targetContainerName: 'main', command: ['sleep', '1'] },
  )
  await run('debug web --image=busybox:2 --copy-to=copy --container=shell --attach=false')
  t.equal(await run('get pod copy -o jsonpath={.spec.containers[*].name}'), 'main shell')
})
