/**
 * kwok's configuration for the control plane of a test. Nodes become ready, Pods run, and the Pods of Jobs succeed. A Pod that
 * kube-controller-manager has set to not ready, because its Node had no heartbeat, becomes ready again at once.
 */

const stage = (name: string, kind: string, matchExpressions: readonly object[], next: object, delayMs = 0): object => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: {
    resourceRef: { apiGroup: 'v1', kind },
    selector: { matchExpressions },
    ...(delayMs > 0 && { delay: { durationMilliseconds: delayMs } }),
    next,
  },
})

const absent = (key: string): object => ({ key, operator: 'DoesNotExist' })
const within = (key: string, ...values: string[]): object => ({ key, operator: 'In', values })
const notWithin = (key: string, ...values: string[]): object => ({ key, operator: 'NotIn', values })

const isDeleted = '.metadata.deletionTimestamp'
const phase = '.status.phase'
const statusOf = (condition: string): string => `.status.conditions.[] | select( .type == "${condition}" ) | .status`
const ready = statusOf('Ready')

/**
 * The template of the status with which kwok makes a Node ready. kwok applies the template to a new Node, and to a Node whose last
 * heartbeat is old. Addresses and a capacity that the Node already has are preserved.
 */
const nodeStatus = `
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
{{ if not .status.addresses }}
addresses:
- type: Hostname
  address: {{ NodeName | Quote }}
{{ end }}
{{ if not .status.capacity }}
allocatable: { cpu: "8", memory: 32Gi, pods: "110" }
capacity: { cpu: "8", memory: 32Gi, pods: "110" }
{{ end }}
`

/** Updates the heartbeat in the condition Ready of a Node. The other fields of the condition are preserved. */
const heartbeat = `
conditions:
- type: Ready
  lastHeartbeatTime: {{ Now | Quote }}
`

/**
 * Interval in milliseconds between two heartbeats of a Node. If a Node has no heartbeat for 50 s, kube-controller-manager considers the
 * Node unreachable, and sets its Pods to not ready.
 */
const heartbeatMs = 10_000

const podRunning = `
{{ $now := Now }}
conditions:
{{ range $type := list "Initialized" "Ready" "ContainersReady" }}
- type: {{ $type }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  {{ if eq .restartPolicy "Always" }}
  started: true
  state: { running: { startedAt: {{ $now | Quote }} } }
  {{ else }}
  state: { terminated: { exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }} } }
  {{ end }}
{{ end }}
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
hostIPs: [{ ip: {{ index . 0 | Quote }} }]
{{ end }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ index . 0 | Quote }}
podIPs: [{ ip: {{ index . 0 | Quote }} }]
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
`

const podReady = `
conditions:
- type: Ready
  status: "True"
  lastTransitionTime: {{ Now | Quote }}
`

const podSucceeded = `
{{ $now := Now }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state: { terminated: { exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }} } }
{{ end }}
phase: Succeeded
`

const stages = [
  stage('node-ready', 'Node', [notWithin(ready, 'True')], { statusTemplate: nodeStatus }),
  stage('node-heartbeat', 'Node', [within(ready, 'True')], { statusTemplate: heartbeat }, heartbeatMs),
  stage('pod-running', 'Pod', [absent(isDeleted), within(phase, 'Pending'), notWithin(ready, 'True')], { statusTemplate: podRunning }),
  // When a Node is unreachable, kube-controller-manager sets the condition Ready of its Pods to False. The condition ContainersReady
  // remains True. A kubelet sets the condition Ready back to True when it can reach the API server again.
  stage(
    'pod-ready-again',
    'Pod',
    [absent(isDeleted), within(phase, 'Running'), within(statusOf('ContainersReady'), 'True'), within(ready, 'False')],
    {
      statusTemplate: podReady,
    },
  ),
  stage('pod-succeeded', 'Pod', [absent(isDeleted), within(phase, 'Running'), within('.metadata.ownerReferences.[].kind', 'Job')], {
    statusTemplate: podSucceeded,
  }),
  stage('pod-deleted', 'Pod', [{ key: isDeleted, operator: 'Exists' }], { delete: true }),
]

/** kwok's configuration file. Its documents are JSON, which is valid YAML. */
export const kwokConfiguration: string = stages.map((one) => JSON.stringify(one)).join('\n---\n')
