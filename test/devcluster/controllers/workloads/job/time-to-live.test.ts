import t from 'tap'
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import { timeToLiveController } from '../../../../../src/devcluster/controllers/workloads/job/time-to-live.ts'
import { objectOf, quiet, runScripted, time } from '../../../../support/devcluster/scripted-controller.ts'

t.test('a finished Job is deleted after its time to live, but not another Job with its name', async (t) => {
  const world = runScripted(t, timeToLiveController)
  const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: time }]
  world.set(batch.job, objectOf('work', { spec: { ttlSecondsAfterFinished: 10 }, status: { conditions } }))
  await quiet()
  await world.clock.advance(9_999)
  await quiet()
  t.strictSame(world.asked, [])
  await world.clock.advance(1)
  const [[method, plural, key, options] = []] = await world.take(1)
  t.strictSame([method, plural, options], ['delete', 'jobs', { propagationPolicy: 'Foreground', preconditions: { uid: 'uid-work' } }])
  t.match(key, { namespace: 'ns', name: 'work' })
})
