import t from 'tap'
import { FailedPodDelays } from '../../../../../src/devcluster/controllers/workloads/daemon-set/failed-pod-delays.ts'

t.test('the delay doubles with each failure, and begins anew after a long time', (t) => {
  const delays = new FailedPodDelays()
  t.equal(delays.replace('a', '1', 0), 0)
  t.equal(delays.replace('a', '1', 400), 600)
  t.equal(delays.replace('a', '1', 1000), 0)
  t.equal(delays.replace('a', '1', 1500), 1500)
  t.equal(delays.replace('b', '1', 1500), 0, 'each node has its own delay')
  t.equal(delays.replace('b', '2', 1500), 0, 'a changed DaemonSet has no delay')
  let now = 3000
  for (let round = 0; round < 20; round += 1) {
    t.equal(delays.replace('a', '1', now), 0)
    now += delays.replace('a', '1', now)
  }
  t.equal(delays.replace('a', '1', now), 0)
  t.equal(delays.replace('a', '1', now), 900_000)
  t.equal(delays.replace('a', '1', now + 1_800_001), 0)
  t.equal(delays.replace('a', '1', now + 1_800_001), 1000)
  delays.forget('a')
  t.equal(delays.replace('a', '1', now + 1_800_001), 0)
  t.end()
})
