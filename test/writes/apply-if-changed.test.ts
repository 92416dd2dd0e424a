import t from 'tap'
import { configMap, deployment } from '../../src/api/builtin.ts'
import { jsonHash } from '../../src/api/json-hash.ts'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { formatKey } from '../../src/api/object.ts'
import { cacheView } from '../../src/cache/view.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import type { ApplyContext } from '../../src/writes/apply-if-changed.ts'
import { applyIfChanged } from '../../src/writes/apply-if-changed.ts'
import { writesWorld } from '../support/writes/world.ts'

const controlPlane = await startControlPlane({ controllers: false, namespaces: ['test'] })
t.teardown(() => controlPlane.stop())
const admin = controlPlane.client
const { context, taken, cached } = await writesWorld(t, controlPlane, [configMap, deployment])
const key = (name: string) => ({ namespace: 'test', name })
const desired = (name: string, data: Record<string, string>) => ({ metadata: key(name), data })

t.test('an object is applied once, and again when the desired state changes', async (t) => {
  const first = await applyIfChanged(context, configMap, desired('a', { x: '1', y: '1' }))
  t.strictSame(first.data, { x: '1', y: '1' })
  t.equal(first.metadata.annotations?.['applied.proreus.dev/writer'], jsonHash(desired('a', { x: '1', y: '1' })))
  const second = await applyIfChanged(context, configMap, { data: { y: '1', x: '1' }, metadata: { name: 'a', namespace: 'test' } })
  t.equal(second, context.cache.get(configMap, key('a')), 'the object of the cache is returned')
  t.strictSame(taken(), ['apply configmaps a'])
  const third = await applyIfChanged(context, configMap, desired('a', { x: '2' }))
  t.strictSame(third.data, { x: '2' }, 'a field that was dropped is removed')
  await applyIfChanged(context, configMap, desired('a', { x: '2' }))
  t.strictSame(taken(), ['apply configmaps a'])
})

t.test('an object without a name is refused, also where one has the name "undefined"', async (t) => {
  await admin.create(configMap, { metadata: key('undefined'), data: {} })
  await cached(configMap, key('undefined'))
  taken()
  for (const metadata of [{ namespace: 'test' }, { namespace: 'test', generateName: 'a-' }, { namespace: 'test', name: undefined }]) {
    const error = { code: 'PRO_INPUT', message: /^The name of a ConfigMap is undefined/ }
    await t.rejects(applyIfChanged(context, configMap, { metadata } as never), error)
  }
  t.strictSame(taken(), [])
})

t.test('null and undefined fields count as absent', async (t) => {
  const withNull = { ...desired('b', { x: '1' }), immutable: null, binaryData: undefined } as never
  await applyIfChanged(context, configMap, withNull)
  await applyIfChanged(context, configMap, withNull)
  t.strictSame(taken(), ['apply configmaps b'])
  const restarted = await writesWorld(t, controlPlane, [configMap])
  await applyIfChanged(restarted.context, configMap, withNull)
  t.strictSame(restarted.taken(), [])
})

t.test('a change of another client is reverted, and its other fields stay', async (t) => {
  await applyIfChanged(context, configMap, desired('c', { x: '1' }))
  await admin.patch(configMap, key('c'), { data: { x: '9', other: 'z' } })
  await cached(configMap, key('c'))
  t.strictSame((await applyIfChanged(context, configMap, desired('c', { x: '1' }))).data, { x: '1', other: 'z' })
  await applyIfChanged(context, configMap, desired('c', { x: '1' }))
  await admin.patch(configMap, key('c'), { metadata: { annotations: { 'applied.proreus.dev/writer': 'x' } } })
  await cached(configMap, key('c'))
  await applyIfChanged(context, configMap, desired('c', { x: '1' }))
  t.strictSame(taken(), ['apply configmaps c', 'apply configmaps c', 'apply configmaps c'])
})

t.test('two field managers that apply different fields do not conflict', async (t) => {
  const other = await writesWorld(t, controlPlane, [configMap], 'other manager')
  const both = async (): Promise<void> => {
    await applyIfChanged(context, configMap, desired('d', { mine: '1' }))
    await other.cached(configMap, key('d'))
    await applyIfChanged(other.context, configMap, desired('d', { theirs: '1' }))
    await cached(configMap, key('d'))
  }
  await both()
  await both()
  t.strictSame([taken(), other.taken()], [['apply configmaps d'], ['apply configmaps d']])
  const { annotations, managedFields } = (await admin.get(configMap, key('d'))).metadata
  t.strictSame(
    Object.keys(annotations ?? {}).sort(),
    ['applied.proreus.dev/writer', `applied.proreus.dev/${jsonHash('other manager')}`].sort(),
  )
  t.strictSame(managedFields?.map(({ manager, operation }) => [manager, operation]).sort(), [
    ['other manager', 'Apply'],
    ['writer', 'Apply'],
  ])
})

t.test('the option fieldManager selects the manager and its annotation', async (t) => {
  const options = { fieldManager: 'third' }
  const applied = await applyIfChanged(context, configMap, desired('e', {}), options)
  t.strictSame(Object.keys(applied.metadata.annotations ?? {}), ['applied.proreus.dev/third'])
  t.equal((await admin.get(configMap, key('e'))).metadata.managedFields?.[0]?.manager, 'third')
  taken()
})

t.test('a value that the API server stores in another form is applied once for each cache', async (t) => {
  const labels = { app: 'a' }
  const wanted = (cpu: string, more: object = {}) => ({
    metadata: key('f'),
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: {} },
        spec: { containers: [{ name: 'a', image: 'a', resources: { limits: { cpu } }, ...more }] },
      },
    },
  })
  const applied = await applyIfChanged(context, deployment, wanted('1'))
  t.equal(applied.spec?.template.metadata?.annotations, undefined, 'empty annotations are not stored')
  await applyIfChanged(context, deployment, wanted('1'))
  await admin.patch(deployment, key('f'), { metadata: { labels: { other: 'x' } } })
  await cached(deployment, key('f'))
  await applyIfChanged(context, deployment, wanted('1'))
  t.strictSame(taken(), ['apply deployments f'], 'the stored form is known')
  const containers = [{ name: 'a', image: 'a', resources: { limits: { cpu: '2' } } }]
  await admin.patch(deployment, key('f'), { spec: { template: { spec: { containers } } } })
  await cached(deployment, key('f'))
  const reverted = await applyIfChanged(context, deployment, wanted('1'))
  t.equal(reverted.spec?.template.spec?.containers[0]?.resources?.limits?.['cpu'], '1', 'a change of the stored form is reverted')
  await applyIfChanged(context, deployment, wanted('1', { tty: true }))
  t.strictSame(taken(), ['apply deployments f', 'apply deployments f'])
  const restarted = await writesWorld(t, controlPlane, [deployment])
  for (let each = 0; each < 3; each += 1) await applyIfChanged(restarted.context, deployment, wanted('1', { tty: true }))
  t.strictSame(restarted.taken(), ['apply deployments f'])
})

t.test('through a view that omits fields, an object is applied once after each change', async (t) => {
  const names = cacheView(configMap, { metadataOnly: true })
  const small = cacheView(configMap, { transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) })
  const wanted = (name: string, x: string) => ({ metadata: key(name), data: { x } })
  for (const [name, view] of [
    ['of-metadata', names],
    ['of-transform', small],
  ] as const) {
    const viewing = await writesWorld(t, controlPlane, [view])
    const apply = async (x: string): Promise<readonly string[]> => {
      for (let each = 0; each < 3; each += 1) await applyIfChanged(viewing.context, view, wanted(name, x))
      return viewing.taken()
    }
    const request = [`apply configmaps ${name}`]
    t.strictSame(await apply('1'), request, `${name} is created`)
    t.strictSame(await apply('2'), request, 'the desired object has changed')
    await admin.patch(configMap, key(name), { data: { x: '9' } })
    await viewing.cached(view, key(name))
    t.strictSame(await apply('2'), request, 'another client has changed the object')
    t.strictSame((await admin.get(configMap, key(name))).data, { x: '2' })
    const restarted = await writesWorld(t, controlPlane, [view])
    for (let each = 0; each < 3; each += 1) await applyIfChanged(restarted.context, view, wanted(name, '2'))
    t.strictSame(restarted.taken(), request, 'the process was restarted')
  }
})

t.test('a list to which another client adds items is applied once', async (t) => {
  const wanted = { metadata: { ...key('g'), finalizers: ['example.com/a'] } }
  await applyIfChanged(context, configMap, wanted)
  await admin.patch(configMap, key('g'), [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/b' }], { type: 'json' })
  await cached(configMap, key('g'))
  taken()
  for (let each = 0; each < 3; each += 1) await applyIfChanged(context, configMap, wanted)
  t.strictSame(taken(), ['apply configmaps g'])
  t.strictSame((await admin.get(configMap, key('g'))).metadata.finalizers, ['example.com/a', 'example.com/b'])
  await admin.patch(configMap, key('g'), { metadata: { finalizers: null } })
})

/**
 * Returns a fake client and a fake cache. When an object is applied, the client stores `{ x: 'stored' }` instead of the `data` of the
 * object. The stored data therefore always differ from the desired data. `applied` contains the key of each applied object.
 */
function otherForms(): { context: ApplyContext; applied: ObjectKey[] } {
  const applied: ObjectKey[] = []
  const live = new Map<string, KubernetesObject>()
  const client = {
    fieldManager: 'writer',
    apply: async (_: unknown, object: KubernetesObject) => {
      const stored = { ...object, data: { x: 'stored' } } as KubernetesObject
      applied.push(object.metadata)
      live.set(formatKey(object.metadata), stored)
      return stored
    },
  }
  const cache = { get: (_: unknown, wanted: ObjectKey) => live.get(formatKey(wanted)) }
  return { context: { client, cache } as unknown as ApplyContext, applied }
}

t.test('the stored forms of 10,000 objects are remembered, and those that were written last', async (t) => {
  const { context: fake, applied } = otherForms()
  /** Applies an object, and returns the number of requests. */
  const apply = async (index: number, x = 'desired'): Promise<number> => {
    await applyIfChanged(fake, configMap, desired(`o-${index}`, { x }))
    return applied.splice(0).length
  }
  for (let i = 0; i < 10_000; i += 1) await apply(i)
  t.equal(await apply(1, 'other'), 1)
  t.equal(await apply(0), 0, 'a form that is renewed displaces no other one')
  t.equal(await apply(10_000), 1)
  t.equal(await apply(1, 'other'), 0)
  t.equal(await apply(2), 0)
  t.equal(await apply(0), 1, 'the oldest form was forgotten')
})

t.test('the stored forms of objects with the same name are remembered apart', async (t) => {
  const { context: fake, applied } = otherForms()
  for (let times = 0; times < 2; times += 1)
    for (const namespace of ['one', 'two'])
      await applyIfChanged(fake, configMap, { metadata: { namespace, name: 'a' }, data: { x: namespace } })
  t.equal(applied.length, 2)
})
