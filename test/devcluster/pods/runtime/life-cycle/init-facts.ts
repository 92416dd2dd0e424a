/** Facts about init containers, sidecars and ephemeral containers. */
import { pod as podType } from '../../../../../src/api/builtin.ts'
import type { LifeCycleFact } from '../../../../support/pods/life-cycle-fact.ts'
import {
  atWork,
  endless,
  failed,
  never,
  obedient,
  ready,
  sh,
  shortGrace,
  started,
  startsArmed,
  succeeded,
  uninitialized,
  work,
} from './parts.ts'

const initActions = 'pkg/kubelet/kuberuntime/kuberuntime_container.go: computeInitContainerActions'
const sidecars = 'https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/'
const init = (name: string, script: string, more: object = {}): object => sh(script, { name, ...more })
const sidecar = (script: string, more: object = {}): object => init('sidecar', script, { restartPolicy: 'Always', ...more })

export const initFacts: readonly LifeCycleFact[] = [
  {
    name: 'init-succeeds',
    fact: 'init containers run one after the other, and the regular containers start when all have succeeded',
    source: initActions,
    spec: {
      ...never,
      ...work,
      initContainers: [init('one', 'touch /work/one', atWork), init('two', 'test -e /work/one && touch /work/two', atWork)],
      containers: [sh('test -e /work/two', atWork)],
    },
    simulated: { 'exit-code': '0', 'run-for': '100ms' },
    becomes: {
      phase: 'Succeeded',
      containers: {
        one: 'PodInitializing → running → Completed 0',
        two: 'PodInitializing → running → Completed 0',
        main: 'PodInitializing → running → Completed 0',
      },
      conditions: succeeded,
      events: started,
    },
  },
  {
    name: 'init-fails',
    fact: 'a Pod with the policy Never has failed when an init container has failed; its other containers stay waiting',
    source: initActions,
    spec: { ...never, initContainers: [init('one', 'exit 4'), init('two', 'exit 0')], containers: [sh(endless)] },
    simulated: { 'one/exit-code': '4', 'one/run-for': '100ms' },
    becomes: {
      phase: 'Failed',
      containers: { one: 'PodInitializing → running → Error 4', two: 'PodInitializing', main: 'PodInitializing' },
      conditions: { ...failed, Initialized: 'False ContainersNotInitialized' },
      events: started,
    },
  },
  {
    name: 'init-crash-loops',
    fact: 'an init container that fails is restarted with back-off, and its Pod stays Pending',
    source: initActions,
    spec: { initContainers: [init('one', 'exit 1')], containers: [sh(endless)] },
    simulated: { 'one/exit-code': '1', 'one/run-for': '100ms' },
    becomes: {
      phase: 'Pending',
      containers: {
        one: 'PodInitializing → running → Error 1 → running (1) → Error 1 (1) → CrashLoopBackOff (1)',
        main: 'PodInitializing',
      },
      conditions: uninitialized,
      events: [...started, 'BackOff'],
    },
  },
  {
    name: 'sidecar-starts',
    fact: 'the containers after a sidecar wait until its startup probe has succeeded',
    source: sidecars,
    spec: {
      ...shortGrace,
      initContainers: [sidecar(endless, { startupProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1000 } })],
      containers: [sh(endless)],
    },
    simulated: { 'sidecar/startup-fails-after': '0s' },
    becomes: {
      phase: 'Pending',
      containers: { sidecar: 'PodInitializing → running, not started', main: 'PodInitializing' },
      conditions: uninitialized,
      events: [...started, 'Unhealthy'],
      messages: ['Unhealthy: Startup probe failed: '],
    },
  },
  {
    name: 'sidecar-restarts',
    fact: 'a sidecar that ends is restarted, also under the policy Never, while the regular containers run',
    source: sidecars,
    spec: {
      ...never,
      ...shortGrace,
      ...work,
      initContainers: [sidecar(`test -e /work/again || { touch /work/again; sleep 1; exit 1; }; ${endless}`, atWork)],
      containers: [sh(endless)],
    },
    simulated: { 'sidecar/exit-code': '1', 'sidecar/run-for': '500ms', 'sidecar/failures': '1' },
    becomes: {
      phase: 'Running',
      containers: { sidecar: 'PodInitializing → running → Error 1 → running (1)', main: 'PodInitializing → running' },
      conditions: ready,
      events: started,
    },
  },
  {
    name: 'sidecar-ends',
    fact: 'a sidecar is stopped when the regular containers have ended; its exit code does not count for the phase',
    source: 'pkg/kubelet/kuberuntime/kuberuntime_termination_order.go: newTerminationOrdering',
    spec: {
      ...never,
      ...work,
      initContainers: [sidecar(obedient(), startsArmed)],
      containers: [sh('exit 0')],
    },
    simulated: { 'exit-code': '0', 'run-for': '100ms' },
    becomes: {
      phase: 'Succeeded',
      containers: {
        sidecar: 'PodInitializing → running, not started → running → Error 143',
        main: 'PodInitializing → running → Completed 0',
      },
      conditions: succeeded,
      events: [...started, 'Killing'],
      messages: ['Killing: Stopping container sidecar'],
    },
  },
  {
    name: 'sidecar-in-job',
    fact: 'a sidecar does not keep the Pod of a Job from succeeding',
    source: 'https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#jobs-with-sidecar-containers',
    owner: 'Job',
    spec: {
      ...never,
      initContainers: [sidecar(obedient(), startsArmed)],
      containers: [sh('exit 0')],
    },
    simulated: {},
    becomes: {
      phase: 'Succeeded',
      containers: {
        sidecar: 'PodInitializing → running, not started → running → Error 143',
        main: 'PodInitializing → running → Completed 0',
      },
      conditions: succeeded,
      events: [...started, 'Killing'],
    },
  },
  {
    name: 'ephemeral-ends',
    fact: 'an ephemeral container is never restarted, and does not count for the phase and the conditions',
    source: 'https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/',
    spec: { ...shortGrace, containers: [sh(endless)] },
    async play({ client, key, until }) {
      await until('main', 'running')
      const ephemeralContainers = [sh('exit 5', { name: 'debugger' })]
      await client.patch(podType, key, { spec: { ephemeralContainers } } as never, { subresource: 'ephemeralcontainers' })
    },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running', debugger: 'ContainerCreating → running, not started → Error 5' },
      conditions: ready,
      events: started,
    },
  },
]
