import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { deepFreeze } from '../../src/api/json.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import type { Index, StoreListOptions } from '../../src/cache/store.ts'
import { Store } from '../../src/cache/store.ts'
import { object } from '../support/client/fake-cluster.ts'

const names = (objects: readonly { metadata: { name: string } }[]): string[] => objects.map(({ metadata }) => metadata.name).sort()
const byNode = { name: 'node', keysOf: (pod: { node?: string }) => pod.node }

t.test('objects are found by key, namespace and labels', async (t) => {
  const store = new Store()
  store.set(object('a', 1, { labels: { app: 'x' } }))
  store.set(object('b', 2, { labels: { app: 'y' } }))
  store.set(object('a', 3, { namespace: 'other', labels: { app: 'x' } }))
  store.set({ ...object('n', 4), metadata: { name: 'n', uid: 'n', resourceVersion: '4', creationTimestamp: '' } })
  t.equal(store.size, 4)
  t.equal(store.get({ namespace: 'default', name: 'a' })?.metadata.resourceVersion, '1')
  t.equal(store.get({ namespace: 'other', name: 'a' })?.metadata.resourceVersion, '3')
  t.equal(store.get({ name: 'n' })?.metadata.resourceVersion, '4')
  t.equal(store.get({ name: 'a' }), undefined)
  t.strictSame(names(store.list()), ['a', 'a', 'b', 'n'])
  t.strictSame(names(store.list({ namespace: '' })), ['a', 'a', 'b', 'n'])
  t.strictSame(names(store.list({ namespace: 'default' })), ['a', 'b'])
  t.strictSame(names(store.list({ namespace: 'none' })), [])
  t.strictSame(names(store.list({ labelSelector: { matchLabels: { app: 'x' } } })), ['a', 'a'])
  t.strictSame(
    names(store.list({ namespace: 'default', labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }] } })),
    ['b'],
  )
})

t.test('indexes are updated with the objects', async (t) => {
  type Widget = KubernetesObject & { node?: string }
  const store = new Store<Widget>()
  store.set(object('a', 1, { node: 'one' }) as Widget)
  store.addIndex(byNode)
  store.set(object('b', 2, { node: 'one' }) as Widget)
  store.set(object('c', 3) as Widget)
  t.strictSame(names(store.list({ index: [byNode, 'one'] })), ['a', 'b'])
  t.equal(store.set(object('a', 4, { node: 'two' }) as Widget)?.metadata.resourceVersion, '1')
  t.strictSame(names(store.list({ index: [byNode, 'one'] })), ['b'])
  t.strictSame(names(store.list({ index: [byNode, 'two'] })), ['a'])
  t.equal(store.delete({ namespace: 'default', name: 'b' })?.metadata.resourceVersion, '2')
  t.equal(store.delete({ namespace: 'default', name: 'b' }), undefined)
  t.strictSame(store.list({ index: [byNode, 'one'] }), [])
  store.addIndex(byNode)
  t.strictSame(names(store.list({ index: [byNode, 'two'] })), ['a'])
})

t.test('an undeclared index throws, also one with the name of a declared one', async (t) => {
  const store = new Store()
  store.addIndex({ name: 'node', keysOf: () => 'x' })
  store.set(object('a', 1))
  t.throws(() => store.list({ index: [{ name: 'node', keysOf: () => undefined }, 'x'] }), {
    code: 'PRO_INPUT',
    message: /^The cache does not keep the index "node": declare it in the `indexes`/,
  })
})

t.test('an index has an object under any number of keys, and combines with namespaces and labels', async (t) => {
  type User = KubernetesObject & { spec?: { uses?: string | string[] } }
  const store = new Store<User>()
  const byUse: Index<User> = { name: 'use', keysOf: ({ spec }) => spec?.uses }
  store.addIndex(byUse)
  const uses = (uses: string | string[], more = {}): Record<string, unknown> => ({ spec: { uses }, ...more })
  store.set(object('one', 1, uses('x')))
  store.set(object('many', 2, uses(['x', 'y', 'x'], { labels: { app: 'a' } })))
  store.set(object('none', 3, uses([])))
  store.set(object('unset', 4))
  store.set(object('far', 5, uses('x', { namespace: 'other', labels: { app: 'a' } })))
  store.set(object('near', 6, uses('z', { namespace: 'other' })))
  const cases: [StoreListOptions<User>, string[]][] = [
    [{ index: [byUse, 'x'] }, ['far', 'many', 'one']],
    [{ index: [byUse, 'x'], namespace: '' }, ['far', 'many', 'one']],
    [{ index: [byUse, 'x'], namespace: 'default' }, ['many', 'one']],
    [{ index: [byUse, 'x'], namespace: 'other' }, ['far']],
    [{ index: [byUse, 'z'], namespace: 'default' }, []],
    [{ index: [byUse, 'x'], namespace: 'none' }, []],
    [{ index: [byUse, 'x'], labelSelector: { matchLabels: { app: 'a' } } }, ['far', 'many']],
    [{ index: [byUse, 'y'] }, ['many']],
    [{ index: [byUse, ''] }, []],
    [{ index: [byUse, '__proto__'] }, []],
  ]
  for (const [options, expected] of cases) t.strictSame(names(store.list(options)), expected, JSON.stringify(options))
})

t.test('an index function is called once when an object is added and once when it is removed', async (t) => {
  let calls = 0
  const byName: Index = { name: 'name', keysOf: ({ metadata }) => (calls++, metadata.name) }
  const store = new Store()
  for (let i = 0; i < 100; i++) store.set(object(`o-${i}`, i))
  store.addIndex(byName)
  t.equal(calls, 100)
  calls = 0
  for (let i = 0; i < 100; i++) t.equal(store.list({ index: [byName, `o-${i}`] }).length, 1)
  t.equal(calls, 0, 'reads call no index functions')
  store.set(object('o-1', 200))
  t.equal(calls, 2)
})

t.test('an index function that throws affects only its own entry', async (t) => {
  const errors: string[] = []
  const store = new Store({ onIndexError: (index, key, error) => errors.push(`${index} ${key.name} ${String(error)}`) })
  const odd: Index = {
    name: 'odd',
    keysOf: ({ metadata }) => {
      if (metadata.name === 'bad') throw new Error('no')
      return [metadata.name]
    },
  }
  store.addIndex(odd)
  store.set(object('bad', 1))
  store.set(object('good', 2))
  t.equal(store.size, 2)
  t.strictSame(names(store.list({ index: [odd, 'good'] })), ['good'])
  t.strictSame(errors, ['odd bad Error: no'])
})

t.test('lists are copies', async (t) => {
  const store = new Store()
  store.set(deepFreeze(object('a', 1)))
  const before = store.list()
  store.delete({ namespace: 'default', name: 'a' })
  t.strictSame(names(before), ['a'])
})

t.test('set and delete return the previous object, and update namespaces and indexes', async (t) => {
  const byApp: Index = { name: 'app', keysOf: ({ metadata }) => metadata.labels?.['app'] }
  const store = new Store()
  store.addIndex(byApp)
  const first = object('a', 1, { labels: { app: 'x' } })
  t.equal(store.set(first), undefined)
  t.equal(store.set(object('a', 2)), first)
  t.strictSame(store.list({ index: [byApp, 'x'] }), [])
  t.equal(store.size, 1)
  t.equal(store.delete({ namespace: 'default', name: 'a' })?.metadata.resourceVersion, '2')
  t.strictSame([store.size, store.list(), store.list({ namespace: 'default' })], [0, [], []])
})

t.test('a failing index without an error handler emits a process warning', async (t) => {
  const warnings: string[] = []
  const warned = new Promise<void>((resolve) => {
    process.once('warning', ({ message }) => {
      warnings.push(message)
      resolve()
    })
  })
  const store = new Store()
  store.set(object('a', 1))
  store.addIndex({
    name: 'odd',
    keysOf: () => {
      throw new Error('no')
    },
  })
  await warned
  t.strictSame(warnings, ['The index "odd" failed for default/a: Error: no'])
})

t.test('an index that is not declared is refused with advice', async (t) => {
  t.throws(() => new Store().list({ index: [{ name: 'node', keysOf: () => 'x' }, 'x'] }), {
    code: 'PRO_INPUT',
    message: 'The cache does not keep the index "node": declare it in the `indexes` of the controller or webhook that reads by it.',
  })
})

t.test('invalid selectors are refused, and an empty one selects all', async (t) => {
  const store = new Store()
  store.set(object('a', 1))
  t.equal(store.list({ labelSelector: {} }).length, 1)
  t.equal(store.list({ labelSelector: { matchLabels: { a: 'b' } } }).length, 0)
  t.throws(() => store.list({ labelSelector: { matchLabels: { a: 'b c' } } }), { code: 'PRO_INPUT' })
})

t.test('a namespace whose objects are all gone leaves the memory', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const store = new Store()
  const comeAndGo = (count: number): void => {
    for (let i = 0; i < count; i += 1) {
      const namespace = `preview-${i}`
      store.set(object('a', 1, { namespace }))
      store.delete({ namespace, name: 'a' })
    }
  }
  comeAndGo(1_000)
  const before = used()
  comeAndGo(20_000)
  const each = (used() - before) / 20_000
  t.equal(store.size, 0)
  t.ok(each < 100, `${Math.round(each)} bytes for each`)
})
