import t from 'tap'
import { core } from '../../src/api/kubernetes/core.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { identitiesOf } from '../../src/manager/operator-identity.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'

const operator = defineOperator({ name: 'shop', version: '2', kinds: [] })
const key = { namespace: 'ns', name: 'a' }

function identity(guard: (() => void) | undefined) {
  const requests: ApiRequest[] = []
  const transport = {
    request: async (request: ApiRequest) => {
      requests.push(request)
      return { statusCode: 200, headers: {}, body: {} }
    },
    stream: () => Promise.reject(new Error('unused')),
    close: async () => undefined,
  }
  const options = { instance: 'pod', logger: silentLogger(), clock: systemClock, guard }
  return { requests, ...identitiesOf([operator], transport, options).get(operator)! }
}

t.test('requests of the client of reconciles are guarded, those of the webhooks are not', async (t) => {
  const guard = (): void => undefined
  const { client, leaderClient, requests } = identity(guard)
  await client.get(core.pod, key)
  await leaderClient.get(core.pod, key)
  t.strictSame(
    requests.map((request) => request.guard),
    [undefined, guard],
  )
  t.match(requests, [{ userAgent: /^shop\/2 / }, { userAgent: /^shop\/2 / }])
})

t.test('without leader election, both are the same client', async (t) => {
  const { client, leaderClient } = identity(undefined)
  t.equal(leaderClient, client)
})
