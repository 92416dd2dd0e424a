/** Tests of `watchType`. Inside the API server, this function watches the objects of a type without an HTTP request. */
import t from 'tap'
import { watchType } from '../../../src/devcluster/storage/watch-type.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'

t.test('each change is delivered once until the watch is stopped, even after all watches were ended', (t) => {
  const store = new ObjectStore()
  const keys: string[] = []
  const stop = watchType(store, '/configmaps', ({ key }) => keys.push(key))
  const write = (name: string): void => void store.put('/configmaps', { name }, { metadata: { name } }, undefined)
  write('a')
  store.endSubscriptions()
  store.endSubscriptions()
  write('b')
  stop()
  write('c')
  t.strictSame(keys, ['a', 'b'])
  t.end()
})
