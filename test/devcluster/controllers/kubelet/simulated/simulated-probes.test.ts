/** Tests of the simulated probes: how the readiness, the restarts and the Events of a Pod change over time. */
import t from 'tap'
import { SimulatedPodWorld as World, conditionsOf, summaries } from '../../../../support/devcluster/simulated-pod.ts'

const prefix = 'simulate.proreus.dev/'
const withPrefix = (annotations: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name.includes('/') ? name : `${prefix}${name}`, value]))

/** Returns a Pod with one container. */
const pod = (container: object, annotations: Record<string, string> = {}, spec: object = {}): World =>
  new World({ containers: [{ name: 'main', image: 'x:1', ...container }], ...spec }, withPrefix(annotations))

/** A probe with a period of 10 s and the failure threshold 3. */
const probe = { exec: { command: ['true'] } }

interface Case {
  readonly name: string
  readonly container: object
  readonly annotations?: Record<string, string>
  readonly spec?: object
  /** The expected summaries of the Pod, keyed by the time in seconds. */
  readonly expected: Readonly<Record<number, string>>
}

const cases: readonly Case[] = [
  {
    name: 'a readiness probe succeeds after its initial delay',
    container: { readinessProbe: { ...probe, initialDelaySeconds: 5 } },
    expected: { 0: 'Running main=running', 4: 'Running main=running', 5: 'Running main=running+', 900: 'Running main=running+' },
  },
  {
    name: 'a readiness probe without an initial delay succeeds at once',
    container: { readinessProbe: probe },
    expected: { 0: 'Running main=running+' },
  },
  {
    name: 'a container is ready after as many successes as its probe requires',
    container: { readinessProbe: { ...probe, initialDelaySeconds: 2, periodSeconds: 3, successThreshold: 3 } },
    expected: { 7: 'Running main=running', 8: 'Running main=running+' },
  },
  {
    name: 'a startup probe delays the readiness probe',
    container: { startupProbe: { ...probe, initialDelaySeconds: 4 }, readinessProbe: probe },
    expected: { 3: 'Running main=running', 4: 'Running main=running+' },
  },
  {
    name: 'a container without a readiness probe is ready when it has started',
    container: { startupProbe: { ...probe, initialDelaySeconds: 4 } },
    expected: { 3: 'Running main=running', 4: 'Running main=running+' },
  },
  {
    name: 'the initial delay of a readiness probe counts from the start of the container',
    container: { startupProbe: { ...probe, initialDelaySeconds: 4 }, readinessProbe: { ...probe, initialDelaySeconds: 6 } },
    expected: { 5: 'Running main=running', 6: 'Running main=running+' },
  },
  {
    name: 'a readiness probe that fails later makes the Pod unready after its threshold',
    container: { readinessProbe: probe },
    annotations: { 'readiness-fails-after': '55s', 'readiness-fails-for': '30s' },
    expected: { 79: 'Running main=running+', 80: 'Running main=running', 89: 'Running main=running', 90: 'Running main=running+' },
  },
  {
    name: 'a readiness probe that fails less often than its threshold has no effect',
    container: { readinessProbe: probe },
    annotations: { 'readiness-fails-after': '55s', 'readiness-fails-for': '20s' },
    expected: { 60: 'Running main=running+', 70: 'Running main=running+', 80: 'Running main=running+', 999: 'Running main=running+' },
  },
  {
    name: 'a container without a readiness probe can be unready, too',
    container: {},
    annotations: { 'readiness-fails-after': '10s' },
    expected: { 29: 'Running main=running+', 30: 'Running main=running', 999: 'Running main=running' },
  },
  {
    name: 'a ready delay takes precedence over the times of the readiness probe',
    container: { readinessProbe: { ...probe, initialDelaySeconds: 60, successThreshold: 2 } },
    annotations: { 'ready-delay': '5s' },
    expected: { 4: 'Running main=running', 5: 'Running main=running+' },
  },
  {
    name: 'a ready delay is longer than the initial delay',
    container: { readinessProbe: { ...probe, initialDelaySeconds: 1 } },
    annotations: { 'ready-delay': '15s' },
    expected: { 14: 'Running main=running', 15: 'Running main=running+' },
  },
  {
    name: 'a failing liveness probe restarts the container, each time after its threshold',
    container: { livenessProbe: probe },
    annotations: { 'liveness-fails-after': '60s' },
    expected: {
      80: 'Running main=running+',
      81: 'Running main=running+/1',
      160: 'Running main=running+/1',
      161: 'Running main=running+/2',
    },
  },
  {
    name: 'a liveness probe fails only in as many runs as an annotation says',
    container: { livenessProbe: probe },
    annotations: { 'liveness-fails-after': '0s', failures: '1' },
    expected: { 20: 'Running main=running+', 21: 'Running main=running+/1', 999: 'Running main=running+/1' },
  },
  {
    name: 'a liveness probe that fails less often than its threshold has no effect',
    container: { livenessProbe: probe },
    annotations: { 'liveness-fails-for': '20s' },
    expected: { 999: 'Running main=running+' },
  },
  {
    name: 'the annotation of a container holds for this container only',
    container: { livenessProbe: { ...probe, failureThreshold: 1 } },
    annotations: { [`main.${prefix}liveness-fails-after`]: '60s' },
    spec: {
      containers: [
        { name: 'main', image: 'x', livenessProbe: { ...probe, failureThreshold: 1 } },
        { name: 'other', image: 'x', livenessProbe: { ...probe, failureThreshold: 1 } },
      ],
    },
    expected: { 60: 'Running main=running+ other=running+', 61: 'Running main=running+/1 other=running+' },
  },
  {
    name: 'a startup probe that fails restarts the container',
    container: { startupProbe: { ...probe, periodSeconds: 1, failureThreshold: 5 }, livenessProbe: { ...probe, failureThreshold: 1 } },
    annotations: { 'startup-fails-after': '0s', 'liveness-fails-after': '0s' },
    expected: {
      3: 'Running main=running',
      4: 'Running main=running',
      5: 'Running main=running/1',
      8: 'Running main=running/1',
      9: 'Running main=running/2',
    },
  },
  {
    name: 'a startup probe lets a slow container start',
    container: { startupProbe: { ...probe, periodSeconds: 5, failureThreshold: 5 } },
    annotations: { 'startup-fails-for': '17s' },
    expected: { 19: 'Running main=running', 20: 'Running main=running+' },
  },
  {
    name: 'a Pod that restarts no container fails with its liveness probe',
    container: { livenessProbe: { ...probe, failureThreshold: 1 } },
    annotations: { 'liveness-fails-after': '5s' },
    spec: { restartPolicy: 'Never' },
    expected: { 10: 'Running main=running+', 11: 'Failed main=Error' },
  },
  {
    name: 'a container that does not stop is killed at the end of the grace period of the Pod',
    container: { livenessProbe: { ...probe, failureThreshold: 1 } },
    annotations: { 'liveness-fails-after': '0s', 'stop-delay': '60s', failures: '1' },
    spec: { terminationGracePeriodSeconds: 20 },
    expected: { 19: 'Running main=running+', 20: 'Running main=running+/1' },
  },
  {
    name: 'the grace period of the probe takes precedence over the one of the Pod',
    container: { livenessProbe: { ...probe, failureThreshold: 1, terminationGracePeriodSeconds: 5 } },
    annotations: { 'liveness-fails-after': '0s', 'stop-delay': '60s', failures: '1' },
    expected: { 4: 'Running main=running+', 5: 'Running main=running+/1' },
  },
]

for (const { name, container, annotations, spec, expected } of cases)
  t.test(name, async (t) => {
    const seconds = Object.keys(expected).map(Number)
    t.strictSame(
      summaries(pod(container, annotations, spec), ...seconds),
      Object.entries(expected).map(([second, summary]) => `${second} ${summary}`),
    )
  })

const eventsOf = ({ events }: World, ...reasons: string[]): string[] =>
  events.filter((event) => reasons.includes(event.split(' ')[1] ?? '')).map((event) => event.replace(' spec.containers{main}', ''))

t.test('the Events about failed probes are those of the kubelet', async (t) => {
  const world = pod({ livenessProbe: probe }, { 'liveness-fails-after': '60s', failures: '1' })
  world.at(999)
  t.strictSame(eventsOf(world, 'Unhealthy', 'Killing', 'Started', 'BackOff'), [
    'Normal Started: Container started',
    'Warning Unhealthy: Liveness probe failed: simulated',
    'Warning Unhealthy: Liveness probe failed: simulated',
    'Warning Unhealthy: Liveness probe failed: simulated',
    'Normal Killing: Container main failed liveness probe, will be restarted',
    'Normal Started: Container started',
  ])
  t.equal(world.nextSecond, Number.POSITIVE_INFINITY, 'a probe that succeeds causes no work')
  t.match(world.at(999).containerStatuses[0]?.lastState, { terminated: { exitCode: 143, reason: 'Error' } })
  const stubborn = pod({ livenessProbe: probe }, { 'liveness-fails-after': '60s', 'stop-delay': '1h', failures: '1' })
  t.match(stubborn.at(999).containerStatuses[0]?.lastState, { terminated: { exitCode: 137, reason: 'Error' } })
  const once = pod({ startupProbe: { ...probe, failureThreshold: 1 } }, { 'startup-fails-after': '0s' }, { restartPolicy: 'Never' })
  once.at(1)
  t.strictSame(eventsOf(once, 'Unhealthy', 'Killing'), [
    'Warning Unhealthy: Startup probe failed: simulated',
    'Normal Killing: Container main failed startup probe',
  ])
})

t.test('the output of a failed probe depends on its type', async (t) => {
  const outputs: [probe: object, output: string][] = [
    [{ httpGet: { path: '/healthz', port: 80 } }, 'HTTP probe failed with statuscode: 503'],
    [{ tcpSocket: { port: 80 } }, 'dial tcp 10.244.0.2:80: connect: connection refused'],
    [{ tcpSocket: { port: 'web' } }, 'dial tcp 10.244.0.2:8080: connect: connection refused'],
    [{ tcpSocket: { port: 80, host: 'fd00::1' } }, 'dial tcp [fd00::1]:80: connect: connection refused'],
    [{ grpc: { port: 80 } }, 'service unhealthy (responded with "NOT_SERVING")'],
  ]
  for (const [readinessProbe, output] of outputs) {
    const world = pod({ readinessProbe, ports: [{ name: 'web', containerPort: 8080 }] }, { 'readiness-fails-for': '1s' })
    world.at(0)
    t.strictSame(eventsOf(world, 'Unhealthy'), [`Warning Unhealthy: Readiness probe failed: ${output}`])
  }
})

t.test('restarts because of a liveness probe are delayed when the runs are shorter than the back-off', async (t) => {
  const world = pod({ livenessProbe: { ...probe, periodSeconds: 5 } }, { 'liveness-fails-after': '0s' })
  // Each run lasts 10.1 s. The back-off is 10 s after the second run and 20 s after the third run.
  t.strictSame(summaries(world, 10, 11, 21, 31, 40, 50, 51, 61, 90), [
    '10 Running main=running+',
    '11 Running main=running+/1',
    '21 Running main=running+/2',
    '31 Running main=running+/3',
    '40 Running main=running+/3',
    '50 Running main=CrashLoopBackOff/3',
    '51 Running main=CrashLoopBackOff/3',
    '61 Running main=running+/4',
    '90 Running main=CrashLoopBackOff/4',
  ])
  t.equal(eventsOf(world, 'BackOff')[0], 'Warning BackOff: Back-off restarting failed container main in pod web_ns(u)')
})

t.test('an unready container makes its Pod unready', async (t) => {
  const world = pod({ readinessProbe: { ...probe, failureThreshold: 1 } }, { 'readiness-fails-after': '30s', 'readiness-fails-for': '30s' })
  const ready = (second: number): string | undefined => conditionsOf(world.at(second))[2]
  t.equal(ready(29), 'Ready=True')
  t.equal(ready(30), 'Ready=False ContainersNotReady containers with unready status: [main]')
  t.equal(ready(60), 'Ready=True')
})

t.test('a sidecar whose startup probe has not succeeded holds the other containers back', async (t) => {
  const sidecar = { name: 'sidecar', image: 'x', restartPolicy: 'Always' }
  const world = new World(
    { initContainers: [{ ...sidecar, startupProbe: { ...probe, failureThreshold: 1, initialDelaySeconds: 5 } }] },
    withPrefix({ [`sidecar.${prefix}startup-fails-for`]: '3s', [`sidecar.${prefix}failures`]: '1' }),
  )
  const first = world.at(0)
  t.match(first.initContainerStatuses, [{ started: false, ready: false }])
  t.equal(conditionsOf(first)[1], 'Initialized=False ContainersNotInitialized containers with incomplete status: [sidecar]')
  t.strictSame(summaries(world, 4, 5), ['4 Pending sidecar=running main=PodInitializing', '5 Running sidecar=running+ main=running+'])
  const failing = new World(
    { initContainers: [{ ...sidecar, livenessProbe: { ...probe, failureThreshold: 1 } }] },
    withPrefix({ [`sidecar.${prefix}liveness-fails-after`]: '5s', [`sidecar.${prefix}failures`]: '1' }),
  )
  t.strictSame(summaries(failing, 10, 11), ['10 Running sidecar=running+ main=running+', '11 Running sidecar=running+/1 main=running+'])
  t.ok(failing.events.includes('Normal Killing spec.initContainers{sidecar}: Init container sidecar failed liveness probe'))
})

t.test('an annotation of a running Pod makes its probe fail at once, and another change does not begin anew', async (t) => {
  const world = pod({ readinessProbe: { ...probe, failureThreshold: 2 } })
  world.at(94)
  const annotate = (annotations: Record<string, string>): void => world.change({ metadata: { annotations: withPrefix(annotations) } })
  annotate({ 'readiness-fails-for': '15s' })
  t.strictSame(summaries(world, 95, 105, 114), ['95 Running main=running+', '105 Running main=running', '114 Running main=running'])
  annotate({ 'readiness-fails-for': '15s', 'pull-delay': '1s' })
  t.strictSame(summaries(world, 115, 999), ['115 Running main=running+', '999 Running main=running+'])
  annotate({ 'readiness-fails-for': '15s', 'ready-delay': 'never' })
  t.strictSame(summaries(world, 1000), ['1000 Running main=running'], 'a ready delay has no threshold')
  annotate({ 'readiness-fails-for': '15s' })
  t.equal(world.summary(1001), 'Running main=running+')
})

t.test('a Pod that is being deleted is not restarted because of its probes', async (t) => {
  const world = pod({ livenessProbe: { ...probe, failureThreshold: 1 } }, { 'liveness-fails-after': '5s', 'stop-delay': '30s' })
  world.at(4)
  world.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 } })
  t.equal(world.summary(30), 'Running main=running+')
  t.strictSame(eventsOf(world, 'Unhealthy', 'Killing'), ['Normal Killing: Stopping container main'])
  const stopping = pod({ livenessProbe: { ...probe, failureThreshold: 1 } }, { 'liveness-fails-after': '0s', 'stop-delay': '10s' })
  stopping.at(4)
  stopping.change({ metadata: { deletionTimestamp: '2026-01-01T00:00:40Z', deletionGracePeriodSeconds: 30 } })
  t.strictSame(summaries(stopping, 9, 12), ['9 Running main=running+', '12 Failed main=Error'])
})

t.test('the readiness and the start of a container survive a restart of the cluster', async (t) => {
  const world = pod({
    startupProbe: { ...probe, failureThreshold: 1 },
    readinessProbe: { ...probe, initialDelaySeconds: 5, successThreshold: 2 },
  })
  world.at(20)
  world.restart(30)
  t.equal(world.summary(30), 'Running main=running+')
  const late = pod({ startupProbe: { ...probe, initialDelaySeconds: 60 } })
  late.at(20)
  late.restart(30)
  t.strictSame(summaries(late, 30, 59, 60), ['30 Running main=running', '59 Running main=running', '60 Running main=running+'])
})
