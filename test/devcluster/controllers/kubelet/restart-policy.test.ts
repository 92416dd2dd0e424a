import t from 'tap'
import { SimulatedPodWorld as World, summaries } from '../../../support/devcluster/simulated-pod.ts'

t.test('an init container that has succeeded is not restarted, whatever the restart policy', async (t) => {
  const annotations = { 'init.simulate.proreus.dev/run-for': '2s' }
  for (const restartPolicy of ['Always', 'OnFailure', 'Never'])
    t.strictSame(
      summaries(new World({ initContainers: [{ name: 'init', image: 'x' }], restartPolicy }, annotations), 2, 60),
      ['2 Running init=Completed+ main=running+', '60 Running init=Completed+ main=running+'],
      restartPolicy,
    )
})
