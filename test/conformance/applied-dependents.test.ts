/**
 * Tests of functions that skip a write when it would change nothing: `applyIfChanged`, `applySet`, `createOrPatch` and
 * `patchStatusIfChanged`.
 */
import t from 'tap'
import { configMap, deployment, service } from '../../src/api/builtin.ts'
import { applyIfChanged, applySet, controllerReference, createOrPatch, dependent, patchStatusIfChanged } from '../../src/index.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { writesWorld } from '../support/writes/world.ts'

const namespace = 'conformance-dependents'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const admin = controlPlane.client
const { context, taken, cached } = await writesWorld(t, controlPlane, [configMap, deployment, service])
const key = (name: string) => ({ namespace, name })
const labels = { app: 'web' }

interface Wanted {
  readonly env?: readonly { name: string; value: string }[]
  readonly cpu?: string
  readonly paused?: boolean
}
const wanted = (name: string, { env = [], cpu = '1', paused }: Wanted) => ({
  metadata: key(name),
  spec: {
    replicas: 0,
    ...(paused === undefined ? {} : { paused }),
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'web', image: 'web', ports: [{ containerPort: 80 }], env: [...env], resources: { limits: { cpu } } }] },
    },
  },
})

t.test('a Deployment is applied once, and changes of either side are applied', async (t) => {
  const full = wanted('a', {
    env: [
      { name: 'X', value: '1' },
      { name: 'Y', value: '1' },
    ],
    paused: true,
  })
  await applyIfChanged(context, deployment, full)
  await applyIfChanged(context, deployment, full)
  t.strictSame(taken(), ['apply deployments a'], 'at rest there is no write')

  await admin.patch(deployment, key('a'), { spec: { replicas: 2 } })
  await cached(deployment, key('a'))
  t.equal((await applyIfChanged(context, deployment, full)).spec?.replicas, 0, 'a change of another client is reverted')

  const less = wanted('a', { env: [{ name: 'X', value: '1' }] })
  const applied = await applyIfChanged(context, deployment, less)
  t.equal(applied.spec?.paused ?? false, false, 'a field that was dropped is removed')
  t.strictSame(applied.spec?.template.spec?.containers[0]?.env, [{ name: 'X', value: '1' }], 'and so is an item')
  await applyIfChanged(context, deployment, less)
  t.strictSame(taken(), ['apply deployments a', 'apply deployments a'])
})

t.test('a quantity in another form is applied once', async (t) => {
  for (let each = 0; each < 3; each += 1) await applyIfChanged(context, deployment, wanted('b', { cpu: '1000m' }))
  t.strictSame(taken(), ['apply deployments b'])
})

t.test('an apply set prunes what is no longer desired, and writes nothing at rest', async (t) => {
  const owner = await admin.create(configMap, { metadata: key('owner') })
  const web = dependent(service, { metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } })
  const config = (name: string) => dependent(configMap, { metadata: { name }, data: { name } })
  const types = [configMap, service]
  const [live] = await applySet(context, owner, [web, config('one'), config('two')], { types })
  t.ok(live.spec?.clusterIP, 'the live objects are returned')
  taken()
  await applySet(context, owner, [web, config('one'), config('two')], { types })
  t.strictSame(taken(), [])
  await applySet(context, owner, [config('two'), config('three')], { types })
  t.strictSame(
    taken().filter((call) => !call.startsWith('get')),
    ['apply configmaps three', 'delete configmaps one', 'delete services web'],
  )
  await applySet(context, owner, [], { types })
  const { items } = await admin.list(configMap, { namespace })
  t.strictSame(
    items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt'),
    ['owner'],
  )
})

t.test('an object has one controller: the API server refuses a second one, and an apply set leaves the object unchanged', async (t) => {
  const [first, second] = await Promise.all(['first', 'second'].map((name) => admin.create(configMap, { metadata: key(name) })))
  const references = [controllerReference(first!)]
  const shared = await admin.create(configMap, { metadata: { ...key('shared'), ownerReferences: references }, data: { of: 'first' } })
  await cached(configMap, key('shared'))
  await t.rejects(admin.patch(configMap, key('shared'), { metadata: { ownerReferences: [...references, controllerReference(second!)] } }), {
    reason: 'Invalid',
    message: /Only one reference can have Controller set to true/,
  })
  const wantedBySecond = dependent(configMap, { metadata: { name: 'shared' }, data: { of: 'second' } })
  await t.rejects(applySet(context, second!, [wantedBySecond], { types: [configMap] }), { code: 'PRO_INPUT' })
  t.strictSame(await admin.get(configMap, key('shared')), shared)
})

t.test('createOrPatch and patchStatusIfChanged write only differences', async (t) => {
  const set = (paused: boolean, replicas: number) =>
    createOrPatch(context, deployment, key('c'), (object) => {
      object.spec = { ...(object.spec ?? wanted('c', {}).spec), paused }
      object.status = { ...object.status, replicas }
    })
  t.equal((await set(true, 1)).result, 'created')
  t.equal((await set(true, 1)).result, 'unchanged')
  const { result, object } = await set(false, 2)
  t.match([result, object.spec?.paused ?? false, object.status?.replicas], ['updated', false, 2])
  taken()
  const conditions = [
    { type: 'Available', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', lastUpdateTime: '2026-01-01T00:00:00Z' },
  ]
  const patched = await patchStatusIfChanged(context.client, deployment, object, { replicas: 2, conditions })
  await patchStatusIfChanged(context.client, deployment, patched, { conditions, replicas: 2, readyReplicas: null })
  t.strictSame(taken(), ['patchStatus deployments c'])
})
