import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { kwokConfiguration } from '../../src/testing/kwok-stages.ts'

interface Stage {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly resourceRef: object
    readonly selector: object
    readonly next: { readonly statusTemplate?: string }
    readonly delay?: object
  }
}

const stages = parseAllDocuments(kwokConfiguration).map((document) => document.toJS() as Stage)

t.test('nodes become and stay ready, Pods run, Pods of Jobs complete, and deleted Pods are removed', (t) => {
  const statusOf = (condition: string): string => `.status.conditions.[] | select( .type == "${condition}" ) | .status`
  const ready = statusOf('Ready')
  const alive = { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' }
  const notReady = { key: ready, operator: 'NotIn', values: ['True'] }
  const inPhase = (phase: string): object => ({ key: '.status.phase', operator: 'In', values: [phase] })
  const stage = (name: string, kind: string, ...matchExpressions: object[]): object => ({
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name },
    spec: { resourceRef: { apiGroup: 'v1', kind }, selector: { matchExpressions } },
  })
  t.strictSame(
    stages.map(({ spec: { next: _, delay: __, ...spec }, ...rest }) => ({ ...rest, spec })),
    [
      stage('node-ready', 'Node', notReady),
      stage('node-heartbeat', 'Node', { key: ready, operator: 'In', values: ['True'] }),
      stage('pod-running', 'Pod', alive, inPhase('Pending'), notReady),
      stage(
        'pod-ready-again',
        'Pod',
        alive,
        inPhase('Running'),
        { key: statusOf('ContainersReady'), operator: 'In', values: ['True'] },
        { key: ready, operator: 'In', values: ['False'] },
      ),
      stage('pod-succeeded', 'Pod', alive, inPhase('Running'), {
        key: '.metadata.ownerReferences.[].kind',
        operator: 'In',
        values: ['Job'],
      }),
      stage('pod-deleted', 'Pod', { key: '.metadata.deletionTimestamp', operator: 'Exists' }),
    ],
  )
  // Only the stage of the heartbeat has a delay.
  t.strictSame(
    stages.map(({ spec }) => spec.delay),
    [undefined, { durationMilliseconds: 10_000 }, undefined, undefined, undefined, undefined],
  )
  const templates = stages.map(({ spec }) => spec.next.statusTemplate)
  t.strictSame(stages[5]!.spec.next, { delete: true })
  const fieldsAt = (index: number): string[] =>
    templates[index]!.split('\n').filter((line) => /^(phase|allocatable|capacity|startTime): /.test(line))
  t.strictSame(fieldsAt(0), ['allocatable: { cpu: "8", memory: 32Gi, pods: "110" }', 'capacity: { cpu: "8", memory: 32Gi, pods: "110" }'])
  t.strictSame(fieldsAt(2), ['phase: Running', 'startTime: {{ $now | Quote }}'])
  t.strictSame(fieldsAt(4), ['phase: Succeeded'])
  const fieldsOf = (index: number): string[] =>
    templates[index]!.split('\n').filter((line) => /^ {2}(ready|started|restartCount): /.test(line))
  t.strictSame(new Set(fieldsOf(2)), new Set(['  ready: true', '  started: true', '  restartCount: 0']))
  t.strictSame(fieldsOf(4), ['  ready: false', '  started: false', '  restartCount: 0'])
  t.match(templates[2], 'list "Initialized" "Ready" "ContainersReady"')
  t.end()
})

t.test('the statuses are those that a kubelet reports', (t) => {
  const linesOf = (index: number): string[] =>
    stages[index]!.spec.next.statusTemplate!.split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  const now = '{{ $now | Quote }}'
  const completed = `state: { terminated: { exitCode: 0, reason: Completed, startedAt: ${now}, finishedAt: ${now} } }`
  const running = `state: { running: { startedAt: ${now} } }`
  t.strictSame(linesOf(0), [
    '{{ $now := Now }}',
    'conditions:',
    '{{ range NodeConditions }}',
    '- type: {{ .type | Quote }}',
    'status: {{ .status | Quote }}',
    'reason: {{ .reason | Quote }}',
    'message: {{ .message | Quote }}',
    `lastHeartbeatTime: ${now}`,
    `lastTransitionTime: ${now}`,
    '{{ end }}',
    '{{ if not .status.addresses }}',
    'addresses:',
    '- type: Hostname',
    'address: {{ NodeName | Quote }}',
    '{{ end }}',
    '{{ if not .status.capacity }}',
    'allocatable: { cpu: "8", memory: 32Gi, pods: "110" }',
    'capacity: { cpu: "8", memory: 32Gi, pods: "110" }',
    '{{ end }}',
  ])
  t.strictSame(linesOf(1), ['conditions:', '- type: Ready', 'lastHeartbeatTime: {{ Now | Quote }}'])
  t.strictSame(linesOf(3), ['conditions:', '- type: Ready', 'status: "True"', 'lastTransitionTime: {{ Now | Quote }}'])
  t.strictSame(linesOf(2), [
    '{{ $now := Now }}',
    'conditions:',
    '{{ range $type := list "Initialized" "Ready" "ContainersReady" }}',
    '- type: {{ $type }}',
    'status: "True"',
    `lastTransitionTime: ${now}`,
    '{{ end }}',
    'containerStatuses:',
    '{{ range .spec.containers }}',
    '- name: {{ .name | Quote }}',
    'image: {{ .image | Quote }}',
    'ready: true',
    'started: true',
    'restartCount: 0',
    running,
    '{{ end }}',
    'initContainerStatuses:',
    '{{ range .spec.initContainers }}',
    '- name: {{ .name | Quote }}',
    'image: {{ .image | Quote }}',
    'ready: true',
    'restartCount: 0',
    '{{ if eq .restartPolicy "Always" }}',
    'started: true',
    running,
    '{{ else }}',
    completed,
    '{{ end }}',
    '{{ end }}',
    '{{ with NodeIPsWith .spec.nodeName }}',
    'hostIP: {{ index . 0 | Quote }}',
    'hostIPs: [{ ip: {{ index . 0 | Quote }} }]',
    '{{ end }}',
    '{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}',
    'podIP: {{ index . 0 | Quote }}',
    'podIPs: [{ ip: {{ index . 0 | Quote }} }]',
    '{{ end }}',
    'phase: Running',
    `startTime: ${now}`,
  ])
  t.strictSame(linesOf(4), [
    '{{ $now := Now }}',
    'containerStatuses:',
    '{{ range .spec.containers }}',
    '- name: {{ .name | Quote }}',
    'image: {{ .image | Quote }}',
    'ready: false',
    'started: false',
    'restartCount: 0',
    completed,
    '{{ end }}',
    'phase: Succeeded',
  ])
  t.end()
})
