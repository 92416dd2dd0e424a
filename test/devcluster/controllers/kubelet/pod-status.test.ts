/** Tests of the status that the simulated kubelet writes into Pods, and of the status of terminating namespaces. */
import { createHash } from 'node:crypto'
import t from 'tap'
import type { Condition } from '../../../../src/api/conditions.ts'
import { resourceType } from '../../../../src/api/group-version-kind.ts'
import { namespaceConditions } from '../../../../src/devcluster/controllers/namespace-conditions.ts'
import { runningStatus } from '../../../../src/devcluster/controllers/kubelet/pod-status.ts'
import type { ReadonlyPod } from '../../../../src/devcluster/controllers/scheduler/place-pod.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const time = '2026-01-01T00:00:00Z'
const before = '2025-01-01T00:00:00Z'
const place = { hostIP: '10.0.0.1', podIP: '10.244.0.2', now }
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const pod = (spec: object, status: object = {}): ReadonlyPod =>
  ({ metadata: { name: 'p', uid: 'u', generation: 3 }, spec, status }) as unknown as ReadonlyPod
const container = (name: string, image: string, restarts = 0, startedAt = time): object => ({
  name,
  image,
  imageID: `${image.replace(/:[^/]*$/, '')}@sha256:${digest(image)}`,
  containerID: `simulated://${digest(`u/${name}/${restarts}`)}`,
  ready: true,
  started: true,
  restartCount: restarts,
  lastState: {},
  state: { running: { startedAt } },
})
const conditions = (since = time): object[] =>
  ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: since,
  }))

t.test('the status of a Pod reports all of its containers as running', (t) => {
  const initID = `simulated://${digest('u/init/0')}`
  t.strictSame(
    runningStatus(pod({ containers: [{ name: 'a', image: 'x:1' }], initContainers: [{ name: 'init', image: 'reg:5000/y:2' }] }), place),
    {
      phase: 'Running',
      observedGeneration: 3,
      conditions: conditions(),
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.244.0.2',
      podIPs: [{ ip: '10.244.0.2' }],
      startTime: time,
      initContainerStatuses: [
        {
          name: 'init',
          image: 'reg:5000/y:2',
          imageID: `reg:5000/y@sha256:${digest('reg:5000/y:2')}`,
          containerID: initID,
          ready: true,
          started: false,
          restartCount: 0,
          lastState: {},
          state: { terminated: { containerID: initID, exitCode: 0, reason: 'Completed', startedAt: time, finishedAt: time } },
        },
      ],
      containerStatuses: [container('a', 'x:1')],
    },
  )
  t.match(runningStatus(pod({ containers: [{ name: 'a' }], hostNetwork: true }), place), {
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }],
    hostIP: '10.0.0.1',
    containerStatuses: [{ image: '', imageID: `@sha256:${digest('')}` }],
  })
  t.end()
})

t.test('a running container is kept, and one with a changed image is restarted', (t) => {
  const running = (name: string, image: string, restarts = 1): object => container(name, image, restarts, before)
  const status = {
    phase: 'Running',
    startTime: before,
    conditions: conditions(before),
    containerStatuses: [running('a', 'x:1'), running('b', 'y:1')],
  }
  const spec = (...images: string[]) => ({ containers: images.map((image, index) => ({ name: 'ab'[index], image })) })
  t.equal(runningStatus(pod(spec('x:1', 'y:1'), status), place), undefined)
  t.match(runningStatus(pod(spec('x:1', 'y:2'), status), place), {
    startTime: before,
    conditions: conditions(before),
    containerStatuses: [running('a', 'x:1'), container('b', 'y:2', 2)],
  })
  t.match(
    runningStatus(pod(spec('x:1'), status), place),
    { containerStatuses: [running('a', 'x:1')] },
    'the status of a removed container is dropped',
  )
  t.match(runningStatus(pod(spec('x:1', 'y:1'), { ...status, phase: 'Pending' }), place), { phase: 'Running' })
  const waiting = { name: 'a', image: 'x:1', restartCount: 4, state: { waiting: {} } }
  t.match(runningStatus(pod(spec('x:1'), { phase: 'Pending', containerStatuses: [waiting] }), place), {
    containerStatuses: [container('a', 'x:1', 4)],
  })
  const unscheduled = [{ type: 'PodScheduled', status: 'False', lastTransitionTime: before }]
  t.match(runningStatus(pod(spec('x:1'), { conditions: unscheduled }), place), { conditions: conditions() })
  t.end()
})

const fine: [type: string, reason: string, message: string][] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  ['NamespaceDeletionContentFailure', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
]
const fineConditions = fine.map(([type, reason, message]) => ({ type, status: 'False', lastTransitionTime: time, reason, message }))
const foos = resourceType({ group: 'g.io', version: 'v1', kind: 'Foo', plural: 'foos' })
const pods = resourceType({ group: '', version: 'v1', kind: 'Pod', plural: 'pods' })

t.test('the conditions of an empty namespace report no remaining content', (t) => {
  t.strictSame(
    namespaceConditions(undefined, [], now).map((condition) => ({ ...condition })),
    fineConditions,
  )
  t.end()
})

t.test('the conditions of a namespace report remaining resources and their finalizers', (t) => {
  const found = namespaceConditions(
    undefined,
    [
      { type: pods, finalizers: [[], ['x.io/b', 'x.io/a']] },
      { type: foos, finalizers: [['x.io/b']] },
    ],
    now,
  )
  t.strictSame(found.slice(0, 3), fineConditions.slice(0, 3))
  t.strictSame(found.slice(3), [
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      lastTransitionTime: time,
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: foos.g.io has 1 resource instances, pods. has 2 resource instances',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      lastTransitionTime: time,
      reason: 'SomeFinalizersRemain',
      message: 'Some content in the namespace has finalizers remaining: x.io/a in 1 resource instances, x.io/b in 2 resource instances',
    },
  ])
  const shuffled = [...found].reverse() as Condition[]
  t.strictSame(
    namespaceConditions(shuffled, [{ type: pods, finalizers: [[]] }], now + 1000).map(({ type, status, lastTransitionTime }) => [
      type,
      status,
      lastTransitionTime,
    ]),
    [
      ...fine.slice(0, 3).map(([type]) => [type, 'False', time]),
      ['NamespaceContentRemaining', 'True', time],
      ['NamespaceFinalizersRemaining', 'False', '2026-01-01T00:00:01Z'],
    ],
  )
  t.end()
})
