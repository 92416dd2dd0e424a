import t from 'tap'
import type { ObjectKey } from '../../../../src/api/object.ts'
import { Wakeups } from '../../../../src/devcluster/controllers/kubelet/wakeups.ts'

t.test('a call before the kubelet works is not lost', async (t) => {
  const wakeups = new Wakeups()
  wakeups.wake({ namespace: 'ns', name: 'early' })
  const keys: ObjectKey[] = []
  const stop = new AbortController()
  const running = wakeups.run((more) => keys.push(...more), { signal: stop.signal })
  wakeups.wake({ namespace: 'ns', name: 'late' })
  t.strictSame(keys, [
    { namespace: 'ns', name: 'early' },
    { namespace: 'ns', name: 'late' },
  ])
  stop.abort()
  await running
  wakeups.wake({ namespace: 'ns', name: 'after' })
  t.equal(keys.length, 2)
})
