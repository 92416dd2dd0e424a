import t from 'tap'
import type { ReadonlyService } from '../../../../src/devcluster/controllers/api-types.ts'
import type { Endpoint, EndpointPort } from '../../../../src/devcluster/controllers/endpoints/endpoint.ts'
import type { Slice, SliceChanges, SliceInput } from '../../../../src/devcluster/controllers/endpoints/plan-slices.ts'
import { planSlices } from '../../../../src/devcluster/controllers/endpoints/plan-slices.ts'

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'a', uid: 'service', labels: { tier: 'front' } },
  spec: { clusterIP: '10.96.0.9' },
} as unknown as ReadonlyService
const http: readonly EndpointPort[] = [{ name: 'http', port: 80, protocol: 'TCP' }]

function endpoint(number: number, ready = true): Endpoint {
  const name = `pod-${String(number)}`
  return {
    addresses: [`10.0.${number >> 8}.${number & 255}`],
    conditions: { ready, serving: ready, terminating: false },
    targetRef: { kind: 'Pod', namespace: 'a', name, uid: name },
  }
}

const endpoints = (from: number, to: number): Endpoint[] => Array.from({ length: to - from }, (_, index) => endpoint(from + index))

const plan = (existing: readonly Slice[], desired: readonly Endpoint[], ports = http, of = service): SliceChanges =>
  planSlices(of, 'IPv4', existing, desired.length === 0 ? [] : [{ ports, endpoints: desired }])

/** Returns the EndpointSlices as the API server stores them. `names` are the names of the created EndpointSlices. */
function stored({ create, update }: SliceChanges, ...names: readonly string[]): Slice[] {
  const named = create.map((slice, index): SliceInput => ({ ...slice, metadata: { ...slice.metadata, name: names[index]! } }))
  return [...update, ...named] as unknown as Slice[]
}

const sizes = (slices: readonly SliceInput[]): number[] => slices.map((slice) => slice.endpoints.length)

/** Returns the numbers of endpoints in the created and updated EndpointSlices, and the names of the removed EndpointSlices. */
function summary({ create, update, remove }: SliceChanges) {
  return {
    create: sizes(create),
    update: update.map((slice) => [slice.metadata.name, slice.endpoints.length]),
    remove: remove.map(({ metadata }) => metadata.name),
  }
}

const nothing = { create: [], update: [], remove: [] }

t.test('a Service without endpoints has one EndpointSlice without endpoints', (t) => {
  const changes = plan([], [])
  t.strictSame(summary(changes), { ...nothing, create: [0] })
  t.match(changes.create[0], {
    metadata: { generateName: 'web-', namespace: 'a', labels: { tier: 'front' } },
    addressType: 'IPv4',
  })
  t.strictSame(changes.create[0]?.ports, [])
  const [empty] = stored(changes, 'one')
  t.strictSame(summary(plan([empty!], [])), nothing, 'it is kept')
  t.strictSame(summary(plan([empty!], [endpoint(1)])), { ...nothing, update: [['one', 1]] }, 'it becomes the first EndpointSlice')
  t.end()
})

t.test('an EndpointSlice has up to 100 endpoints', (t) => {
  const changes = plan([], endpoints(0, 250))
  t.strictSame(summary(changes), { ...nothing, create: [100, 100, 50] })
  const slices = stored(changes, 'a', 'b', 'c')
  t.strictSame(summary(plan(slices, endpoints(0, 250))), nothing, 'they do not change')
  t.strictSame(summary(plan(slices, endpoints(0, 260))), { ...nothing, update: [['c', 60]] }, 'new endpoints fill an EndpointSlice')
  t.strictSame(summary(plan(slices, endpoints(0, 310))), { ...nothing, create: [60] }, 'one EndpointSlice takes all new endpoints')
  t.strictSame(summary(plan(slices, endpoints(10, 260))), { ...nothing, update: [['a', 100]] }, 'a changed EndpointSlice is filled first')
  t.strictSame(summary(plan(slices, endpoints(0, 200))), { ...nothing, remove: ['c'] })
  t.end()
})

t.test('an endpoint stays in its EndpointSlice when its conditions change', (t) => {
  const slices = stored(plan([], endpoints(0, 3)), 'a')
  const changes = plan(slices, [endpoint(2), endpoint(1, false), endpoint(0)])
  t.strictSame(summary(changes), { ...nothing, update: [['a', 3]] })
  t.strictSame(changes.update[0]?.endpoints, [endpoint(0), endpoint(1, false), endpoint(2)])
  t.end()
})

t.test('other ports replace the content of an EndpointSlice', (t) => {
  const slices = stored(plan([], endpoints(0, 2)), 'a')
  const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }]
  const changes = plan(slices, endpoints(0, 2), ports)
  t.strictSame(summary(changes), { ...nothing, update: [['a', 2]] })
  t.strictSame(changes.update[0]?.ports, ports)
  t.strictSame(summary(plan(slices, [])), { ...nothing, update: [['a', 0]] }, 'the last EndpointSlice becomes empty')
  t.end()
})

t.test('labels of the Service are copied, and an EndpointSlice of another Service with this name is deleted', (t) => {
  const slices = stored(plan([], endpoints(0, 1)), 'a')
  const labelled = { ...service, metadata: { ...service.metadata, labels: { tier: 'back', 'kubernetes.io/service-name': 'x' } } }
  const changes = plan(slices, endpoints(0, 1), http, labelled)
  t.strictSame(summary(changes), { ...nothing, update: [['a', 1]] })
  t.match(changes.update[0]?.metadata.labels, { tier: 'back', 'kubernetes.io/service-name': 'web' })
  const recreated = { ...service, metadata: { ...service.metadata, uid: 'other' } }
  t.strictSame(summary(plan(slices, endpoints(0, 1), http, recreated)), { ...nothing, create: [1], remove: ['a'] })
  t.end()
})
