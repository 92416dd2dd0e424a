/** Facts about probes, hooks and readiness gates. */
import { pod as podType } from '../../../../../src/api/builtin.ts'
import type { LifeCycleFact } from '../../../../support/pods/life-cycle-fact.ts'
import { armed, atWork, endless, failed, never, obedient, ready, sh, shortGrace, started, unready, work } from './parts.ts'

const worker = 'pkg/kubelet/prober/worker.go: doProbe'
const startContainer = 'pkg/kubelet/kuberuntime/kuberuntime_container.go: startContainer'
const often = { periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 1 }
const exec = (...command: string[]): object => ({ exec: { command }, ...often })

export const probeFacts: readonly LifeCycleFact[] = [
  {
    name: 'readiness-fails',
    fact: 'a container whose readiness probe fails runs and is not ready',
    source: worker,
    spec: { ...shortGrace, containers: [sh(endless, { readinessProbe: exec('false') })] },
    simulated: { 'readiness-fails-after': '0s' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running, not ready' },
      conditions: unready,
      events: [...started, 'Unhealthy'],
      messages: ['Unhealthy: Readiness probe failed: '],
    },
  },
  {
    name: 'readiness-recovers',
    fact: 'a container is ready when its readiness probe succeeds, and not while it fails',
    source: worker,
    spec: {
      ...shortGrace,
      containers: [
        sh(`touch /tmp/ready; sleep 2; rm /tmp/ready; sleep 4; touch /tmp/ready; ${endless}`, {
          readinessProbe: { ...exec('test', '-e', '/tmp/ready'), initialDelaySeconds: 3 },
        }),
      ],
    },
    simulated: { 'readiness-fails-after': '0s', 'readiness-fails-for': '4s' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running, not ready → running' },
      conditions: ready,
      events: [...started, 'Unhealthy'],
    },
  },
  {
    name: 'liveness-fails',
    fact: 'a container whose liveness probe fails is stopped and restarted',
    source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions',
    spec: {
      ...work,
      containers: [
        sh(obedient('touch /work/healed'), { ...atWork, livenessProbe: { ...exec('test', '-e', '/work/healed'), initialDelaySeconds: 2 } }),
      ],
    },
    simulated: { 'liveness-fails-after': '0s', failures: '1' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running → Error 143 → running (1)' },
      conditions: ready,
      events: [...started, 'Unhealthy', 'Killing'],
      messages: ['Unhealthy: Liveness probe failed: ', 'Killing: Container main failed liveness probe, will be restarted'],
    },
  },
  {
    name: 'startup-fails',
    fact: 'a container whose startup probe fails is stopped, and under the policy Never not restarted',
    source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions',
    spec: { ...never, containers: [sh(obedient(), { startupProbe: { ...exec('false'), initialDelaySeconds: 2 } })] },
    simulated: { 'startup-fails-after': '0s' },
    becomes: {
      phase: 'Failed',
      containers: { main: 'ContainerCreating → running, not started → Error 143' },
      conditions: failed,
      events: [...started, 'Unhealthy', 'Killing'],
      messages: ['Unhealthy: Startup probe failed: ', 'Killing: Container main failed startup probe'],
    },
  },
  {
    name: 'startup-recovers',
    fact: 'the other probes of a container begin when its startup probe has succeeded',
    source: worker,
    spec: {
      ...shortGrace,
      containers: [
        sh(`sleep 3; touch /tmp/up; ${endless}`, {
          startupProbe: { ...exec('test', '-e', '/tmp/up'), failureThreshold: 1000 },
          livenessProbe: exec('test', '-e', '/tmp/up'),
        }),
      ],
    },
    simulated: { 'startup-fails-after': '0s', 'startup-fails-for': '2s' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running, not started → running' },
      conditions: ready,
      events: [...started, 'Unhealthy'],
    },
  },
  {
    name: 'tcp-probe-fails',
    fact: 'a TCP probe fails when nothing listens at the port',
    source: 'pkg/probe/tcp/tcp.go: DoTCPProbe',
    spec: { ...shortGrace, containers: [sh(endless, { readinessProbe: { tcpSocket: { port: 81 }, ...often } })] },
    simulated: { 'readiness-fails-after': '0s' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running, not ready' },
      conditions: unready,
      events: [...started, 'Unhealthy'],
      messages: ['Unhealthy: Readiness probe failed: dial tcp '],
    },
  },
  {
    name: 'http-probe-fails',
    fact: 'an HTTP probe fails when nothing listens at the port',
    source: 'pkg/probe/http/http.go: DoHTTPProbe',
    spec: { ...shortGrace, containers: [sh(endless, { readinessProbe: { httpGet: { port: 81, path: '/ready' }, ...often } })] },
    simulated: { 'readiness-fails-after': '0s' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running, not ready' },
      conditions: unready,
      events: [...started, 'Unhealthy'],
    },
  },
  {
    name: 'post-start-fails',
    fact: 'a container whose postStart hook fails is stopped, and waits with PostStartHookError for its restart',
    source: startContainer,
    spec: {
      ...work,
      containers: [
        sh(obedient('touch /work/stopped'), {
          ...atWork,
          lifecycle: {
            postStart: {
              exec: { command: ['sh', '-c', 'test -e /work/stopped && exit; until test -e /tmp/armed; do sleep 0.1; done; exit 1'] },
            },
          },
        }),
      ],
    },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → PostStartHookError → running (1)' },
      conditions: ready,
      events: [...started, 'FailedPostStartHook', 'Killing'],
      messages: ['FailedPostStartHook: PostStartHook failed', 'Killing: FailedPostStartHook'],
      last: { main: 'Error 143' },
    },
  },
  {
    name: 'pre-stop-fails',
    fact: 'a preStop hook that fails does not keep a container from being stopped',
    source: 'pkg/kubelet/kuberuntime/kuberuntime_container.go: executePreStopHook',
    spec: { containers: [sh(obedient(), { ...armed, lifecycle: { preStop: { exec: { command: ['false'] } } } })] },
    async play(stage) {
      await stage.until('main', 'running')
      await stage.delete({ gracePeriodSeconds: 60 })
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { main: 'ContainerCreating → running, not ready → running → Error 143' },
      conditions: failed,
      events: [...started, 'Killing', 'FailedPreStopHook'],
      messages: ['FailedPreStopHook: PreStopHook failed'],
    },
  },
  {
    name: 'pre-stop-too-long',
    fact: 'a container gets SIGTERM and two more seconds when its preStop hook has used up the grace period',
    source: 'pkg/kubelet/kuberuntime/kuberuntime_container.go: killContainer (minimumGracePeriodInSeconds)',
    spec: { containers: [sh(obedient(), { ...armed, lifecycle: { preStop: { exec: { command: ['sleep', '1000'] } } } })] },
    async play(stage) {
      await stage.until('main', 'running')
      await stage.delete({ gracePeriodSeconds: 1 })
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { main: 'ContainerCreating → running, not ready → running → Error 143' },
      conditions: failed,
      events: [...started, 'Killing', 'FailedPreStopHook'],
    },
  },
  {
    name: 'readiness-gate',
    fact: 'a Pod is ready when its containers are ready and the conditions of its readiness gates are True',
    source: 'pkg/kubelet/status/generate.go: GeneratePodReadyCondition',
    spec: { ...shortGrace, readinessGates: [{ conditionType: 'example.com/open' }], containers: [sh(endless)] },
    simulated: {},
    async play({ client, key, until }) {
      await until('main', 'running')
      const { status } = await client.get(podType, key)
      const before = status?.conditions?.find(({ type }) => type === 'Ready')
      if (before?.reason !== 'ReadinessGatesNotReady') throw new Error(`Ready: ${before?.reason}`)
      const open = { type: 'example.com/open', status: 'True' }
      await client.patchStatus(podType, key, { status: { conditions: [...(status?.conditions ?? []), open] } as never })
    },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running' },
      conditions: { ...ready, 'example.com/open': 'True' },
      events: started,
    },
  },
]
