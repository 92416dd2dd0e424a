/** Facts about the restart policies of Pods and containers. */
import { pod as podType } from '../../../../../src/api/builtin.ts'
import type { LifeCycleFact } from '../../../../support/pods/life-cycle-fact.ts'
import { armed, endless, failed, never, obedient, onFailure, ready, sh, shortGrace, started, succeeded, unready } from './parts.ts'

const backOff = 'pkg/kubelet/kuberuntime/kuberuntime_manager.go: doBackOff'
const phase = 'pkg/kubelet/kubelet_pods.go: getPhase'
const rules = 'pkg/api/v1/pod/util.go: ContainerShouldRestart'
const crashes = (exit: string): string => `ContainerCreating → running → ${exit} → running (1) → ${exit} (1) → CrashLoopBackOff (1)`
const looping = { phase: 'Running', conditions: unready, events: [...started, 'BackOff'] }
const onExit = (exitCode: number): Record<string, string> => ({ 'exit-code': String(exitCode), 'run-for': '100ms' })

export const restartFacts: readonly LifeCycleFact[] = [
  {
    name: 'always-succeeds',
    fact: 'a container that ends with 0 is restarted under the policy Always, and its second restart is delayed',
    source: backOff,
    spec: { containers: [sh('exit 0')] },
    simulated: onExit(0),
    becomes: { ...looping, containers: { main: crashes('Completed 0') } },
  },
  {
    name: 'always-fails',
    fact: 'a container that fails is restarted at once, and then after 10 s; the phase stays Running',
    source: backOff,
    spec: { containers: [sh('exit 3')] },
    simulated: onExit(3),
    becomes: {
      ...looping,
      containers: { main: crashes('Error 3') },
      messages: ['BackOff: Back-off restarting failed container main in pod always-fails_default('],
    },
  },
  {
    name: 'on-failure-succeeds',
    fact: 'a container that ends with 0 is not restarted under the policy OnFailure',
    source: phase,
    spec: { ...onFailure, containers: [sh('exit 0')] },
    simulated: onExit(0),
    becomes: {
      phase: 'Succeeded',
      containers: { main: 'ContainerCreating → running → Completed 0' },
      conditions: succeeded,
      events: started,
    },
  },
  {
    name: 'on-failure-fails',
    fact: 'a container that fails is restarted under the policy OnFailure',
    source: phase,
    spec: { ...onFailure, containers: [sh('exit 1')] },
    simulated: onExit(1),
    becomes: { ...looping, containers: { main: crashes('Error 1') } },
  },
  {
    name: 'never-succeeds',
    fact: 'a Pod whose containers have all ended with 0 for good has succeeded',
    source: phase,
    spec: { ...never, containers: [sh('exit 0')] },
    simulated: onExit(0),
    becomes: {
      phase: 'Succeeded',
      containers: { main: 'ContainerCreating → running → Completed 0' },
      conditions: succeeded,
      events: started,
    },
  },
  {
    name: 'never-fails',
    fact: 'a container that fails is not restarted under the policy Never, and its Pod has failed',
    source: phase,
    spec: { ...never, containers: [sh('exit 7')] },
    simulated: onExit(7),
    becomes: { phase: 'Failed', containers: { main: 'ContainerCreating → running → Error 7' }, conditions: failed, events: started },
  },
  {
    name: 'one-of-two-ends',
    fact: 'a Pod runs while one of its containers runs, and is not ready when another one has ended',
    source: phase,
    spec: { ...never, ...shortGrace, containers: [sh('exit 0'), sh(endless, { name: 'other' })] },
    simulated: { 'main/exit-code': '0', 'main/run-for': '100ms' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running → Completed 0', other: 'ContainerCreating → running' },
      conditions: unready,
      events: started,
    },
  },
  {
    name: 'one-of-two-fails',
    fact: 'a Pod has failed when one of its containers has failed',
    source: phase,
    spec: { ...never, containers: [sh('exit 0'), sh('exit 2', { name: 'other' })] },
    simulated: { ...onExit(0), 'other/exit-code': '2' },
    becomes: {
      phase: 'Failed',
      containers: { main: 'ContainerCreating → running → Completed 0', other: 'ContainerCreating → running → Error 2' },
      conditions: failed,
      events: started,
    },
  },
  {
    name: 'container-policy-never',
    fact: 'the restart policy of a container overrides that of its Pod',
    source: rules,
    spec: { ...shortGrace, containers: [sh('exit 1', { restartPolicy: 'Never' }), sh(endless, { name: 'other' })] },
    simulated: { 'main/exit-code': '1', 'main/run-for': '100ms' },
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running → Error 1', other: 'ContainerCreating → running' },
      conditions: unready,
      events: started,
    },
  },
  {
    name: 'rule-matches',
    fact: 'a container is restarted after an exit code of its restartPolicyRules',
    source: rules,
    spec: {
      ...never,
      containers: [
        sh('exit 42', { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] }),
      ],
    },
    simulated: onExit(42),
    becomes: { ...looping, containers: { main: crashes('Error 42') } },
  },
  {
    name: 'rule-differs',
    fact: 'after another exit code, the restart policy of the container decides',
    source: rules,
    spec: {
      ...never,
      containers: [
        sh('exit 1', { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] }),
      ],
    },
    simulated: onExit(1),
    becomes: { phase: 'Failed', containers: { main: 'ContainerCreating → running → Error 1' }, conditions: failed, events: started },
  },
  {
    name: 'image-changes',
    fact: 'a container whose image is changed is stopped and started again, also under the policy Never',
    source: 'pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions',
    spec: { ...never, containers: [sh(obedient(), armed)] },
    simulated: {},
    async play({ client, key, until }) {
      await until('main', 'running')
      await client.patch(podType, key, [{ op: 'replace', path: '/spec/containers/0/image', value: 'example.com/app:2' }] as never, {
        type: 'json',
      })
    },
    becomes: {
      phase: 'Running',
      containers: {
        main: 'ContainerCreating → running, not ready → running → Error 143 → running (1), not ready → running (1)',
      },
      conditions: ready,
      events: [...started, 'Killing'],
      messages: ['Killing: Container main definition changed, will be restarted'],
    },
  },
]
