/**
 * Tests with some seconds of network faults between an operator and the API server. `test/real/unplugging.test.ts` runs the same test for
 * some minutes, with the embedded API server and with a real API server.
 */
import t from 'tap'
import { startControlPlane } from '../../src/testing/index.ts'
import { namespace, unplug, unpluggingOptions } from '../support/unplugging/unplugging.ts'

t.setTimeout(240_000)
t.test('informers and controllers miss nothing while connections are cut, half-opened and delayed', async (t) => {
  const controlPlane = await startControlPlane({ controllers: false, namespaces: [namespace] })
  t.teardown(() => controlPlane.stop())
  await unplug(t, controlPlane, { ...unpluggingOptions(t, 8), name: 'embedded', forgetting: false })
})
