/** Tests that the shipped operators write nothing when all objects have converged. */
import t from 'tap'
import { groupResourceOf } from '../../src/api/group-version-kind.ts'
import { shippedOperators } from '../../src/operators/index.ts'
import type { Clock } from '../../src/runtime/clock.ts'
import type { ControlPlane } from '../../src/testing/control-plane-types.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import type { StartedOperator } from '../../src/testing/started-operator.ts'
import { conformanceControlPlane, needsEmbedded, needsRequests } from '../support/conformance/backends.ts'
import { reconcilesOf, untilReconciled } from '../support/operators/settled.ts'
import { createShipped, shippedKinds, untilConverged } from '../support/operators/shipped.ts'
import { writesOf, writeText } from '../support/operators/writes.ts'

// The test of a resync is slow. This test advances the fake clock by 11 hours, because the first resync comes after 9 to 11 hours. In these
// 11 hours, each watch is renewed about every 7 minutes.
t.setTimeout(600_000)

const minuteMs = 60_000
const resyncMs = 11 * 60 * minuteMs
const user = { name: 'operators', rules: rulesOfOperators(shippedOperators()) }
const controllers = shippedKinds.map(({ name }) => name)
const keys = shippedKinds.map((kind) => ({ kind, key: { namespace: `at-rest-${kind.name}`, name: 'sample' } }))
const options = { users: [user], namespaces: keys.map(({ key }) => key.namespace) }

function start(controlPlane: ControlPlane, clock?: Clock): Promise<StartedOperator> {
  return controlPlane.startOperator(shippedOperators(), { connection: controlPlane.connectionFor(user.name), ...(clock && { clock }) })
}

/** Creates an object of each kind. Resolves when all have converged. */
async function converge({ client }: ControlPlane, pass?: () => unknown): Promise<void> {
  await Promise.all(keys.map(({ kind, key }) => createShipped(client, kind, key)))
  for (const { kind, key } of keys) await untilConverged(client, kind, key, { pass })
}

async function writesSince(controlPlane: ControlPlane, time: number): Promise<readonly string[]> {
  return (await writesOf(controlPlane, user.name, time)).map(writeText)
}

t.test('each kind of a shipped operator has a row in the table of these tests', async (t) => {
  const kinds = shippedOperators().flatMap((operator) => operator.kinds.map(groupResourceOf))
  t.strictSame(shippedKinds.map(({ type }) => groupResourceOf(type)).sort(), kinds.sort())
})

t.test('operators whose objects have converged', needsRequests, async (t) => {
  const controlPlane = await conformanceControlPlane(t, options)
  const first = await start(controlPlane)
  await converge(controlPlane)
  await first.stop()
  t.ok((await writesSince(controlPlane, 0)).length > 0)

  const since = Date.now()
  const clock = new FakeClock(since)
  const pass = () => clock.advance(1000)
  const again = await start(controlPlane, clock)
  await t.test('write nothing when they are started again', async (t) => {
    await untilReconciled(again, controllers, { count: 1, pass })
    t.strictSame(await writesSince(controlPlane, since), [])
  })

  await t.test('write nothing in a full resync', async (t) => {
    const start = Date.now()
    const before = await reconcilesOf(again)
    await clock.advance(resyncMs)
    await untilReconciled(again, controllers, { count: 1, before, pass })
    t.strictSame(await writesSince(controlPlane, start), [])
  })
})

t.test('operators write nothing in 30 idle minutes', needsEmbedded, async (t) => {
  const clock = new FakeClock(Date.now())
  const controlPlane = await conformanceControlPlane(t, { ...options, clock })
  const operators = await start(controlPlane)
  const pass = () => clock.advance(1000)
  await converge(controlPlane, pass)
  // Events are written a moment after the reconcile that records them.
  await clock.advance(minuteMs)
  const since = clock.now()
  t.ok((await writesSince(controlPlane, 0)).length > 0)
  await clock.advance(30 * minuteMs)
  await untilReconciled(operators, controllers, { count: 0, pass })
  t.strictSame(await writesSince(controlPlane, since), [])
})
