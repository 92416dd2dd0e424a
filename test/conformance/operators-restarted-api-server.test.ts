/** Tests of all shipped operators at the same time, with many objects of each kind. The API server is restarted during the tests. */
import t from 'tap'
import { isControlledBy } from '../../src/api/owner-reference.ts'
import { shippedOperators } from '../../src/operators/index.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { systemRandom } from '../../src/runtime/random.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { startOperator } from '../../src/testing/operator.ts'
import { needsOwnControlPlane } from '../support/conformance/backends.ts'
import { startRestartable } from '../support/operators/restartable.ts'
import { untilReconciled, writesIn } from '../support/operators/settled.ts'
import { createShipped, shippedKinds, untilConverged } from '../support/operators/shipped.ts'
import type { ShippedKind } from '../support/operators/shipped.ts'

t.setTimeout(600_000)

const perKind = 200
const convergedMs = 300_000
const namespaceOf = ({ name }: ShippedKind): string => `many-${name}`
const names = Array.from({ length: perKind }, (_, index) => `object-${index}`)

t.test(`${perKind} objects of each kind converge, while the API server is restarted`, needsOwnControlPlane, async (t) => {
  const capacity = { cpu: '1000', memory: '1000Gi', pods: '5000' }
  const controlPlane = await startRestartable(t, { namespaces: shippedKinds.map(namespaceOf), capacity })
  const { client } = controlPlane
  const operators = await startOperator(
    { ...controlPlane, logger: silentLogger(), clock: systemClock, random: systemRandom },
    shippedOperators(),
  )
  t.teardown(() => operators.stop())
  const create = async (some: readonly string[]): Promise<void> => {
    for (const name of some)
      await Promise.all(shippedKinds.map((kind) => createShipped(client, kind, { namespace: namespaceOf(kind), name })))
  }

  const began = Date.now()
  await create(names.slice(0, perKind / 2))
  await controlPlane.restart()
  await create(names.slice(perKind / 2))
  const created = Date.now()
  for (const kind of shippedKinds)
    for (const name of names) await untilConverged(client, kind, { namespace: namespaceOf(kind), name }, { timeoutMs: convergedMs })
  const ended = Date.now()
  await untilReconciled(operators, [], { count: 0 })
  t.comment(`created in ${created - began} ms, converged ${ended - created} ms later, with ${await writesIn(operators)} writes`)

  for (const kind of shippedKinds) {
    const { items: owners } = await client.list(kind.type, { namespace: namespaceOf(kind) })
    for (const type of kind.children) {
      const { items: children } = await client.list(type, { namespace: namespaceOf(kind) })
      const counts = owners.map((owner) => children.filter((child) => isControlledBy(child, owner)).length)
      t.ok(
        counts.every((count) => count === 1),
        `each ${kind.type.kind} has one ${type.kind}`,
      )
    }
  }
})
