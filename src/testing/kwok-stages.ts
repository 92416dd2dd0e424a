/** kwok's configuration for the control plane of a test: Nodes become ready, Pods become running, and the Pods of Jobs succeed. */

const stage = (name: string, kind: string, matchExpressions: readonly object[], next: object): object => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions }, next },
})

const absent = (key: string): object => ({ key, operator: 'DoesNotExist' })
const within = (key: string, ...values: string[]): object => ({ key, operator: 'In', values })
const notWithin = (key: string, ...values: string[]): object => ({ key, operator: 'NotIn', values })

const isDeleted = '.metadata.deletionTimestamp'
const phase = '.status.phase'
const ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'

/**
 * The template of the status with which kwok makes a Node ready. A new Node is not ready, because it has no kubelet. A Node is also not
 * ready when its last heartbeat is old. Addresses and a capacity that the Node already has are preserved.
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
  stage('pod-running', 'Pod', [absent(isDeleted), within(phase, 'Pending'), notWithin(ready, 'True')], { statusTemplate: podRunning }),
  stage('pod-succeeded', 'Pod', [absent(isDeleted), within(phase, 'Running'), within('.metadata.ownerReferences.[].kind', 'Job')], {
    statusTemplate: podSucceeded,
  }),
  stage('pod-deleted', 'Pod', [{ key: isDeleted, operator: 'Exists' }], { delete: true }),
]

/** kwok's configuration file. Its documents are JSON, which is valid YAML. */
export const kwokConfiguration: string = stages.map((one) => JSON.stringify(one)).join('\n---\n')
