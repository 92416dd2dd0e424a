import t from 'tap'
import { completeLeaderElection, createElection, type LeaderElectionOptions } from '../../src/manager/leader-election.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import type { CompleteOptions } from '../../src/manager/run-options.ts'
import { withDefaults } from '../../src/manager/run-options.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import type { LeaderElectorOptions } from '../../src/leader-election/leader-elector.ts'
import { coordination } from '../../src/api/kubernetes/coordination.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'

const names = namesOf('shop')
const service = { namespace: 'own', name: 'shop-webhook' }
const complete = (option: boolean | LeaderElectionOptions) => completeLeaderElection(option, names, service)

t.test('the defaults are those of Kubernetes, and the Lease is in the namespace of the process', async (t) => {
  const expected = {
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    lease: { namespace: 'own', name: 'shop-leader' },
  }
  t.strictSame(complete(true), expected)
  t.strictSame(complete({}), expected)
  t.equal(complete(false), undefined)
  t.strictSame(complete({ name: 'a', namespace: 'b', labels: { c: 'd' }, leaseDurationMs: 20_000 }), {
    ...expected,
    leaseDurationMs: 20_000,
    lease: { namespace: 'b', name: 'a', labels: { c: 'd' } },
  })
})

t.test('it is enabled in a cluster only', async (t) => {
  const operators = [defineOperator({ name: 'shop', kinds: [] })]
  const connection = { server: 'https://127.0.0.1:1', describe: 'a test' }
  const of = (inCluster: boolean) => withDefaults(operators, { connection: { ...connection, inCluster } }).leaderElection
  t.equal(of(false), undefined)
  t.match(of(true), { lease: { name: 'shop-leader' } })
  t.equal(withDefaults(operators, { connection: { ...connection, inCluster: true }, leaderElection: false }).leaderElection, undefined)
})

t.test('durations that contradict each other are refused', async (t) => {
  const cases: [LeaderElectionOptions, RegExp][] = [
    [{ leaseDurationMs: 10_000 }, /leaseDurationMs \(10000\) must be longer than renewDeadlineMs \(10000\)/],
    [{ leaseDurationMs: 900, renewDeadlineMs: 800, retryPeriodMs: 10 }, /leaseDurationMs is 900, and must be whole seconds/],
    [{ leaseDurationMs: 15_500 }, /leaseDurationMs is 15500, and must be whole seconds/],
    [{ renewDeadlineMs: 2_400 }, /renewDeadlineMs \(2400\) must be longer than 1\.2 × retryPeriodMs \(2000\)/],
  ]
  for (const [option, message] of cases) t.throws(() => complete(option), { code: 'PRO_CONFIG_INVALID', message })
  t.ok(complete({ renewDeadlineMs: 2_401 }))
})

t.test("the elector's requests have half of the renew deadline as their time limit", async (t) => {
  for (const [renewDeadlineMs, timeoutMs] of [
    [10_000, 5_000],
    [1_500, 1_000],
  ] as const) {
    const requests: ApiRequest[] = []
    const transport = {
      request: async (request: ApiRequest) => {
        requests.push(request)
        return { statusCode: 200, headers: {}, body: {} }
      },
      stream: () => Promise.reject(new Error('unused')),
      close: async () => undefined,
    }
    const leaderElection = complete({ renewDeadlineMs, retryPeriodMs: 1_000, leaseDurationMs: 20_000 })
    const options = { leaderElection, names, instance: 'pod', clock: undefined, logger: silentLogger(), metrics: new Metrics() }
    let given: LeaderElectorOptions | undefined
    createElection(options as unknown as CompleteOptions, transport, (of) => {
      given = of
      return undefined as never
    })
    await given?.client.get(coordination.lease, { namespace: 'own', name: 'shop-leader' })
    t.match(requests, [{ timeoutMs, userAgent: /^shop\// }])
  }
})
