/** Following a type from inside the API server. */
import t from 'tap'
import { watchType } from '../../../src/devcluster/storage/watch-type.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'

t.test('each change is told once, however often watches were ended, until the following ends', (t) => {
  const store = new ObjectStore()
  const told: string[] = []
  const stop = watchType(store, '/configmaps', ({ key }) => told.push(key))
  const write = (name: string): void => void store.put('/configmaps', { name }, { metadata: { name } }, undefined)
  write('a')
  store.endSubscriptions()
  store.endSubscriptions()
  write('b')
  stop()
  write('c')
  t.strictSame(told, ['a', 'b'])
  t.end()
})
