import t from 'tap'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import { configMap, namespace as namespaceType, secret } from '../../src/api/builtin.ts'
import { controllerReference } from '../../src/api/owner-reference.ts'
import { cacheView } from '../../src/cache/view.ts'
import type { Client } from '../../src/client/client.ts'
import { startControlPlane } from '../../src/testing/control-plane.ts'
import { applySet, applySetLabel, dependent } from '../../src/writes/apply-set.ts'
import { writesWorld } from '../support/writes/world.ts'

const controlPlane = await startControlPlane({ controllers: false, namespaces: ['test', 'elsewhere'] })
t.teardown(() => controlPlane.stop())
const admin = controlPlane.client
const { context, taken, cached, meanwhile } = await writesWorld(t, controlPlane, [configMap, secret])
const key = (name: string) => ({ namespace: 'test', name })
const config = (name: string, x = '1') => dependent(configMap, { metadata: { name }, data: { x } })
const types = [configMap, secret]

let owners = 0
/** Creates an owner with a name that no other owner has. */
const newOwner = () => admin.create(configMap, { metadata: key(`owner-${(owners += 1)}`) })
const namesOf = async () => {
  const { items } = await admin.list(configMap, { namespace: 'test' })
  return items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('owner') && !name.startsWith('kube-'))
}

t.test('dependents are applied in order, and pruned when they are no longer desired', async (t) => {
  const owner = await newOwner()
  const [a, token] = await applySet(context, owner, [config('a'), dependent(secret, { metadata: { name: 'token' } }), config('b')], {
    types,
  })
  t.strictSame([a.data, token.kind], [{ x: '1' }, 'Secret'])
  t.strictSame(a.metadata.ownerReferences, [controllerReference(owner)])
  t.strictSame(
    taken().filter((call) => !call.startsWith('get')),
    ['apply configmaps a', 'apply secrets token', 'apply configmaps b'],
  )
  await applySet(context, owner, [config('a'), dependent(secret, { metadata: { name: 'token' } }), config('b')], { types })
  t.strictSame(taken(), [], 'at rest there is no request')
  await applySet(context, owner, [config('b', '2')], { types })
  t.strictSame(taken(), ['apply configmaps b', 'delete configmaps a', 'delete secrets token'])
  await applySet(context, owner, [], { types })
  t.strictSame(taken(), ['delete configmaps b'])
  t.strictSame(await namesOf(), [])
})

t.test('a dependent may be desired conditionally, and the results keep their positions', async (t) => {
  const owner = await newOwner()
  const apply = async (has: boolean) => {
    const token = dependent(secret, { metadata: { name: 'token' } })
    const [first, second, third] = await applySet(context, owner, [has && token, config('a'), has ? token : undefined], {
      types,
    })
    return [first?.kind, second?.kind, third?.kind]
  }
  await t.rejects(apply(true), /token" is desired twice/)
  t.strictSame(await apply(false), [undefined, 'ConfigMap', undefined])
  const both = async (has: boolean) => {
    const token = dependent(secret, { metadata: { name: 'token' }, stringData: { a: 'b' } })
    const [maybe, always] = await applySet(context, owner, [has && token, config('a')], { types })
    const data: Readonly<Record<string, string>> | undefined = maybe?.data
    return [data, always.data?.['x']]
  }
  t.strictSame(await both(true), [{ a: 'Yg==' }, '1'])
  t.strictSame(await both(false), [undefined, '1'])
  const spread = async (has: boolean) => {
    const more = has ? [dependent(secret, { metadata: { name: 'more' } })] : []
    const [always, ...others] = await applySet(context, owner, [config('a'), ...more], { types })
    return [always.data?.['x'], ...others.map((other) => other.kind)]
  }
  t.strictSame(await spread(true), ['1', 'Secret'])
  t.strictSame(await spread(false), ['1'])
  await applySet(context, owner, [], { types })
  taken()
})

t.test('types of the desired objects are pruned, too', async (t) => {
  const owner = await newOwner()
  await applySet(context, owner, [config('a'), config('b')], { types: [] })
  await applySet(context, owner, [config('b')], { types: [] })
  t.strictSame(await namesOf(), ['b'])
  await applySet(context, owner, [], { types: [] })
  t.strictSame(await namesOf(), ['b'], 'a type that is not declared stays')
  await applySet(context, owner, [], { types: [configMap, configMap] })
  t.strictSame(
    taken().filter((call) => call.startsWith('delete')),
    ['delete configmaps a', 'delete configmaps b'],
  )
})

t.test('only objects of the same owner and set are deleted', async (t) => {
  const owner = await newOwner()
  const [mine] = await applySet(context, owner, [config('mine')], { types })
  const labels = mine.metadata.labels ?? {}
  t.match(labels[applySetLabel], /^[0-9a-f]{32}$/)
  const other = await newOwner()
  const foreign = [
    ['no-owner', {}, labels],
    ['other-owner', other, labels],
    ['plain-owner', { ...owner, controller: false }, labels],
    ['no-label', owner, {}],
    ['other-value', owner, { [applySetLabel]: 'x' }],
  ] as const
  for (const [name, of, with_] of foreign) {
    const reference = 'metadata' in of ? { ...controllerReference(of), ...('controller' in of ? { controller: false } : {}) } : undefined
    await admin.create(configMap, {
      metadata: { ...key(name), labels: with_, ...(reference === undefined ? {} : { ownerReferences: [reference] }) },
    })
    await cached(configMap, key(name))
  }
  await applySet(context, owner, [config('second')], { types, name: 'second' })
  taken()
  await applySet(context, owner, [], { types })
  t.strictSame(taken(), ['delete configmaps mine'])
  for (const { metadata } of (await admin.list(configMap, { namespace: 'test' })).items)
    if (!metadata.name.startsWith('owner')) await admin.delete(configMap, key(metadata.name))
})

t.test('a failed request prevents later ones, and nothing is pruned', async (t) => {
  const owner = await newOwner()
  await applySet(context, owner, [config('old')], { types })
  taken()
  const wrong = dependent(configMap, { metadata: { name: 'wrong' }, data: { 'not valid!': 'x' } })
  await t.rejects(applySet(context, owner, [config('first'), wrong, config('last')], { types }), { reason: 'Invalid' } as never)
  t.strictSame(
    taken().filter((call) => !call.startsWith('get')),
    ['apply configmaps first', 'apply configmaps wrong'],
  )
  t.strictSame(await namesOf(), ['first', 'old'])
  await applySet(context, owner, [], { types })
  t.strictSame(await namesOf(), [])
})

t.test('an object that the owner does not control is not changed, even if the cache lacks it', async (t) => {
  const owner = await newOwner()
  taken()
  meanwhile(/^get configmaps taken/, () => admin.create(configMap, { metadata: key('taken'), data: { theirs: 'x' } }))
  await t.rejects(applySet(context, owner, [config('taken')], { types }), {
    code: 'PRO_INPUT',
    message: `configmaps "test/taken" exists, and its controller is not ConfigMap "${owner.metadata.name}": it is not changed. Delete or rename one of the two.`,
  })
  await cached(configMap, key('taken'))
  await t.rejects(applySet(context, owner, [config('taken')], { types }), { code: 'PRO_INPUT' })
  t.strictSame(taken(), ['get configmaps taken'])
  t.strictSame((await admin.get(configMap, key('taken'))).data, { theirs: 'x' })
  await admin.delete(configMap, key('taken'))
})

t.test('an object that is replaced by another one of its name is not deleted', async (t) => {
  const owner = await newOwner()
  await applySet(context, owner, [config('a'), config('b')], { types })
  taken()
  meanwhile(/^delete configmaps a/, async () => {
    await admin.delete(configMap, key('a'))
    await admin.create(configMap, { metadata: key('a'), data: { theirs: 'x' } })
  })
  meanwhile(/^delete configmaps b/, () => admin.delete(configMap, key('b')))
  await applySet(context, owner, [], { types })
  t.strictSame(taken(), ['delete configmaps a', 'delete configmaps b'])
  t.strictSame((await admin.get(configMap, key('a'))).data, { theirs: 'x' })
  await admin.delete(configMap, key('a'))
})

t.test('an object that is already being deleted is not deleted again', async (t) => {
  const owner = await newOwner()
  await applySet(context, owner, [config('a')], { types })
  await admin.patch(configMap, key('a'), { metadata: { finalizers: ['example.com/wait'] } })
  await admin.delete(configMap, key('a'))
  await cached(configMap, key('a'))
  taken()
  await applySet(context, owner, [], { types })
  t.strictSame(taken(), [])
  await admin.patch(configMap, key('a'), { metadata: { finalizers: null } })
})

t.test('other owners of a dependent stay', async (t) => {
  const owner = await newOwner()
  const other = await newOwner()
  const shared = { ...controllerReference(other), controller: false }
  const [applied] = await applySet(context, owner, [dependent(configMap, { metadata: { name: 'shared', ownerReferences: [shared] } })], {
    types,
  })
  t.strictSame(applied.metadata.ownerReferences, [shared, controllerReference(owner)])
  await applySet(context, owner, [], { types })
})

t.test('an owner without a namespace has dependents in any namespace', async (t) => {
  const owner = await admin.get(namespaceType, { name: 'test' })
  const at = (namespace: string) => dependent(configMap, { metadata: { name: 'everywhere', namespace } })
  await applySet(context, owner, [at('test'), at('elsewhere')], { types })
  taken()
  await applySet(context, owner, [at('test')], { types })
  t.strictSame(taken(), ['delete configmaps everywhere'])
  t.strictSame(
    (await admin.list(configMap)).items.filter(({ metadata }) => metadata.name === 'everywhere').map(({ metadata }) => metadata.namespace),
    ['test'],
  )
  await applySet(context, owner, [], { types })
})

t.test('wrong sets are refused before any request', async (t) => {
  const owner = await newOwner()
  taken()
  const refused = async (objects: Parameters<typeof applySet>[2], message: RegExp): Promise<void> => {
    await t.rejects(applySet(context, owner, objects, { types }), { code: 'PRO_INPUT', message })
  }
  const view = cacheView(configMap, { labels: { matchLabels: { app: 'shop' } } })
  await refused(
    [dependent(view, { metadata: { name: 'a' } })],
    /^configmaps "test\/a" is not in its view configmaps \(labels app=shop\): give it the labels/,
  )
  const nameless = (metadata: object) => [config('a'), dependent(configMap, { metadata } as never)]
  for (const metadata of [{}, { generateName: 'a-' }])
    await refused(nameless(metadata), /^The name of a ConfigMap is undefined: set metadata\.name/)
  await refused(nameless({ name: '' }), /^"" cannot be the name of a ConfigMap/)
  await refused([config('a'), dependent(configMap, {} as never)], /^The name of a ConfigMap is undefined/)
  await refused([config('a'), config('b'), config('a')], /^configmaps "test\/a" is desired twice/)
  await refused(
    [dependent(configMap, { metadata: { name: 'a', namespace: 'elsewhere' } })],
    /^configmaps "elsewhere\/a" must be in the namespace "test"/,
  )
  await refused([dependent(namespaceType, { metadata: { name: 'a' } })], /^namespaces "a" must be in the namespace "test"/)
  t.strictSame(taken(), [])
})

t.test('all requests have the signal', async (t) => {
  const owner = await newOwner()
  await applySet(context, owner, [config('a')], { types })
  const signals: (AbortSignal | undefined)[] = []
  const { client } = context
  const recording = new Proxy(client, {
    get: (target, name: keyof Client) =>
      ['get', 'apply', 'delete'].includes(name)
        ? (type: ResourceType, object: never, options?: { readonly signal?: AbortSignal }) => {
            signals.push(options?.signal)
            return (target[name] as Client['delete'])(type, object, options)
          }
        : target[name],
  })
  const { signal } = new AbortController()
  await applySet({ ...context, client: recording }, owner, [config('b')], { types, signal })
  t.strictSame(taken().slice(-3), ['get configmaps b', 'apply configmaps b', 'delete configmaps a'])
  t.ok(signals.length === 3 && signals.every((each) => each === signal))
})
