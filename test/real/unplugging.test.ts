/**
 * Two minutes of network faults between operators and their API servers. The test runs on the embedded and on a real control plane in
 * parallel. The environment variable `SECONDS` changes the duration, and `SEED` changes the faults.
 */
import t from 'tap'
import { startControlPlane } from '../../src/testing/index.ts'
import { namespace, unplug, unpluggingOptions, watchHeap } from '../support/unplugging/unplugging.ts'

/**
 * The tolerated growth of the heap in bytes. The recorded requests of the embedded API server, and garbage that is not yet collected, can
 * cause this growth.
 *
 * The history that the embedded API server keeps for watches is compacted before the first and the last measurement, because the history
 * exceeds 10 MB at the end.
 */
const mayGrowBytes = 4 * 1024 * 1024

const options = unpluggingOptions(t, 120)
t.setTimeout((options.seconds + 400) * 1000)
t.test('informers and controllers miss nothing while connections are cut, half-opened and delayed', async (t) => {
  let compact = (): Promise<unknown> => Promise.resolve()
  const growth = watchHeap(options.seconds, () => compact())
  const backends = ['embedded', 'binaries'] as const
  await Promise.all(
    backends.map(async (backend) => {
      const controlPlane = await startControlPlane({ backend, controllers: false, namespaces: [namespace] })
      t.teardown(() => controlPlane.stop())
      if (backend === 'embedded') compact = () => controlPlane.compact()
      await unplug(t, controlPlane, { ...options, name: backend, forgetting: true })
    }),
  )
  const bytes = await growth()
  t.ok(bytes < mayGrowBytes, `the heap does not grow: ${Math.round(bytes / 1024)} KiB more`)
})
