/** Tests of how the store of an embedded cluster is opened and closed. */
import t from 'tap'
import { openStore } from '../../src/devcluster/open-store.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'

t.test('a write right before the close is kept', async (t) => {
  const options = { directory: t.testdir(), keepObjects: true, logger: silentLogger() }
  const first = await openStore(options, 1)
  const written = first.store.put('/configmaps', { name: 'a' }, { metadata: { name: 'a' } }, undefined)
  await first.close()
  await t.resolves(written)
  const second = await openStore(options, 1)
  t.strictSame(second.found, { objects: 1, types: 1 })
  await second.close()
})
