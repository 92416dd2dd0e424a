import t from 'tap'
import type { ClusterState } from '../../../../src/devcluster/controllers/scheduler/cluster-state.ts'
import type { ReadonlyNode, ReadonlyPod } from '../../../../src/devcluster/controllers/api-types.ts'
import { placePod } from '../../../../src/devcluster/controllers/scheduler/place-pod.ts'
import { requestsOf } from '../../../../src/devcluster/controllers/scheduler/resources.ts'

function node(
  name: string,
  more: { labels?: Record<string, string>; spec?: object; allocatable?: Record<string, string> } = {},
): ReadonlyNode {
  const { labels = {}, spec = {}, allocatable = { pods: '110' } } = more
  return { metadata: { name, labels }, spec, status: { allocatable } } as unknown as ReadonlyNode
}
function pod(spec: object, metadata: object = {}): ReadonlyPod {
  return { metadata: { name: 'p', namespace: 'ns', ...metadata }, spec: { containers: [], ...spec } } as unknown as ReadonlyPod
}
/** Returns the state of a cluster, with the Pods that run on each node. */
function state(nodes: readonly ReadonlyNode[], pods: Readonly<Record<string, readonly ReadonlyPod[]>> = {}): ClusterState {
  const namespace = (name: string) => ({ metadata: { name, labels: { team: name } } }) as unknown as ReturnType<ClusterState['namespace']>
  return { nodes, podsOn: (name) => pods[name] ?? [], namespace }
}
const place = (spec: object, ...nodes: ReadonlyNode[]): unknown => placePod(pod(spec), state(nodes))
const nowhere = (reason: string): object => ({
  problem: `0/1 nodes are available: 1 ${reason}. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`,
})
const mismatch = nowhere("node(s) didn't match Pod's node affinity/selector")

t.test('a node must match the node selector', async (t) => {
  t.strictSame(place({}, node('a')), { node: 'a' })
  t.strictSame(place({ nodeSelector: { project: 'test' } }, node('a', { labels: { project: 'test' } })), { node: 'a' })
  t.strictSame(place({ nodeSelector: { project: 'other' } }, node('a', { labels: { project: 'test' } })), mismatch)
  t.strictSame(place({}), { problem: 'no nodes available to schedule pods' })
})

t.test('a node must match the required node affinity', async (t) => {
  const affinity = (expression: object): object => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
    },
  })
  const labelled = node('a', { labels: { zone: 'x', cores: '8' } })
  t.strictSame(place(affinity({ key: 'zone', operator: 'In', values: ['x', 'y'] }), labelled), { node: 'a' })
  t.strictSame(place(affinity({ key: 'zone', operator: 'DoesNotExist' }), labelled), mismatch)
  t.strictSame(place(affinity({ key: 'cores', operator: 'Gt', values: ['4'] }), labelled), { node: 'a' })
  t.strictSame(place(affinity({ key: 'cores', operator: 'Lt', values: ['4'] }), labelled), mismatch)
  const memory = affinity({ key: 'memory', operator: 'Gt', values: ['4'] })
  t.strictSame(place(memory, node('a', { labels: { memory: '8Gi' } })), mismatch, 'a quantity is not an integer')
  const ten = node('a', { labels: { cores: '10' } })
  for (const [operator, value, fits] of [
    ['Gt', '9', true],
    ['Gt', '10', false],
    ['Lt', '10', false],
    ['Lt', '11', true],
  ] as const)
    t.strictSame(place(affinity({ key: 'cores', operator, values: [value] }), ten), fits ? { node: 'a' } : mismatch, `${operator} ${value}`)
  const large = node('a', { labels: { cores: '9007199254740993' } })
  for (const [operator, value, fits] of [
    ['Gt', '9007199254740992', true],
    ['Lt', '9007199254740994', true],
    ['Lt', '+9223372036854775807', true],
    ['Gt', '-9223372036854775808', true],
    // Go's ParseInt reports an error for an integer that does not fit into 64 bits.
    ['Lt', '9223372036854775808', false],
    ['Gt', '-9223372036854775809', false],
    ['Lt', '9'.repeat(100_000), false],
    ['Gt', '0'.repeat(30), true],
  ] as const)
    t.strictSame(
      place(affinity({ key: 'cores', operator, values: [value] }), large),
      fits ? { node: 'a' } : mismatch,
      `${operator} ${value.slice(0, 40)}`,
    )
  for (const operator of ['Gt', 'Lt'])
    t.strictSame(place(affinity({ key: 'zone', operator, values: ['0'] }), ten), mismatch, `${operator} of a missing label`)
})

t.test('a node must match one of the terms of the node affinity, and all requirements of the term', async (t) => {
  const affinity = (...nodeSelectorTerms: object[]): object => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  })
  const zone = { key: 'zone', operator: 'In', values: ['x'] }
  const disk = { key: 'disk', operator: 'Exists' }
  const named = (name: string): object => ({ key: 'metadata.name', operator: 'In', values: [name] })
  const labelled = node('a', { labels: { zone: 'x' } })
  const cases: readonly [terms: object[], fits: boolean][] = [
    [[{ matchExpressions: [disk] }, { matchExpressions: [zone] }], true],
    [[{ matchExpressions: [disk, zone] }], false],
    [[{}], false],
    [[{}, { matchExpressions: [zone] }], true],
    [[{ matchFields: [named('a')] }], true],
    [[{ matchFields: [named('b')] }], false],
    [[{ matchExpressions: [zone], matchFields: [named('b')] }], false],
    [[{ matchExpressions: [disk], matchFields: [named('a')] }], false],
    [[{ matchExpressions: [zone], matchFields: [named('a')] }], true],
    [[{ matchExpressions: [named('a')] }], false],
  ]
  for (const [terms, fits] of cases)
    t.strictSame(place(affinity(...terms), labelled), fits ? { node: 'a' } : mismatch, JSON.stringify(terms))
  t.strictSame(place({ nodeSelector: { zone: 'y' }, ...affinity({ matchExpressions: [zone] }) }, labelled), mismatch)
})

t.test('the problem counts the nodes of each reason', async (t) => {
  const cordoned = { spec: { unschedulable: true } }
  t.strictSame(place({ nodeSelector: { a: 'b' } }, node('a', cordoned), node('b'), node('c', cordoned)), {
    problem:
      "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) were unschedulable. " +
      'no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  })
  t.strictSame(place({}, node('a', cordoned), node('b')), { node: 'b' })
})

t.test('a node with a taint requires a toleration', async (t) => {
  const tainted = node('a', { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } })
  t.strictSame(place({}, tainted), nowhere('node(s) had untolerated taint(s)'))
  t.strictSame(place({ tolerations: [{ key: 'k', value: 'v' }] }, tainted), { node: 'a' })
  t.strictSame(place({ tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }] }, tainted), { node: 'a' })
  t.strictSame(place({ tolerations: [{ operator: 'Exists' }] }, tainted), { node: 'a' })
  t.strictSame(place({ tolerations: [{ key: 'k', value: 'w' }] }, tainted), nowhere('node(s) had untolerated taint(s)'))
  t.strictSame(
    place({ tolerations: [{ key: 'x', operator: 'Exists' }] }, tainted),
    nowhere('node(s) had untolerated taint(s)'),
    'a toleration of another key',
  )
  t.strictSame(
    place({ tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }] }, tainted),
    nowhere('node(s) had untolerated taint(s)'),
    'a toleration of another effect',
  )
  t.strictSame(place({}, node('a', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } })), { node: 'a' })
  const two = node('a', {
    spec: {
      taints: [
        { key: 'k', effect: 'NoSchedule' },
        { key: 'l', effect: 'NoExecute' },
      ],
    },
  })
  t.strictSame(place({ tolerations: [{ key: 'k' }] }, two), nowhere('node(s) had untolerated taint(s)'), 'each taint')
  t.strictSame(place({ tolerations: [{ key: 'k', value: 'v' }] }, two), nowhere('node(s) had untolerated taint(s)'), 'an empty value')
  t.strictSame(
    place(
      {
        tolerations: [
          { key: 'l', operator: 'Exists' },
          { key: 'k', operator: 'Equal' },
        ],
      },
      two,
    ),
    { node: 'a' },
  )
})

t.test('a cordoned node gets only Pods that tolerate it', (t) => {
  const cordoned = node('a', { spec: { unschedulable: true } })
  t.strictSame(place({}, cordoned), nowhere('node(s) were unschedulable'))
  const toleration = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }
  t.strictSame(place({ tolerations: [toleration] }, cordoned), { node: 'a' })
  t.end()
})

t.test('the node with the best score is preferred', (t) => {
  const busy = { a: [pod({}), pod({})], b: [pod({})], c: [pod({})] }
  t.strictSame(placePod(pod({}), state([node('a'), node('c'), node('b')], busy)), { node: 'b' }, 'the fewest Pods')
  const tainted = node('d', { spec: { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] } })
  t.strictSame(placePod(pod({}), state([tainted, node('a')], busy)), { node: 'a' }, 'no taint')
  const preference = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['x'] }] }
  const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] }
  const preferred = node('a', { labels: { zone: 'x' } })
  t.strictSame(placePod(pod({ affinity: { nodeAffinity } }), state([node('b'), preferred], busy)), { node: 'a' }, 'node affinity')
  t.end()
})

const preempting = (reasons: string, total: number, victims: string): object => ({
  problem: `0/${total} nodes are available: ${reasons}. no new claims to deallocate, preemption: 0/${total} nodes are available: ${victims}.`,
})
const noVictims = 'No preemption victims found for incoming pod'
const requesting = (requests: Record<string, string>): object => ({ containers: [{ name: 'main', resources: { requests } }] })

t.test('a node must have the resources that a Pod requests', (t) => {
  const small = node('a', { allocatable: { cpu: '1', memory: '1Gi', pods: '2', 'example.com/gpu': '1' } })
  const on = (spec: object, ...pods: ReadonlyPod[]): unknown => placePod(pod(spec), state([small], { a: pods }))
  const fits = { node: 'a' }
  t.strictSame(on(requesting({ cpu: '1', memory: '1Gi' })), fits)
  t.strictSame(on(requesting({ cpu: '0.1' }), pod(requesting({ cpu: '900m' }))), fits)
  t.strictSame(on(requesting({ cpu: '0.2' }), pod(requesting({ cpu: '900m' }))), preempting('1 Insufficient cpu', 1, `1 ${noVictims}`))
  t.strictSame(
    on(requesting({ cpu: '2', memory: '2Gi' })),
    preempting('1 Insufficient cpu, 1 Insufficient memory', 1, '1 Preemption is not helpful for scheduling'),
  )
  t.strictSame(
    on(requesting({ 'example.com/gpu': '1' }), pod(requesting({ 'example.com/gpu': '1' }))),
    preempting('1 Insufficient example.com/gpu', 1, `1 ${noVictims}`),
  )
  t.strictSame(on({}, pod({}), pod({})), preempting('1 Too many pods', 1, `1 ${noVictims}`))
  t.strictSame(on({ ...requesting({ cpu: '2' }), preemptionPolicy: 'Never' }), {
    problem:
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
  })
  t.end()
})

t.test('a Pod requests the resources of its containers and sidecars, or those of an init container', (t) => {
  const container = (cpu: string, more: object = {}): object => ({ resources: { requests: { cpu } }, ...more })
  const cases: [spec: object, millis: number][] = [
    [{ containers: [container('1'), container('500m')] }, 1500],
    [{ containers: [container('1')], initContainers: [container('3')] }, 3000],
    [{ containers: [container('1')], initContainers: [container('1', { restartPolicy: 'Always' }), container('3')] }, 4000],
    [{ containers: [container('1')], initContainers: [container('1', { restartPolicy: 'Always' })], overhead: { cpu: '250m' } }, 2250],
    [{ containers: [container('1')], resources: { requests: { cpu: '4' } } }, 4000],
    [{ containers: [container('oops')] }, 0],
  ]
  for (const [spec, millis] of cases) t.strictSame(requestsOf(pod(spec)), { cpu: millis })
  t.end()
})

t.test('two Pods on a node cannot have the same host port', (t) => {
  const withPort = (port: object): object => ({ containers: [{ name: 'main', ports: [{ containerPort: 80, ...port }] }] })
  const used = pod(withPort({ hostPort: 8080, hostIP: '10.0.0.1' }))
  const taken = preempting("1 node(s) didn't have free ports for the requested pod ports", 1, `1 ${noVictims}`)
  const cases: [port: object, fits: boolean][] = [
    [{}, true],
    [{ hostPort: 8081 }, true],
    [{ hostPort: 8080 }, false],
    [{ hostPort: 8080, protocol: 'UDP' }, true],
    [{ hostPort: 8080, hostIP: '10.0.0.2' }, true],
    [{ hostPort: 8080, hostIP: '10.0.0.1' }, false],
  ]
  for (const [port, fits] of cases)
    t.strictSame(placePod(pod(withPort(port)), state([node('a')], { a: [used] })), fits ? { node: 'a' } : taken, JSON.stringify(port))
  t.end()
})

const zoned = (name: string, zone: string): ReadonlyNode => node(name, { labels: { zone, host: name } })
const app = (name: string, namespace = 'ns', spec: object = {}): ReadonlyPod => pod(spec, { namespace, labels: { app: name } })
const selecting = (name: string): object => ({ labelSelector: { matchLabels: { app: name } } })

t.test('a Pod is placed beside the Pods that its affinity requires', (t) => {
  const affinity = (...terms: object[]): object => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  })
  const nodes = [zoned('a', 'x'), zoned('b', 'y'), zoned('c', 'y')]
  const pods = { b: [app('db')], c: [app('cache', 'other')] }
  const none = preempting("3 node(s) didn't match pod affinity rules", 3, '3 Preemption is not helpful for scheduling')
  const byZone = { topologyKey: 'zone' }
  t.strictSame(placePod(app('web', 'ns', affinity({ ...selecting('db'), ...byZone })), state(nodes, { ...pods, c: [] })), { node: 'c' })
  t.strictSame(placePod(app('web', 'ns', affinity({ ...selecting('db'), topologyKey: 'host' })), state(nodes, pods)), { node: 'b' })
  t.strictSame(placePod(app('web', 'ns', affinity({ ...selecting('cache'), ...byZone })), state(nodes, pods)), none, 'another namespace')
  for (const term of [{ namespaces: ['other'] }, { namespaceSelector: { matchLabels: { team: 'other' } } }])
    t.strictSame(placePod(app('web', 'ns', affinity({ ...selecting('cache'), topologyKey: 'host', ...term })), state(nodes, pods)), {
      node: 'c',
    })
  t.strictSame(
    placePod(app('web', 'ns', affinity({ ...selecting('web'), ...byZone })), state(nodes, pods)),
    { node: 'a' },
    'the first of its kind',
  )
  t.strictSame(placePod(app('web', 'ns', affinity({ ...selecting('web'), topologyKey: 'rack' })), state(nodes, pods)), none)
  const both = affinity({ ...selecting('db'), ...byZone }, { ...selecting('web'), ...byZone })
  t.strictSame(placePod(app('web', 'ns', both), state(nodes, pods)), none, 'one Pod must match all terms')
  t.end()
})

t.test('a Pod is not placed beside Pods that its anti-affinity avoids, or that avoid it', (t) => {
  const avoiding = (name: string, topologyKey: string): object => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...selecting(name), topologyKey }] } },
  })
  const nodes = [zoned('a', 'x'), zoned('b', 'y'), zoned('c', 'y')]
  t.strictSame(placePod(app('web', 'ns', avoiding('web', 'host')), state(nodes, { a: [app('web')], b: [app('web')] })), { node: 'c' })
  t.strictSame(placePod(app('web', 'ns', avoiding('web', 'zone')), state(nodes, { b: [app('web')] })), { node: 'a' })
  t.strictSame(
    placePod(app('web', 'ns', avoiding('web', 'zone')), state(nodes, { a: [app('web')], b: [app('web')] })),
    preempting("3 node(s) didn't match pod anti-affinity rules", 3, `3 ${noVictims}`),
  )
  t.strictSame(
    placePod(app('web'), state([zoned('a', 'x')], { a: [app('db', 'ns', avoiding('web', 'host'))] })),
    preempting("1 node(s) didn't satisfy existing pods anti-affinity rules", 1, `1 ${noVictims}`),
  )
  t.strictSame(placePod(app('web'), state([zoned('a', 'x')], { a: [app('db', 'other', avoiding('web', 'host'))] })), { node: 'a' })
  t.end()
})

t.test('only the label selector of an affinity term counts, because the API server has added the keys of matchLabelKeys to it', (t) => {
  const term = {
    labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['old'] }] },
    matchLabelKeys: ['app'],
    topologyKey: 'host',
  }
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
  // The label of this Pod has changed after the creation of the Pod.
  const changed = app('new', 'ns', { affinity })
  const nodes = [zoned('a', 'x')]
  t.strictSame(
    placePod(changed, state(nodes, { a: [app('old')] })),
    preempting("1 node(s) didn't match pod anti-affinity rules", 1, `1 ${noVictims}`),
  )
  t.strictSame(placePod(changed, state(nodes, { a: [app('new')] })), { node: 'a' })
  t.end()
})

t.test('Pods are spread over the domains of a topology', (t) => {
  const spread = (more: object = {}): ReadonlyPod =>
    app('web', 'ns', {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', ...selecting('web'), ...more }],
    })
  const nodes = [zoned('a', 'x'), zoned('b', 'y'), zoned('c', 'y')]
  const web = app('web')
  t.strictSame(placePod(spread(), state(nodes, { b: [web] })), { node: 'a' })
  t.strictSame(placePod(spread(), state(nodes, { b: [web], a: [web, app('db')] })), { node: 'c' })
  const terminating = pod({}, { labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' })
  t.strictSame(placePod(spread(), state(nodes, { a: [terminating], b: [web] })), { node: 'a' }, 'terminating Pods do not count')
  t.strictSame(placePod(spread({ maxSkew: 2 }), state(nodes, { b: [web], a: [app('db')] })), { node: 'c' })
  const cordoned = node('a', { labels: { zone: 'x' }, spec: { unschedulable: true } })
  t.strictSame(
    placePod(spread(), state([cordoned, nodes[1]!], { b: [web] })),
    preempting(
      "1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable",
      2,
      `1 ${noVictims}, 1 Preemption is not helpful for scheduling`,
    ),
  )
  t.strictSame(placePod(spread({ whenUnsatisfiable: 'ScheduleAnyway' }), state([cordoned, nodes[1]!], { b: [web] })), { node: 'b' })
  t.strictSame(
    placePod(spread(), state([node('n')])),
    preempting(
      "1 node(s) didn't match pod topology spread constraints (missing required label)",
      1,
      '1 Preemption is not helpful for scheduling',
    ),
  )
  t.strictSame(
    placePod(spread({ minDomains: 3 }), state(nodes, { a: [web], b: [web] })),
    preempting("3 node(s) didn't match pod topology spread constraints", 3, `3 ${noVictims}`),
  )
  const tainted = node('a', { labels: { zone: 'x' }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } })
  t.strictSame(placePod(spread({ nodeTaintsPolicy: 'Honor' }), state([tainted, nodes[1]!], { b: [web] })), { node: 'b' })
  t.end()
})
