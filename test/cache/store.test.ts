import t from 'tap'
import { deepFreeze } from '../../src/api/json.ts'
import { parseLabelSelector } from '../../src/api/label-selector.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import { Store } from '../../src/cache/store.ts'
import { object } from '../support/cache-client.ts'

const names = (objects: readonly { metadata: { name: string } }[]): string[] => objects.map(({ metadata }) => metadata.name).sort()
const byNode = { name: 'node', keysOf: (pod: { node?: string }) => (pod.node === undefined ? [] : [pod.node]) }

t.test('finds objects by key, namespace and labels', async (t) => {
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
  t.same(names(store.list()), ['a', 'a', 'b', 'n'])
  t.same(names(store.list({ namespace: '' })), ['a', 'a', 'b', 'n'])
  t.same(names(store.list({ namespace: 'default' })), ['a', 'b'])
  t.same(names(store.list({ namespace: 'none' })), [])
  t.same(names(store.list({ labels: parseLabelSelector('app=x') })), ['a', 'a'])
  t.same(names(store.list({ namespace: 'default', labels: parseLabelSelector('app!=x') })), ['b'])
})

t.test('keeps indexes in step with the objects', async (t) => {
  type Widget = KubernetesObject & { node?: string }
  const store = new Store<Widget>()
  store.set(object('a', 1, { node: 'one' }) as Widget)
  store.addIndex(byNode)
  store.set(object('b', 2, { node: 'one' }) as Widget)
  store.set(object('c', 3) as Widget)
  t.same(names(store.byIndex('node', 'one')), ['a', 'b'])
  t.equal(store.set(object('a', 4, { node: 'two' }) as Widget)?.metadata.resourceVersion, '1')
  t.same(names(store.byIndex('node', 'one')), ['b'])
  t.same(names(store.byIndex('node', 'two')), ['a'])
  t.equal(store.delete({ namespace: 'default', name: 'b' })?.metadata.resourceVersion, '2')
  t.equal(store.delete({ namespace: 'default', name: 'b' }), undefined)
  t.same(store.byIndex('node', 'one'), [])
  t.throws(() => store.byIndex('zone', 'x'), new RangeError('There is no index "zone": add it before reading from it.'))
  store.addIndex(byNode)
  t.throws(() => store.addIndex({ name: 'node', keysOf: () => [] }), RangeError)
})

t.test('an index function that throws costs only its own entry', async (t) => {
  const errors: string[] = []
  const store = new Store({ onIndexError: (index, key, error) => errors.push(`${index} ${key.name} ${String(error)}`) })
  store.addIndex({
    name: 'odd',
    keysOf: ({ metadata }) => {
      if (metadata.name === 'bad') throw new Error('no')
      return [metadata.name]
    },
  })
  store.set(object('bad', 1))
  store.set(object('good', 2))
  t.equal(store.size, 2)
  t.same(names(store.byIndex('odd', 'good')), ['good'])
  t.same(errors, ['odd bad Error: no'])
})

t.test('gives lists of its own', async (t) => {
  const store = new Store()
  store.set(deepFreeze(object('a', 1)))
  const before = store.list()
  store.delete({ namespace: 'default', name: 'a' })
  t.same(names(before), ['a'])
})
