/** Tests of how controllers find the owners of an object, register nodes, and choose the types that they watch. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { resourceType } from '../../../src/api/group-version-kind.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { defaultNodes, nodeAddress, numberedNodes, registerNodes } from '../../../src/devcluster/controllers/nodes/node.ts'
import { AbsentOwners } from '../../../src/devcluster/controllers/absent-owners.ts'
import type { ReadonlyObject } from '../../../src/devcluster/controllers/api-types.ts'
import type { OwnerPlace } from '../../../src/devcluster/controllers/owners.ts'
import { findOwners, isBeingDeleted, isOrphaning, isWaitingForDependents } from '../../../src/devcluster/controllers/owners.ts'
import type { TypeSource } from '../../../src/devcluster/controllers/type-source.ts'
import { catalogTypes } from '../../../src/devcluster/controllers/type-source.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { infoOf } from '../../support/devcluster/admission.ts'

const notFound = new ApiError(failure(404, 'NotFound', 'not found'))
const foos = resourceType({ group: 'g.io', version: 'v2', kind: 'Foo', plural: 'foos' })
const nodes = resourceType({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
const source: TypeSource = {
  types: () => [foos, nodes],
  byKind: (group, kind) => [foos, nodes].find((type) => type.group === group && type.kind === kind),
  onChange: () => () => undefined,
}
const reference = (kind: string, name: string, uid = name, apiVersion = 'g.io/v1') => ({ apiVersion, kind, name, uid })
const owned = (namespace: string | undefined, ...ownerReferences: object[]): ReadonlyObject =>
  ({ metadata: { name: 'x', uid: 'x', ...(namespace === undefined ? {} : { namespace }), ownerReferences } }) as unknown as ReadonlyObject
const marked = (...finalizers: string[]) => ({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers })
const objectWith = (metadata: object): ReadonlyObject => ({ metadata }) as unknown as ReadonlyObject

t.test('owners are classified as present, missing or waiting for dependents', async (t) => {
  const asked: unknown[] = []
  const { signal } = new AbortController()
  const there: Record<string, object> = {
    solid: { uid: 'solid' },
    deleted: { uid: 'deleted', ...marked('x') },
    waiting: { uid: 'waiting', ...marked('foregroundDeletion') },
    other: { uid: 'another' },
    going: { uid: 'going' },
  }
  const graph: Record<string, object> = {
    'Foo observed': {},
    'Foo going': marked('foregroundDeletion'),
    'Foo outdated': marked('foregroundDeletion'),
  }
  const client = {
    get: (type: { plural: string }, key: { name: string }, options: object) => {
      asked.push([type.plural, key, options])
      const metadata = there[key.name]
      return metadata === undefined ? Promise.reject(notFound) : Promise.resolve({ metadata })
    },
  } as unknown as Client
  const sources = {
    client,
    source,
    isGone: (uid: string): boolean => uid === 'gone',
    absent: new AbsentOwners(),
    observed: ({ type, key }: OwnerPlace): ReadonlyObject | undefined => {
      const metadata = graph[`${type.kind} ${key.name}`]
      return metadata && objectWith(metadata)
    },
  }
  const names = ['solid', 'deleted', 'waiting', 'other', 'missing', 'going', 'outdated']
  const references = [
    reference('Foo', 'observed'),
    ...names.map((name) => reference('Foo', name)),
    reference('Bar', 'gone'),
    reference('Bar', 'served-no-more'),
    reference('Node', 'solid', 'solid', 'v1'),
  ]
  const found = await findOwners(owned('ns', ...references), sources, signal)
  const of = (list: readonly { kind: string; name: string }[]): string[] => list.map(({ kind, name }) => `${kind} ${name}`)
  t.strictSame(of(found.solid), ['Foo observed', 'Foo solid', 'Foo deleted', 'Foo going', 'Node solid'])
  t.strictSame(of(found.waiting), ['Foo waiting'])
  t.strictSame(of(found.absent), ['Foo other', 'Foo missing', 'Foo outdated', 'Bar gone'])
  t.strictSame(of(found.unknown), ['Bar served-no-more'])
  t.strictSame(asked, [...names.map((name) => ['foos', { name, namespace: 'ns' }, { signal }]), ['nodes', { name: 'solid' }, { signal }]])
  const cluster = await findOwners(owned(undefined, reference('Foo', 'gone'), reference('Node', 'solid', 'solid', 'v1')), sources, signal)
  t.strictSame(
    [of(cluster.unknown), of(cluster.solid)],
    [['Foo gone'], ['Node solid']],
    'a namespaced owner of a cluster-scoped object cannot be found',
  )
  t.strictSame(await findOwners(objectWith({ name: 'x' }), sources, signal), {
    solid: [],
    waiting: [],
    absent: [],
    unknown: [],
    unobserved: false,
  })
  t.strictSame(
    [
      found.unobserved,
      (await findOwners(owned('ns', reference('Foo', 'observed'), reference('Foo', 'missing')), sources, signal)).unobserved,
      (await findOwners(owned('ns', reference('Foo', 'going')), sources, signal)).unobserved,
    ],
    [true, false, false],
    'only owners that exist and are not in the graph are unobserved',
  )
  asked.length = 0
  await findOwners(owned('ns', reference('Foo', 'missing'), reference('Foo', 'other')), sources, signal)
  t.strictSame(asked, [], 'absent owners are remembered')
  await findOwners(owned('ns', reference('Foo', 'missing', 'another')), sources, signal)
  await findOwners(owned('elsewhere', reference('Foo', 'missing')), sources, signal)
  t.equal(asked.length, 2, 'an owner with another UID or in another namespace is another owner')
  const failing = { get: () => Promise.reject(new Error('boom')) } as unknown as Client
  await t.rejects(findOwners(owned('ns', reference('Foo', 'a')), { ...sources, client: failing }, signal), { message: 'boom' })
})

t.test('the deletion state of an object follows from its deletionTimestamp and finalizers', (t) => {
  const states = [{}, { finalizers: ['orphan', 'foregroundDeletion'] }, marked(), marked('orphan'), marked('foregroundDeletion')]
  const statesOf = (is: (object: ReadonlyObject) => boolean): boolean[] => states.map((metadata) => is(objectWith(metadata)))
  t.strictSame(statesOf(isBeingDeleted), [false, false, true, true, true])
  t.strictSame(statesOf(isOrphaning), [false, false, false, true, false])
  t.strictSame(statesOf(isWaitingForDependents), [false, false, false, false, true])
  t.end()
})

t.test('each type is watched in its preferred version', (t) => {
  const row = (version: string, more = {}) => infoOf('g.io', version, 'Foo', 'foos', { storageKey: 'g.io/foos', ...more })
  const catalog = new Catalog([row('v1'), row('v2'), infoOf('', 'v1', 'Node', 'nodes', { namespaced: false })])
  catalog.add(infoOf('', 'v1', 'Review', 'reviews', { verbs: ['create'] }))
  catalog.add(infoOf('', 'v1', 'Sight', 'sights', { verbs: ['list', 'watch'] }))
  catalog.add(infoOf('', 'v1', 'Trash', 'trashes', { verbs: ['list', 'delete'] }))
  const types = catalogTypes(catalog)
  const names = (): string[] => types.types().map(({ group, version, plural, namespaced }) => `${plural}.${version}.${group} ${namespaced}`)
  t.strictSame(names(), ['nodes.v1. false', 'foos.v2.g.io true'])
  t.equal(types.types(), types.types())
  t.match(types.byKind('g.io', 'Foo'), { plural: 'foos', version: 'v2' })
  t.equal(types.byKind('', 'Foo'), undefined)
  t.equal(types.byKind('g.io', 'Node'), undefined)
  let changes = 0
  const leave = types.onChange(() => (changes += 1))
  catalog.add(infoOf('a.io', 'v1', 'Bar', 'bars'))
  t.equal(changes, 1)
  t.match(types.byKind('a.io', 'Bar'), { plural: 'bars' })
  leave()
  catalog.remove('a.io', 'bars')
  t.equal(changes, 1)
  t.equal(types.byKind('a.io', 'Bar'), undefined)
  t.end()
})

t.test('nodes are registered as ready, and existing ones are updated', async (t) => {
  const written: [verb: string, body: unknown][] = []
  const client = {
    create: (_type: unknown, object: { metadata: { name: string } }) => {
      if (object.metadata.name === 'bad') return Promise.reject(new Error('boom'))
      written.push(['create', object])
      return Promise.resolve(object)
    },
    patchStatus: (_type: unknown, key: { name: string }, patch: object) => {
      if (key.name !== 'old') return Promise.reject(new ApiError(failure(404, 'NotFound', 'not there')))
      written.push(['patchStatus', { key, ...patch }])
      return Promise.resolve({})
    },
  } as unknown as Client
  const options = { now: Date.parse('2026-01-01T00:00:00Z'), version: 'v1.2.3' }
  await registerNodes(client, [{ name: 'old' }, { name: 'new', labels: { zone: 'a', 'kubernetes.io/os': 'other' } }], options)
  const time = '2026-01-01T00:00:00Z'
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const condition = (type: string, status: string, reason: string, message: string): JsonObject => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  })
  const resources = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }
  const status = (name: string, address: string) => ({
    capacity: resources,
    allocatable: resources,
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    nodeInfo: {
      architecture: arch,
      operatingSystem: 'linux',
      osImage: 'Proreus (simulated)',
      kernelVersion: 'simulated',
      containerRuntimeVersion: 'simulated://1',
      kubeletVersion: 'v1.2.3',
      kubeProxyVersion: 'v1.2.3',
      bootID: '',
      machineID: '',
      systemUUID: '',
    },
  })
  t.strictSame(Object.fromEntries(written), {
    create: {
      metadata: {
        name: 'new',
        labels: {
          'kubernetes.io/arch': arch,
          'kubernetes.io/hostname': 'new',
          'kubernetes.io/os': 'other',
          'beta.kubernetes.io/arch': arch,
          'beta.kubernetes.io/os': 'linux',
          zone: 'a',
        },
      },
      spec: {},
      status: status('new', '10.0.0.2'),
    },
    patchStatus: { key: { name: 'old' }, status: status('old', '10.0.0.1') },
  })
  await t.rejects(registerNodes(client, [{ name: 'bad' }], options), { message: 'boom' })
  t.strictSame([nodeAddress(0), nodeAddress(254), nodeAddress(255), nodeAddress(513)], ['10.0.0.1', '10.0.0.255', '10.0.1.0', '10.0.2.2'])
  const region = { project: 'test', 'topology.kubernetes.io/region': 'local' }
  const zoned = (zone: string): object => ({ ...region, 'topology.kubernetes.io/zone': zone })
  t.strictSame(defaultNodes, [{ name: 'proreus-node', labels: { project: 'test' } }])
  t.strictSame(numberedNodes(4), [
    { name: 'proreus-node', labels: zoned('zone-a') },
    { name: 'proreus-node-2', labels: zoned('zone-b') },
    { name: 'proreus-node-3', labels: zoned('zone-c') },
    { name: 'proreus-node-4', labels: zoned('zone-a') },
  ])
})
