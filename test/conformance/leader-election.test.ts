/** Tests of leader election between two replicas of an operator. The leader loses its connection or stops. */
import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import { coordination } from '../../src/api/kubernetes/coordination.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineController } from '../../src/controller/builder.ts'
import { defineOperator, type Operator } from '../../src/manager/operator.ts'
import type { FaultProxy } from '../../src/testing/faults/fault-proxy.ts'
import type { StartedOperator } from '../../src/testing/started-operator.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsRequests } from '../support/conformance/backends.ts'

const namespace = 'conformance-election'
const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const serviceAccounts = ['first', 'second'].map((name) => ({ name: `${namespace}/${name}`, rules }))
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace], serviceAccounts })
const { client } = controlPlane

const counter = defineKind({
  group: 'election.example.com',
  kind: 'Counter',
  versions: [{ name: 'v1', spec: Type.Object({}) }],
})

const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 200 }

/**
 * An operator with a reconciler that writes to a ConfigMap again and again until `isOver` returns true. The reconciler continues even after
 * its signal has aborted.
 */
function writer(name: string, writes: string[], isOver: () => boolean): Operator {
  const controller = defineController(counter, {
    async reconcile({ metadata }, { client: own }) {
      while (!isOver()) {
        try {
          await own.patch(configMap, metadata, { data: { [name]: String(writes.length) } })
          writes.push(name)
        } catch {
          // The loop continues, like a reconciler that ignores all errors.
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
  })
  return defineOperator({ name: 'writer', kinds: [counter], controllers: [controller] })
}

const faults = [
  { fault: 'is reset', begin: (proxy: FaultProxy) => proxy.cut({ alsoNew: true }), inFlight: 0 },
  // The only worker has one request in flight. The network delivers this request when the network works again, possibly much later.
  { fault: 'is silent', begin: (proxy: FaultProxy) => proxy.halfOpen({ alsoNew: true }), inFlight: 1 },
]

for (const { fault, begin, inFlight } of faults) {
  t.test(`a leader whose connection ${fault} writes nothing after the next leader has begun`, needsRequests, async (t) => {
    const name = fault.replace(' ', '-')
    const key = { namespace, name }
    const leaderElection = { ...key, ...times }
    let over = false
    t.teardown(() => (over = true))
    const writes: string[] = []
    const holder = async (): Promise<string | undefined> => (await client.get(coordination.lease, key)).spec?.holderIdentity
    const startAs = async (user: string): Promise<{ proxy: FaultProxy; started: StartedOperator }> => {
      const proxy = await controlPlane.faultProxy()
      const connection = proxy.through(controlPlane.connectionFor({ serviceAccount: `${namespace}/${user}` }))
      const operator = writer(user, writes, () => over)
      return { proxy, started: await controlPlane.startOperator([operator], { connection, leaderElection }) }
    }

    const first = await startAs('first')
    await client.create(configMap, { metadata: key })
    await client.create(counter, { metadata: key, spec: {} })
    await until('the first one writes', () => writes.length > 0)
    const leader = await holder()
    const second = await startAs('second')
    t.notOk(writes.includes('second'))
    t.equal(await holder(), leader)

    begin(first.proxy)
    await until('the second one writes', () => writes.includes('second'))
    t.not(await holder(), leader)
    first.proxy.heal()
    const written = writes.length
    await until('the second one goes on', () => writes.length > written + 20)
    const users = (await controlPlane.requests())
      .filter(({ verb, path }) => verb === 'patch' && path.endsWith(`/configmaps/${name}`))
      .toSorted((a, b) => a.at - b.at)
      .map(({ user }) => user.split(':').at(-1))
    const change = users.indexOf('second')
    const late = users.slice(change).filter((user) => user === 'first').length
    t.comment(`${change} writes of the first leader, and ${late} that were in flight`)
    t.ok(change > 0)
    t.ok(late <= inFlight, `${late} writes of the first leader arrived after the first one of the second`)

    over = true // the reconcile then ends, and the operator can stop
    const before = Date.now()
    await second.started.stop()
    await until('the first one leads again', async () => (await holder()) === leader)
    t.ok(Date.now() - before < times.leaseDurationMs, 'it does not wait until the lease expires')
    await first.started.stop()
    t.equal(await holder(), '', 'a leader that stops releases the lease')
    await client.delete(counter, key)
  })
}
