/**
 * Tests of the shipped operators with two replicas. At one of its writes, the leader loses its connection permanently. The other replica
 * must bring the object to the state that the object has without a fault, and must create no child twice.
 */
import t from 'tap'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'
import type { Outcome } from '../support/operators/outcome.ts'
import { outcomeOf } from '../support/operators/outcome.ts'
import type { Moment } from '../support/operators/replicas.ts'
import { leaseNamespace, leaseRules, moments, Replicas } from '../support/operators/replicas.ts'
import { untilReconciled } from '../support/operators/settled.ts'
import type { ShippedKind } from '../support/operators/shipped.ts'
import { createShipped, shippedKinds, untilConverged, withoutWebhooks } from '../support/operators/shipped.ts'
import { writesOf } from '../support/operators/writes.ts'

// The test injects more than a hundred faults.
t.setTimeout(600_000)

interface Proof {
  readonly kind: ShippedKind
  readonly moment: Moment
  /** The name of the user with whose credentials the replicas send requests. The namespace of the reconciled objects has the same name. */
  readonly user: string
}

interface Life extends Outcome {
  /** The number of requests that created a child. The API server responds to such a request with the status code 201. */
  readonly created: number
}

const proofs: readonly Proof[] = shippedKinds.flatMap((kind) =>
  moments.map((moment) => ({ kind, moment, user: `fault-${kind.name}-${moment}` })),
)

t.test('the leader of two replicas is killed at a write', needsRequests, async (t) => {
  const controlPlane = await conformanceControlPlane(t, {
    namespaces: [leaseNamespace, ...proofs.map(({ user }) => user)],
    users: proofs.map(({ kind, user }) => ({
      name: user,
      rules: rulesOfOperators([withoutWebhooks(kind.operator)]),
      namespaceRules: leaseRules,
    })),
  })
  const { client } = controlPlane
  /** On a real control plane, only every fourth write gets a fault. */
  const step = controlPlane.backend === 'embedded' ? 1 : 4

  /** Creates and changes an object. Resolves when the object has converged after the last change. */
  const live = async ({ kind, user: namespace }: Proof, name: string): Promise<void> => {
    const key = { namespace, name }
    await createShipped(client, kind, key)
    await untilConverged(client, kind, key)
    for (const spec of kind.changes) {
      await client.patch(kind.type, key, { spec })
      await untilConverged(client, kind, key)
    }
  }
  const lifeOf = async ({ kind, user }: Proof, name: string, since: number): Promise<Life> => {
    const plurals = new Set(kind.children.map(({ plural }) => plural))
    const isCreation = ({ path, code }: { path: string; code: number }): boolean =>
      code === 201 && path.split('/').some((part) => plurals.has(part))
    const created = (await writesOf(controlPlane, user, since)).filter(isCreation).length
    return { ...(await outcomeOf(client, kind, { namespace: user, name })), created }
  }
  /**
   * Creates and changes one object without faults, and then further objects. For each further object, the test injects a fault at a
   * different write of the operator. Resolves with the `Life` of the first object as `expected`, and with the `Life` of each object that
   * had a fault as `found`.
   */
  const prove = async (proof: Proof): Promise<{ readonly expected: Life; readonly found: readonly Life[] }> => {
    const { kind, moment, user } = proof
    const replicas = new Replicas({ controlPlane, operator: withoutWebhooks(kind.operator), user, namespace: user })
    t.teardown(() => replicas.stop())
    await replicas.start()
    const started = Date.now()
    await live(proof, 'plain')
    const expected = await lifeOf(proof, 'plain', started)
    const found: Life[] = []
    for (let point = 1; ; point += step) {
      await replicas.start()
      const since = Date.now()
      const fault = replicas.failAt(point, moment)
      const name = `point-${point}`
      await live(proof, name)
      if ((await fault.end()) === undefined) return { expected, found }
      // The replica that becomes the leader reconciles all objects.
      const [survivor] = replicas.running
      await untilReconciled(survivor!.started, [kind.name], { count: found.length + 2 })
      found.push(await lifeOf(proof, name, since))
    }
  }

  const results = proofs.map((proof) => ({ ...proof, result: prove(proof) }))
  for (const { result } of results) result.catch(() => undefined) // a test below reports each failure
  for (const { kind, moment, result } of results)
    await t.test(`${kind.name}: ${moment} the write reaches the API server`, async (t) => {
      const { expected, found } = await result
      t.comment(`${found.length} faults; the children: ${expected.created} creations`)
      t.ok(expected.created > 0)
      t.ok(found.length * step > 2 * (1 + kind.changes.length), 'each change has at least two writes')
      for (const [index, life] of found.entries()) t.strictSame(life, expected, `the fault at write ${index * step + 1}`)
    })
})
