/** Tests of the life of simulated Pods: the states of their containers, the conditions and the Events at each time. */
import t from 'tap'
import type { ReadonlyPod } from '../../../../src/devcluster/controllers/api-types.ts'
import { conditionsOf, SimulatedPodWorld as World, summaries } from '../../../support/devcluster/simulated-pod.ts'

t.test('a Pod without annotations runs and is ready at once', async (t) => {
  const world = new World({})
  const status = world.at(0)
  t.strictSame(conditionsOf(status), [
    'PodReadyToStartContainers=True',
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ])
  t.match(status, {
    phase: 'Running',
    hostIP: '10.0.0.1',
    podIP: '10.244.0.2',
    startTime: '2026-01-01T00:00:00Z',
    containerStatuses: [
      { ready: true, started: true, restartCount: 0, imageID: /^x@sha256:/, state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
    ],
  })
  t.strictSame(world.events, [
    'Normal Pulling spec.containers{main}: Pulling image "x:1"',
    'Normal Pulled spec.containers{main}: Successfully pulled image "x:1" in 0s (0s including waiting). Image size: 0 bytes.',
    'Normal Created spec.containers{main}: Container created',
    'Normal Started spec.containers{main}: Container started',
  ])
  t.equal(world.nextSecond, Number.POSITIVE_INFINITY)
})

t.test('an image is pulled once on a node, unless its policy is Always', async (t) => {
  for (const [imagePullPolicy, second] of [
    ['IfNotPresent', 'Pulled'],
    ['Always', 'Pulling'],
    ['Never', 'Pulled'],
  ] as const) {
    const world = new World({ containers: [{ name: 'main', image: 'x:1', imagePullPolicy }] })
    world.images.add('x:1')
    world.at(0)
    t.match(world.events[0], new RegExp(`^Normal ${second} `), imagePullPolicy)
  }
})

t.test('delays of options and annotations hold for the steps of a container', async (t) => {
  const delays = { pullMs: 3000, startMs: 2000, readyMs: 5000 }
  const expected = [
    '0 Pending main=ContainerCreating',
    '4 Pending main=ContainerCreating',
    '5 Running main=running',
    '9 Running main=running',
    '10 Running main=running+',
  ]
  t.strictSame(summaries(new World({}, {}, delays), 0, 4, 5, 9, 10), expected)
  const prefix = 'simulate.proreus.dev/'
  const annotations = { [`${prefix}pull-delay`]: '3s', [`${prefix}start-delay`]: '2s', [`${prefix}ready-delay`]: '5s' }
  const world = new World({}, annotations, { pullMs: 1, startMs: 1, readyMs: 1 })
  t.strictSame(summaries(world, 0, 4, 5, 9, 10), expected)
  t.strictSame(
    world.events.filter((event) => event.includes('Unhealthy')),
    ['Warning Unhealthy spec.containers{main}: Readiness probe failed: simulated'],
  )
})

t.test('a crashing container is restarted with the back-off of the kubelet', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/exit-code': '3' })
  t.strictSame(summaries(world, 0, 1, 2, 3, 4, 12, 13, 14, 15, 34, 35), [
    '0 Running main=running+',
    '1 Running main=Error',
    '2 Running main=running+/1',
    '3 Running main=Error/1',
    '4 Running main=CrashLoopBackOff/1',
    '12 Running main=CrashLoopBackOff/1',
    '13 Running main=running+/2',
    '14 Running main=Error/2',
    '15 Running main=CrashLoopBackOff/2',
    '34 Running main=running+/3',
    '35 Running main=Error/3',
  ])
  const waiting = world.at(36)
  t.match(waiting.containerStatuses[0], {
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container=main pod=web_ns(u)' } },
    lastState: { terminated: { exitCode: 3, reason: 'Error', startedAt: '2026-01-01T00:00:34Z', finishedAt: '2026-01-01T00:00:35Z' } },
  })
  t.strictSame(conditionsOf(waiting), [
    'PodReadyToStartContainers=True',
    'Initialized=True',
    'Ready=False ContainersNotReady containers with unready status: [main]',
    'ContainersReady=False ContainersNotReady containers with unready status: [main]',
    'PodScheduled=True',
  ])
  t.equal(world.events.at(-1), 'Warning BackOff spec.containers{main}: Back-off restarting failed container main in pod web_ns(u)')
  const delays: string[] = []
  while (delays.length < 6) {
    const message = world.at(world.nextSecond).containerStatuses[0]?.state['waiting']?.message
    if (message !== undefined) delays.push(message.split(' ')[1]!)
  }
  t.strictSame(delays, ['1m20s', '2m40s', '5m0s', '5m0s', '5m0s', '5m0s'])
})

t.test('a container that has run for more than ten minutes is restarted with the first delay', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/exit-code': '1', 'simulate.proreus.dev/run-for': '601s' })
  t.strictSame(summaries(world, 601, 602, 1203, 1204), [
    '601 Running main=Error',
    '602 Running main=running+/1',
    '1203 Running main=Error/1',
    '1204 Running main=running+/2',
  ])
})

t.test('the state at a time does not depend on how often the Pod is looked at', async (t) => {
  const annotations = { 'simulate.proreus.dev/exit-code': '1', 'simulate.proreus.dev/pull-delay': '700ms' }
  const [often, once] = [new World({}, annotations), new World({}, annotations)]
  for (let second = 0; second < 1000; second += 1) often.at(second)
  t.strictSame(once.summary(999), often.summary(999))
  t.strictSame(once.events, often.events)
})

t.test('a container fails as often as its annotation says', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/exit-code': '1', 'simulate.proreus.dev/failures': '1' })
  t.strictSame(summaries(world, 1, 2, 900), ['1 Running main=Error', '2 Running main=running+/1', '900 Running main=running+/1'])
})

t.test('a container whose memory is exhausted is OOMKilled', async (t) => {
  const world = new World({ restartPolicy: 'Never' }, { 'simulate.proreus.dev/oom-killed': 'true' })
  const status = world.at(1)
  t.match(status, { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }] })
  t.strictSame(conditionsOf(status), [
    'PodReadyToStartContainers=False',
    'Initialized=True',
    'Ready=False PodFailed',
    'ContainersReady=False PodFailed',
    'PodScheduled=True',
  ])
})

t.test('the restart policy decides what follows the end of a container', async (t) => {
  const cases: [policy: string, code: string, expected: string][] = [
    ['Never', '0', 'Succeeded main=Completed'],
    ['Never', '1', 'Failed main=Error'],
    ['OnFailure', '0', 'Succeeded main=Completed'],
    ['OnFailure', '1', 'Running main=running+/1'],
    ['Always', '0', 'Running main=running+/1'],
    ['Always', '1', 'Running main=running+/1'],
  ]
  for (const [restartPolicy, code, expected] of cases)
    t.equal(new World({ restartPolicy }, { 'simulate.proreus.dev/exit-code': code }).summary(2), expected, `${restartPolicy} ${code}`)
  const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }]
  const containers = [{ name: 'main', image: 'x', restartPolicy: 'Never', restartPolicyRules: rules }]
  t.equal(new World({ containers }, { 'simulate.proreus.dev/exit-code': '42' }).summary(2), 'Running main=running+/1')
  t.equal(new World({ containers }, { 'simulate.proreus.dev/exit-code': '41' }).summary(2), 'Failed main=Error')
})

t.test('a Pod has succeeded when all of its containers have', async (t) => {
  const containers = [
    { name: 'b', image: 'x' },
    { name: 'a', image: 'x' },
  ]
  const annotations = { 'a.simulate.proreus.dev/run-for': '2s', 'b.simulate.proreus.dev/run-for': '4s' }
  const world = new World({ containers, restartPolicy: 'Never' }, annotations)
  t.strictSame(summaries(world, 0, 2, 4), [
    '0 Running a=running+ b=running+',
    '2 Running a=Completed b=running+',
    '4 Succeeded a=Completed b=Completed',
  ])
  t.strictSame(conditionsOf(world.at(5)), [
    'PodReadyToStartContainers=False',
    'Initialized=True PodCompleted',
    'Ready=False PodCompleted',
    'ContainersReady=False PodCompleted',
    'PodScheduled=True',
  ])
})

t.test('an image that cannot be pulled is tried again with back-off', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/pull-error': 'no such image' })
  t.strictSame(summaries(world, 0, 1, 9, 10, 11, 29, 30), [
    '0 Pending main=ErrImagePull',
    '1 Pending main=ImagePullBackOff',
    '9 Pending main=ImagePullBackOff',
    '10 Pending main=ErrImagePull',
    '11 Pending main=ImagePullBackOff',
    '29 Pending main=ImagePullBackOff',
    '30 Pending main=ErrImagePull',
  ])
  t.strictSame(world.events.slice(0, 5), [
    'Normal Pulling spec.containers{main}: Pulling image "x:1"',
    'Warning Failed spec.containers{main}: Failed to pull image "x:1": no such image',
    'Warning Failed spec.containers{main}: Error: ErrImagePull',
    'Normal BackOff spec.containers{main}: Back-off pulling image "x:1"',
    'Warning Failed spec.containers{main}: Error: ImagePullBackOff',
  ])
  t.match(world.at(31).containerStatuses[0]?.state, {
    waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x:1": ErrImagePull: no such image' },
  })
  world.change({ metadata: { annotations: {} } })
  t.strictSame(summaries(world, 69, 70), ['69 Pending main=ImagePullBackOff', '70 Running main=running+'])
  const fixed = new World({}, { 'simulate.proreus.dev/pull-error': 'no such image' })
  fixed.at(5)
  fixed.change({ metadata: { annotations: {} }, spec: { containers: [{ name: 'main', image: 'x:2' }] } })
  t.equal(fixed.summary(6), 'Running main=running+', 'another image is pulled at once')
  const never = new World(
    { containers: [{ name: 'main', image: 'x', imagePullPolicy: 'Never' }] },
    { 'simulate.proreus.dev/pull-error': 'any' },
  )
  t.equal(never.summary(0), 'Pending main=ErrImageNeverPull')
})

t.test('a Pod may stay unready, also after it was ready', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/ready-delay': 'never' })
  t.strictSame(summaries(world, 0, 3600), ['0 Running main=running', '3600 Running main=running'])
  t.ok(world.events.filter((event) => event.includes('Unhealthy')).length > 300)
  world.change({ metadata: { annotations: {} } })
  t.equal(world.summary(3601), 'Running main=running+')
  world.change({ metadata: { annotations: { 'simulate.proreus.dev/ready-delay': 'never' } } })
  t.equal(world.summary(3602), 'Running main=running')
})

t.test('an annotation that is added to a running Pod takes effect at once', async (t) => {
  const world = new World({})
  world.at(0)
  world.change({ metadata: { annotations: { 'simulate.proreus.dev/exit-code': '7' } } })
  t.match(world.at(100), { containerStatuses: [{ state: { terminated: { exitCode: 7, finishedAt: '2026-01-01T00:01:40Z' } } }] })
})

t.test('init containers and sidecars start in order', async (t) => {
  const initContainers = [
    { name: 'first', image: 'x' },
    { name: 'sidecar', image: 'x', restartPolicy: 'Always' },
    { name: 'last', image: 'x' },
  ]
  const annotations = {
    'first.simulate.proreus.dev/run-for': '2s',
    'sidecar.simulate.proreus.dev/start-delay': '3s',
    'last.simulate.proreus.dev/run-for': '4s',
    'main.simulate.proreus.dev/run-for': '5s',
  }
  const world = new World({ initContainers, restartPolicy: 'Never' }, annotations)
  const first = world.at(0)
  t.strictSame(conditionsOf(first).slice(1, 3), [
    'Initialized=False ContainersNotInitialized containers with incomplete status: [first sidecar last]',
    'Ready=False ContainersNotReady containers with unready status: [sidecar main]',
  ])
  t.strictSame(summaries(world, 0, 2, 5, 9, 14, 15), [
    '0 Pending first=running sidecar=PodInitializing last=PodInitializing main=PodInitializing',
    '2 Pending first=Completed+ sidecar=PodInitializing last=PodInitializing main=PodInitializing',
    '5 Pending first=Completed+ sidecar=running+ last=running main=PodInitializing',
    '9 Running first=Completed+ sidecar=running+ last=Completed+ main=running+',
    '14 Running first=Completed+ sidecar=running+ last=Completed+ main=Completed',
    '15 Succeeded first=Completed+ sidecar=Error last=Completed+ main=Completed',
  ])
})

t.test('an init container that fails keeps the Pod from running', async (t) => {
  const initContainers = [{ name: 'init', image: 'x' }]
  const annotations = { 'init.simulate.proreus.dev/exit-code': '1' }
  t.strictSame(summaries(new World({ initContainers }, annotations), 1, 2, 4), [
    '1 Pending init=Error main=PodInitializing',
    '2 Pending init=running/1 main=PodInitializing',
    '4 Pending init=CrashLoopBackOff/1 main=PodInitializing',
  ])
  t.equal(new World({ initContainers, restartPolicy: 'Never' }, annotations).summary(1), 'Failed init=Error main=PodInitializing')
})

t.test('an evicted Pod, and one beyond its deadline, has failed with the reason', async (t) => {
  const evicted = new World({}, { 'simulate.proreus.dev/evict-after': '10s' })
  t.equal(evicted.summary(9), 'Running main=running+')
  const status = evicted.at(10)
  t.match(status, {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'The node was low on resource: memory. ',
    containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'Error' } } }],
  })
  t.equal(conditionsOf(status)[0], 'DisruptionTarget=True TerminationByKubelet The node was low on resource: memory. ')
  t.strictSame(evicted.events.slice(-2), [
    'Warning Evicted : The node was low on resource: memory. ',
    'Normal Killing spec.containers{main}: Stopping container main',
  ])
  const late = new World({ activeDeadlineSeconds: 5 })
  t.strictSame(summaries(late, 4, 5, 50), [
    '4 Running main=running+',
    '5 FailedDeadlineExceeded main=running+',
    '50 FailedDeadlineExceeded main=Error',
  ])
})

t.test('a node evicts one Pod in 10 seconds', (t) => {
  const annotations = { 'simulate.proreus.dev/evict-after': '5s' }
  const [first, second, elsewhere] = [new World({}, annotations), new World({}, annotations), new World({}, annotations)]
  second.evictions = first.evictions
  for (const world of [first, second, elsewhere]) {
    world.restart(0)
    world.at(0)
  }
  t.strictSame([first.nextSecond, second.nextSecond], [5, 5])
  for (const world of [first, second, elsewhere]) world.at(5)
  t.equal(first.at(5).reason, 'Evicted')
  t.equal(elsewhere.at(5).reason, 'Evicted')
  t.equal(second.at(5).phase, 'Running')
  t.equal(second.nextSecond, 15)
  t.equal(second.at(14).phase, 'Running')
  t.equal(second.at(15).reason, 'Evicted')
  t.end()
})

t.test('the containers of a deleted Pod are stopped, within the grace period', async (t) => {
  const deleted = (graceSeconds: number, annotations: Record<string, string> = {}): World => {
    const world = new World({}, annotations)
    world.at(0)
    world.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: graceSeconds } })
    t.equal(world.summary(10).split(' ')[0], graceSeconds === 0 ? 'Failed' : 'Running')
    return world
  }
  const world = deleted(30)
  t.equal(world.nextSecond, 10.1)
  t.equal(world.events.at(-1), 'Normal Killing spec.containers{main}: Stopping container main')
  t.match(world.at(11), {
    phase: 'Failed',
    containerStatuses: [{ ready: false, state: { terminated: { exitCode: 143, reason: 'Error' } } }],
  })
  const stubborn = { 'simulate.proreus.dev/stop-delay': '60s' }
  t.equal(deleted(30, stubborn).nextSecond, 40)
  deleted(0, stubborn)
})

t.test('a changed image restarts its container', async (t) => {
  const world = new World({})
  world.at(0)
  world.change({ spec: { containers: [{ name: 'main', image: 'x:2' }] } })
  world.at(5)
  t.match(world.at(6), { phase: 'Running', containerStatuses: [{ image: 'x:2', restartCount: 1, state: { running: {} } }] })
  t.ok(world.events.includes('Normal Killing spec.containers{main}: Container main definition changed, will be restarted'))
})

t.test('a Pod continues after a restart of the cluster', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/run-for': '10s', 'simulate.proreus.dev/exit-code': '1' })
  world.at(4)
  world.restart(5)
  t.strictSame(summaries(world, 9, 10, 12), ['9 Running main=running+', '10 Running main=Error', '12 Running main=running+/1'])
  world.at(23)
  t.match(world.at(24).containerStatuses[0]?.state, { waiting: { reason: 'CrashLoopBackOff' } })
  world.restart(25)
  t.equal(world.summary(25), 'Running main=running+/2', 'the back-off begins anew, as in a restarted kubelet')
})

t.test('a readiness gate keeps a Pod from being ready', async (t) => {
  const world = new World({ readinessGates: [{ conditionType: 'example.com/gate' }] })
  t.equal(
    conditionsOf(world.at(0))[2],
    'Ready=False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/gate" does not exist.',
  )
  const gate = (status: string): void => {
    world.pod = { ...world.pod, status: { ...world.pod.status, conditions: [{ type: 'example.com/gate', status }] } } as ReadonlyPod
  }
  gate('False')
  const [first, , , ready] = conditionsOf(world.at(1))
  t.strictSame(
    [first, ready],
    [
      'example.com/gate=False',
      'Ready=False ReadinessGatesNotReady the status of pod readiness gate "example.com/gate" is not "True", but False',
    ],
  )
  gate('True')
  t.equal(conditionsOf(world.at(2))[3], 'Ready=True')
})

t.test('an ephemeral container runs beside the others', async (t) => {
  const world = new World({})
  world.at(0)
  world.change({ spec: { ephemeralContainers: [{ name: 'debug', image: 'y' }] } })
  t.match(world.at(1), {
    phase: 'Running',
    containerStatuses: [{ name: 'main', state: { running: {} } }],
    ephemeralContainerStatuses: [{ name: 'debug', restartCount: 0, state: { running: {} } }],
  })
  t.ok(world.events.includes('Normal Started spec.ephemeralContainers{debug}: Container started'))
})

t.test('an ephemeral container is not started again after a restart of the cluster', async (t) => {
  const started = ({ events }: World): number => events.filter((event) => event.includes('Started spec.ephemeralContainers')).length
  const world = new World({}, { 'debug.simulate.proreus.dev/run-for': '10s' })
  world.at(0)
  world.change({ spec: { ephemeralContainers: [{ name: 'debug', image: 'y' }] } })
  world.at(1)
  world.restart(5)
  t.match(world.at(5), { ephemeralContainerStatuses: [{ restartCount: 0, state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }] })
  t.match(world.at(11), { ephemeralContainerStatuses: [{ state: { terminated: { reason: 'Completed' } } }] })
  world.restart(20)
  t.match(world.at(30), {
    ephemeralContainerStatuses: [{ restartCount: 0, state: { terminated: { finishedAt: '2026-01-01T00:00:11Z' } } }],
  })
  t.equal(started(world), 1)
  const pulling = new World({}, { 'debug.simulate.proreus.dev/pull-delay': '10s' })
  pulling.change({ spec: { ephemeralContainers: [{ name: 'debug', image: 'y' }] } })
  pulling.at(1)
  pulling.restart(5)
  pulling.at(5)
  pulling.at(20)
  t.equal(started(pulling), 1, 'a pull that was interrupted begins again')
})

t.test('a Pod that is being deleted starts no container', async (t) => {
  const containers = ['crash', 'slow'].map((name) => ({ name, image: 'x' }))
  const annotations = { 'crash.simulate.proreus.dev/exit-code': '1', 'slow.simulate.proreus.dev/stop-delay': '20s' }
  const world = new World({ containers }, annotations)
  world.at(4)
  world.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 } })
  t.strictSame(summaries(world, 5, 20, 25), [
    '5 Running crash=Error/1 slow=running+',
    '20 Running crash=Error/1 slow=running+',
    '25 Failed crash=Error/1 slow=Error',
  ])
})

t.test('after a restart of the cluster, a Pod that is being deleted gets the rest of its grace period', async (t) => {
  const world = new World({}, { 'simulate.proreus.dev/stop-delay': '60s' })
  world.at(0)
  world.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 } })
  world.at(10)
  world.restart(35)
  t.equal(world.summary(40), 'Running main=running+')
  t.match(world.at(41), { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 137 } } }] })
})

t.test('a sidecar does not wait for the end of an init container', async (t) => {
  const initContainers = [
    { name: 'sidecar', image: 'x', restartPolicy: 'Always' },
    { name: 'init', image: 'x' },
  ]
  const world = new World({ initContainers }, { 'init.simulate.proreus.dev/run-for': '1h', 'init.simulate.proreus.dev/stop-delay': '20s' })
  world.at(0)
  world.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 } })
  t.strictSame(summaries(world, 10, 12), [
    '10 Pending sidecar=running+ init=running main=PodInitializing',
    '12 Pending sidecar=Error init=running main=PodInitializing',
  ])
})

t.test('sidecars stop after the other containers, the latest one first', async (t) => {
  const initContainers = ['a', 'b'].map((name) => ({ name, image: 'x', restartPolicy: 'Always' }))
  const world = new World({ initContainers }, { 'b.simulate.proreus.dev/stop-delay': '2s', 'simulate.proreus.dev/stop-delay': '3s' })
  world.at(0)
  world.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 } })
  t.strictSame(summaries(world, 10, 14, 16), [
    '10 Running a=running+ b=running+ main=running+',
    '14 Running a=running+ b=running+ main=Error',
    '16 Failed a=Error b=Error main=Error',
  ])
  t.strictSame(
    world.events.filter((text) => text.includes('Killing')).map((text) => text.split(' ').at(-1)),
    ['main', 'b', 'a'],
  )
})

t.test('a regular container with a restart policy of its own is not called an init container', async (t) => {
  const livenessProbe = { exec: { command: ['true'] }, periodSeconds: 1, failureThreshold: 1 }
  const world = new World(
    { containers: [{ name: 'main', image: 'x:1', restartPolicy: 'Always', livenessProbe }] },
    { 'simulate.proreus.dev/liveness-fails-after': '1s' },
  )
  for (let second = 0; second <= 10; second += 1) world.at(second)
  t.ok(world.events.includes('Normal Killing spec.containers{main}: Container main failed liveness probe, will be restarted'))
})
