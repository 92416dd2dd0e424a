/**
 * Facts about the start of containers: images, programs, users, the ConfigMaps and Secrets that a Pod refers to, the network, and
 * termination messages.
 */
import type { Pod } from '../../../../../src/api/builtin.ts'
import { configMap } from '../../../../../src/api/builtin.ts'
import type { LifeCycleFact } from '../../../../support/pods/life-cycle-fact.ts'
import { endless, failed, never, ready, sh, shortGrace, started, succeeded, unready, withoutSandbox } from './parts.ts'

const startContainer = 'pkg/kubelet/kuberuntime/kuberuntime_container.go: startContainer'
const message = 'pkg/kubelet/kuberuntime/kuberuntime_container.go: getTerminationMessage'
/**
 * Returns fields of a container whose program is the value of a variable. Therefore, the path of the program is known only when the
 * container starts.
 */
const program = (path: string): object => ({ command: ['$(PROGRAM)'], env: [{ name: 'PROGRAM', value: path }] })
const fails = (state: string): Pick<LifeCycleFact['becomes'], 'phase' | 'containers' | 'conditions' | 'events'> => ({
  phase: 'Failed',
  containers: { main: `ContainerCreating → running → ${state}` },
  conditions: failed,
  events: started,
})
const succeeds = {
  phase: 'Succeeded',
  containers: { main: 'ContainerCreating → running → Completed 0' },
  conditions: succeeded,
  events: started,
}

export const startFacts: readonly LifeCycleFact[] = [
  {
    name: 'image-missing',
    fact: 'a container whose image cannot be pulled waits with ErrImagePull, then with ImagePullBackOff',
    source: 'pkg/kubelet/images/image_manager.go: EnsureImageExists',
    spec: { containers: [sh('', { command: ['no-such-program'] })] },
    simulated: { 'pull-error': 'not found' },
    becomes: {
      phase: 'Pending',
      containers: { main: 'ContainerCreating → ErrImagePull → ImagePullBackOff' },
      conditions: unready,
      events: ['Scheduled', 'Failed', 'BackOff'],
      messages: ['Failed: Failed to pull image "example.com/app:1": ', 'Failed: Error: ErrImagePull', 'Failed: Error: ImagePullBackOff'],
    },
  },
  {
    name: 'program-missing',
    fact: 'a container whose process cannot be started ends with 128 and StartError',
    source: 'github.com/containerd/containerd/internal/cri/server/container_start.go: StartContainer',
    spec: { ...never, containers: [sh('', program('/no/such/program'))] },
    becomes: {
      phase: 'Failed',
      containers: { main: 'ContainerCreating → StartError 128' },
      conditions: failed,
      events: ['Scheduled', 'Pulled', 'Created', 'Failed'],
      messages: ['no such file or directory'],
    },
  },
  {
    name: 'program-not-executable',
    fact: 'a container that is restarted waits with RunContainerError after it could not be started',
    source: startContainer,
    spec: { containers: [sh('', program('/etc/passwd'))] },
    becomes: {
      phase: 'Running',
      containers: {
        main: 'ContainerCreating → StartError 128 → RunContainerError → StartError 128 (1) → RunContainerError (1) → CrashLoopBackOff (1)',
      },
      conditions: unready,
      events: ['Scheduled', 'Pulled', 'Created', 'Failed', 'BackOff'],
      messages: ['permission denied'],
    },
  },
  {
    name: 'working-directory-missing',
    fact: 'a working directory that does not exist is created',
    source: 'github.com/opencontainers/runc/libcontainer/rootfs_linux.go: prepareRootfs',
    spec: { ...never, containers: [sh('test "$(pwd)" = /no/such/folder', { workingDir: '/no/such/folder' })] },
    becomes: succeeds,
  },
  {
    name: 'root-refused',
    fact: 'a container with runAsNonRoot does not start as root',
    source: 'pkg/kubelet/kuberuntime/security_context_others.go: verifyRunAsNonRoot',
    spec: { containers: [sh(endless, { securityContext: { runAsNonRoot: true } })] },
    becomes: {
      phase: 'Pending',
      containers: { main: 'ContainerCreating → CreateContainerConfigError' },
      conditions: unready,
      events: ['Scheduled', 'Pulled', 'Failed'],
      messages: ['Failed: Error: container has runAsNonRoot and image will run as root (pod: "root-refused_default('],
    },
  },
  {
    name: 'other-user',
    fact: 'a container runs as the user and the group of its security context',
    source: 'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/',
    spec: {
      ...never,
      securityContext: { runAsUser: 1000, runAsGroup: 3000, supplementalGroups: [4000] },
      containers: [sh('test "$(id -u) $(id -g) $(id -G)" = "1000 3000 3000 4000"', { securityContext: { runAsNonRoot: true } })],
    },
    becomes: succeeds,
  },
  {
    name: 'map-missing',
    fact: 'a container waits with CreateContainerConfigError for a ConfigMap that it refers to',
    source: 'pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables',
    spec: { containers: [sh(endless, { envFrom: [{ configMapRef: { name: 'no-such-map' } }] })] },
    simulated: {},
    becomes: {
      phase: 'Pending',
      containers: { main: 'ContainerCreating → CreateContainerConfigError' },
      conditions: unready,
      events: ['Scheduled', 'Pulled', 'Failed'],
      messages: ['Failed: Error: configmap "no-such-map" not found'],
    },
  },
  {
    name: 'key-missing',
    fact: 'a container waits with CreateContainerConfigError for a key that its ConfigMap does not have',
    source: 'pkg/kubelet/kubelet_pods.go: makeEnvironmentVariables',
    spec: {
      containers: [sh(endless, { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'kube-root-ca.crt', key: 'no-such-key' } } }] })],
    },
    simulated: {},
    becomes: {
      phase: 'Pending',
      containers: { main: 'ContainerCreating → CreateContainerConfigError' },
      conditions: unready,
      events: ['Scheduled', 'Pulled', 'Failed'],
      messages: ["Failed: Error: couldn't find key no-such-key in ConfigMap default/kube-root-ca.crt"],
    },
  },
  {
    name: 'map-arrives',
    fact: 'a container that waits for a ConfigMap starts when there is one',
    source: 'https://kubernetes.io/docs/concepts/configuration/configmap/',
    spec: { ...never, containers: [sh('test "$COLOR" = red', { envFrom: [{ configMapRef: { name: 'arrives' } }] })] },
    simulated: { 'exit-code': '0', 'run-for': '100ms' },
    async play({ client, until }) {
      await until('main', 'CreateContainerConfigError')
      await client.create(configMap, { metadata: { namespace: 'default', name: 'arrives' }, data: { COLOR: 'red' } })
    },
    becomes: {
      ...succeeds,
      containers: { main: 'ContainerCreating → CreateContainerConfigError → running → Completed 0' },
      events: [...started, 'Failed'],
    },
  },
  {
    name: 'secret-missing',
    fact: 'a Pod waits for the Secret of a volume before its sandbox is created',
    source: 'pkg/kubelet/kubelet.go: SyncPod',
    spec: {
      volumes: [{ name: 'password', secret: { secretName: 'no-such-secret' } }],
      containers: [sh(endless, { volumeMounts: [{ name: 'password', mountPath: '/password' }] })],
    },
    simulated: {},
    becomes: {
      phase: 'Pending',
      containers: { main: 'ContainerCreating' },
      conditions: withoutSandbox,
      events: ['Scheduled', 'FailedMount'],
      messages: ['FailedMount: MountVolume.SetUp failed for volume "password" : secret "no-such-secret" not found'],
    },
  },
  {
    name: 'optional-objects',
    fact: 'a container does not wait for optional ConfigMaps and Secrets',
    source: 'https://kubernetes.io/docs/concepts/configuration/secret/#restriction-secret-must-exist',
    spec: {
      ...shortGrace,
      volumes: [{ name: 'password', secret: { secretName: 'no-such-secret', optional: true } }],
      containers: [
        sh(endless, {
          envFrom: [{ configMapRef: { name: 'no-such-map', optional: true } }],
          env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'no-such-secret', key: 'a', optional: true } } }],
          volumeMounts: [{ name: 'password', mountPath: '/password' }],
        }),
      ],
    },
    simulated: {},
    becomes: { phase: 'Running', containers: { main: 'ContainerCreating → running' }, conditions: ready, events: started },
  },
  {
    name: 'message-file',
    fact: 'the content of the termination message file is the message of the ended container',
    source: message,
    spec: { ...never, containers: [sh('echo "no disk" >/dev/my-log; exit 1', { terminationMessagePath: '/dev/my-log' })] },
    becomes: fails('Error 1: no disk'),
  },
  {
    name: 'message-limit',
    fact: 'a termination message has at most 4096 bytes, the last ones',
    source: message,
    spec: { ...never, containers: [sh('printf "%06000d" 1 >/dev/termination-log; exit 1')] },
    becomes: fails(`Error 1: ${'1'.padStart(4096, '0')}`),
  },
  {
    name: 'message-from-log',
    fact: 'with FallbackToLogsOnError, the end of the log is the message of a failed container without a message',
    source: message,
    spec: { ...never, containers: [sh('echo lost; echo cause >&2; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' })] },
    becomes: {
      ...fails('Error 1: '),
      containers: {},
      problem: ({ status }: Pod) => {
        const text = status?.containerStatuses?.[0]?.state?.terminated?.message
        return ['lost\ncause\n', 'cause\nlost\n'].includes(text ?? '') ? undefined : `message: ${text}`
      },
    },
  },
  {
    name: 'message-log-limit',
    fact: 'the message from a log has at most 2048 bytes',
    source: message,
    spec: { ...never, containers: [sh('printf "%06000d" 1; exit 1', { terminationMessagePolicy: 'FallbackToLogsOnError' })] },
    becomes: fails(`Error 1: ${'1'.padStart(2048, '0')}`),
  },
  {
    name: 'message-of-success',
    fact: 'with FallbackToLogsOnError, a container that has succeeded has no message from its log',
    source: message,
    spec: { ...never, containers: [sh('echo done', { terminationMessagePolicy: 'FallbackToLogsOnError' })] },
    becomes: succeeds,
  },
  {
    name: 'host-network',
    fact: 'a Pod with hostNetwork has the address of its node',
    source: 'pkg/kubelet/kubelet_pods.go: generateAPIPodStatus',
    spec: { ...shortGrace, hostNetwork: true, containers: [sh(endless)] },
    simulated: {},
    becomes: {
      phase: 'Running',
      containers: { main: 'ContainerCreating → running' },
      conditions: ready,
      events: started,
      problem: ({ status }: Pod) => (status?.podIP === status?.hostIP ? undefined : `podIP: ${status?.podIP}, hostIP: ${status?.hostIP}`),
    },
  },
  {
    name: 'host-name',
    fact: 'the host name of a Pod is that of its spec; with a subdomain, /etc/hosts has its full name',
    source: 'https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields',
    spec: {
      ...never,
      hostname: 'web',
      subdomain: 'shop',
      containers: [sh('test "$(hostname)" = web && grep -q "web.shop.default.svc.cluster.local.*web" /etc/hosts')],
    },
    becomes: succeeds,
  },
]
