import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { FakeClock, startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { operator, page } from '../controllers/page.ts'

const clock = new FakeClock(Date.now())
const hour = 3_600_000

let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  await controlPlane.startOperator([operator], { clock })
})
after(() => controlPlane.stop())

test('a Page is open until it closes', async () => {
  const key = { namespace: 'test', name: 'home' }
  const closesAt = new Date(clock.now() + hour).toISOString()
  await controlPlane.client.create(page, { metadata: key, spec: { host: 'example.com', theme: 'summer', closesAt } })
  const isOpen = async () => (await controlPlane.client.get(page, key)).status?.open
  await until('it is open', async () => (await isOpen()) === true)
  await clock.advance(hour - 1_000)
  assert.equal(await isOpen(), true)
  await clock.advance(1_000)
  await until('it is closed', async () => (await isOpen()) === false)
})
