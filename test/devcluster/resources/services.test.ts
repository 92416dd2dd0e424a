import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { services } from '../../../src/devcluster/resources/builtin/services.ts'
import type { ClusterView } from '../../../src/devcluster/rest/strategy.ts'
import { at, listAt } from '../../../src/devcluster/apimachinery/unstructured.ts'
import { clusterWith } from '../../support/devcluster/cluster-view.ts'
import { fixture } from '../../support/devcluster/registry.ts'

const portsOf = (service: JsonObject): unknown[] => listAt(service, 'spec', 'ports').map((port) => at(port, 'nodePort'))

t.test('node ports are in the default range and unique in a Service', async (t) => {
  const f = await fixture()
  const allocate = (uid: string, ports: readonly JsonObject[], more: JsonObject = {}, others: readonly JsonObject[] = []): JsonObject =>
    services.strategy.prepareForCreate!(
      { metadata: { uid }, spec: { type: 'NodePort', ports: [...ports], ...more } },
      f.context,
      clusterWith(others),
    )
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
  const full = allocate('u', all)
  t.equal(new Set(portsOf(full)).size, 2_768, 'every port of the range can be allocated')
  t.throws(() => allocate('v', [{}], {}, [full]), { message: /failed to allocate a nodePort: range is full/ })
  const one = allocate('u', [{}])
  const renamed = { ...one, metadata: { uid: 'v' } }
  t.not(portsOf(allocate('u', [{}], {}, [renamed]))[0], portsOf(one)[0], 'a port of another Service is not allocated')
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
  const stranger = { ...allocate('u', [{}], local), metadata: { uid: 'v' } }
  const ports = (service: JsonObject): unknown[] => [at(service, 'spec', 'healthCheckNodePort'), ...portsOf(service)]
  t.equal(new Set([...ports(stranger), ...ports(allocate('u', [{}], local, [stranger]))]).size, 4, 'also no healthCheckNodePort')
  const unread = { list: () => t.fail('the other Services are read') } as unknown as ClusterView
  const update = services.strategy.prepareForUpdate!
  t.strictSame(portsOf(update(one, one, '', 0, unread)), portsOf(one), 'an update that needs no port reads no other Service')
})

t.test('the cluster IP of a Service is deterministic, and no other Service has it', async (t) => {
  const f = await fixture()
  const others: JsonObject[] = []
  const create = (uid: string): JsonObject =>
    services.strategy.prepareForCreate!({ metadata: { uid }, spec: { type: 'ClusterIP' } }, f.context, clusterWith(others))
  const addressOf = (service: JsonObject): unknown => at(service, 'spec', 'clusterIP')
  t.equal(addressOf(create('a')), addressOf(create('a')))
  for (let index = 0; index < 1_000; index += 1) others.push(create(`uid-${index}`))
  const addresses = others.map((service) => String(addressOf(service)))
  t.equal(new Set(addresses).size, 1_000)
  for (const address of addresses) {
    const [, third, fourth] = /^10\.96\.(\d+)\.(\d+)$/.exec(address) ?? []
    if (!(Number(third) <= 255 && Number(fourth) >= 1 && Number(fourth) <= 254)) t.fail(address)
  }
})
