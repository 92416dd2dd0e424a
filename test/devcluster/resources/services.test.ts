import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { services } from '../../../src/devcluster/resources/builtin/services.ts'
import { at, listAt } from '../../../src/devcluster/apimachinery/unstructured.ts'
import { fixture } from '../../support/devcluster/registry.ts'

const portsOf = (service: JsonObject): unknown[] => listAt(service, 'spec', 'ports').map((port) => at(port, 'nodePort'))

t.test('node ports are in the default range and unique in a Service', async (t) => {
  const f = await fixture()
  const allocate = (uid: string, ports: readonly JsonObject[], more: JsonObject = {}): JsonObject =>
    services.strategy.prepareForCreate!({ metadata: { uid }, spec: { type: 'NodePort', ports: [...ports], ...more } }, f.context)
  const uids = Array.from({ length: 300 }, (_, index) => `uid-${index}`)
  for (const uid of uids) {
    const many = portsOf(
      allocate(
        uid,
        Array.from({ length: 20 }, () => ({})),
      ),
    ) as number[]
    t.equal(new Set(many).size, 20)
    t.ok(
      many.every((port) => port >= 30_000 && port <= 32_767),
      String(many),
    )
  }
  const [first] = portsOf(allocate('u', [{}])) as [number]
  const [other, asked] = portsOf(allocate('u', [{}, { nodePort: first }])) as [number, number]
  t.equal(asked, first, 'a requested port is kept')
  t.not(other, first)
  const checked = allocate('u', [{}], { type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
  t.not(at(checked, 'spec', 'healthCheckNodePort'), portsOf(checked)[0], 'healthCheckNodePort is a different port')
  const all = Array.from({ length: 2_768 }, () => ({}))
  t.equal(new Set(portsOf(allocate('u', all))).size, 2_768, 'every port of the range can be allocated')
})

t.test('the cluster IP of a Service is deterministic and differs from others', async (t) => {
  const f = await fixture()
  const addressOf = (uid: string): unknown =>
    at(services.strategy.prepareForCreate!({ metadata: { uid }, spec: { type: 'ClusterIP' } }, f.context), 'spec', 'clusterIP')
  t.equal(addressOf('a'), addressOf('a'))
  const addresses = Array.from({ length: 1_000 }, (_, index) => String(addressOf(`uid-${index}`)))
  t.ok(new Set(addresses).size > 900)
  for (const address of addresses) {
    const [, third, fourth] = /^10\.96\.(\d+)\.(\d+)$/.exec(address) ?? []
    if (!(Number(third) <= 255 && Number(fourth) >= 1 && Number(fourth) <= 254)) t.fail(address)
  }
})
