import t from 'tap'
import { SimulatedPodWorld as World, summaries } from '../../../support/devcluster/simulated-pod.ts'

t.test('the back-offs of a container begin anew with a changed image', async (t) => {
  const changed = { spec: { containers: [{ name: 'main', image: 'x:2' }] } }
  const crashing = new World({}, { 'simulate.proreus.dev/exit-code': '1' })
  t.equal(crashing.summary(16), 'Running main=CrashLoopBackOff/2')
  crashing.change(changed)
  t.strictSame(summaries(crashing, 16, 18, 20, 28, 29), [
    '16 Running main=running+/3',
    '18 Running main=running+/4',
    '20 Running main=CrashLoopBackOff/4',
    '28 Running main=CrashLoopBackOff/4',
    '29 Running main=running+/5',
  ])
  const missing = new World({}, { 'simulate.proreus.dev/pull-error': 'no such image' })
  t.equal(missing.summary(31), 'Pending main=ImagePullBackOff')
  missing.change(changed)
  t.strictSame(summaries(missing, 31, 40, 41), [
    '31 Pending main=ErrImagePull',
    '40 Pending main=ImagePullBackOff',
    '41 Pending main=ErrImagePull',
  ])
})
