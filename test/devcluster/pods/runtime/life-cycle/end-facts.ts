/** Facts about the end of Pods: deadlines, deletion and signals. */
import type { LifeCycleFact } from '../../../../support/pods/life-cycle-fact.ts'
import { armed, endless, failed, never, obedient, sh, shortGrace, started } from './parts.ts'

const termination = 'https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination'
const terminatePod = 'pkg/kubelet/status/status_manager.go: TerminatePod'
const unknown = 'ContainerStatusUnknown 137'

export const endFacts: readonly LifeCycleFact[] = [
  {
    name: 'deadline',
    fact: 'a Pod that is active for longer than activeDeadlineSeconds is stopped, and has failed with DeadlineExceeded',
    source: 'pkg/kubelet/active_deadline.go: activeDeadlineHandler.ShouldEvict',
    spec: { activeDeadlineSeconds: 10, ...shortGrace, containers: [sh(endless)] },
    simulated: { 'stop-delay': '60s' },
    becomes: {
      phase: 'Failed DeadlineExceeded',
      containers: { main: 'ContainerCreating → running → Error 137' },
      conditions: failed,
      events: [...started, 'DeadlineExceeded', 'Killing'],
      messages: ['DeadlineExceeded: Pod was active on the node longer than the specified deadline'],
    },
  },
  {
    name: 'deleted-obeys',
    fact: 'the containers of a deleted Pod get SIGTERM; one that ends with 143 has failed',
    source: termination,
    spec: { containers: [sh(obedient(), armed)] },
    simulated: {},
    async play(stage) {
      await stage.until('main', 'running')
      await stage.delete({ gracePeriodSeconds: 60 })
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { main: 'ContainerCreating → running, not ready → running → Error 143' },
      conditions: failed,
      events: [...started, 'Killing'],
      messages: ['Killing: Stopping container main'],
    },
  },
  {
    name: 'deleted-succeeds',
    fact: 'a deleted Pod whose containers end with 0 after SIGTERM has succeeded, also under the policy Always',
    source: 'pkg/kubelet/kubelet_pods.go: getPhase',
    spec: { containers: [sh(obedient('exit 0'), armed)] },
    async play(stage) {
      await stage.until('main', 'running')
      await stage.delete({ gracePeriodSeconds: 60 })
    },
    becomes: {
      phase: 'Succeeded',
      isGone: true,
      containers: { main: 'ContainerCreating → running, not ready → running → Completed 0' },
      events: [...started, 'Killing'],
    },
  },
  {
    name: 'deleted-ignores',
    fact: 'a container that ignores SIGTERM is killed after the grace period, and its exit code is 137',
    source: termination,
    spec: { containers: [sh(endless)] },
    simulated: { 'stop-delay': '60s' },
    async play(stage) {
      await stage.until('main', 'running')
      await stage.delete({ gracePeriodSeconds: 2 })
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { main: 'ContainerCreating → running → Error 137' },
      conditions: failed,
      events: [...started, 'Killing'],
    },
  },
  {
    name: 'deleted-by-force',
    fact: 'a Pod that is deleted with grace period 0 is removed at once; its containers are killed afterwards',
    source: 'https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination-forced',
    spec: { containers: [sh(endless)] },
    simulated: { 'stop-delay': '60s' },
    async play(stage) {
      await stage.until('main', 'running')
      await stage.delete({ gracePeriodSeconds: 0 })
    },
    becomes: {
      phase: 'Running',
      isGone: true,
      containers: { main: 'ContainerCreating → running' },
      events: [...started, 'Killing'],
    },
  },
  {
    name: 'deleted-in-back-off',
    fact: 'a container in CrashLoopBackOff is not started again in a deleted Pod, and shows how it has ended',
    source: 'pkg/kubelet/kubelet_pods.go: convertToAPIContainerStatuses',
    spec: { containers: [sh('exit 3')] },
    simulated: { 'exit-code': '3', 'run-for': '100ms' },
    async play(stage) {
      await stage.until('main', 'CrashLoopBackOff (1)')
      await stage.delete()
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: {
        main: 'ContainerCreating → running → Error 3 → running (1) → Error 3 (1) → CrashLoopBackOff (1) → Error 3 (1)',
      },
      last: { main: undefined },
      conditions: failed,
      events: [...started, 'BackOff'],
    },
  },
  {
    name: 'deleted-while-pulling',
    fact: 'a container that has never run is of unknown status in a deleted Pod',
    source: terminatePod,
    spec: { containers: [sh('', { command: ['no-such-program'] })] },
    simulated: { 'pull-error': 'not found' },
    async play(stage) {
      await stage.until('main', 'ImagePullBackOff')
      await stage.delete()
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { main: `ContainerCreating → ErrImagePull → ImagePullBackOff → ${unknown}` },
      conditions: failed,
      events: ['Scheduled', 'Failed', 'BackOff'],
    },
  },
  {
    name: 'deleted-while-starting',
    fact: 'a Pod that cannot be started can be deleted',
    source: terminatePod,
    spec: { containers: [sh(endless, { envFrom: [{ configMapRef: { name: 'no-such-map' } }] })] },
    simulated: {},
    async play(stage) {
      await stage.until('main', 'CreateContainerConfigError')
      await stage.delete()
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { main: `ContainerCreating → CreateContainerConfigError → ${unknown}` },
      conditions: failed,
      events: ['Scheduled', 'Pulled', 'Failed'],
    },
  },
  {
    name: 'deleted-in-init',
    fact: 'the regular containers of a Pod that is deleted before its initialization stay waiting',
    source: terminatePod,
    spec: { initContainers: [sh(endless, { name: 'one' })], containers: [sh(endless)] },
    simulated: { 'one/run-for': '1h', 'one/exit-code': '0', 'one/stop-delay': '60s' },
    async play(stage) {
      await stage.until('one', 'running')
      await stage.delete()
    },
    becomes: {
      phase: 'Failed',
      isGone: true,
      containers: { one: 'PodInitializing → running → Error 137', main: 'PodInitializing' },
      conditions: { ...failed, Initialized: 'False ContainersNotInitialized' },
      events: [...started, 'Killing'],
    },
  },
  {
    name: 'signal',
    fact: 'the exit code after a signal is 128 and the number of the signal',
    source: 'https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure/',
    spec: { ...never, containers: [sh(`sh -c 'kill -SEGV $$$$'; exit $?`)] },
    simulated: { 'exit-code': '139', 'run-for': '100ms' },
    becomes: { phase: 'Failed', containers: { main: 'ContainerCreating → running → Error 139' }, conditions: failed, events: started },
  },
]
