import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { kwokConfiguration } from '../../src/testing/kwok-stages.ts'

interface Stage {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly resourceRef: object; readonly selector: object; readonly next: { readonly statusTemplate?: string } }
}

const stages = parseAllDocuments(kwokConfiguration).map((document) => document.toJS() as Stage)

t.test('nodes become ready, Pods run, Pods of Jobs complete, and deleted Pods are removed', (t) => {
  const ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
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
    stages.map(({ spec: { next: _, ...spec }, ...rest }) => ({ ...rest, spec })),
    [
      stage('node-ready', 'Node', notReady),
      stage('pod-running', 'Pod', alive, inPhase('Pending'), notReady),
      stage('pod-succeeded', 'Pod', alive, inPhase('Running'), {
        key: '.metadata.ownerReferences.[].kind',
        operator: 'In',
        values: ['Job'],
      }),
      stage('pod-deleted', 'Pod', { key: '.metadata.deletionTimestamp', operator: 'Exists' }),
    ],
  )
  const templates = stages.map(({ spec }) => spec.next.statusTemplate)
  t.strictSame(stages[3]!.spec.next, { delete: true })
  const fieldsAt = (index: number): string[] =>
    templates[index]!.split('\n').filter((line) => /^(phase|allocatable|capacity|startTime): /.test(line))
  t.strictSame(fieldsAt(0), ['allocatable: { cpu: "8", memory: 32Gi, pods: "110" }', 'capacity: { cpu: "8", memory: 32Gi, pods: "110" }'])
  t.strictSame(fieldsAt(1), ['phase: Running', 'startTime: {{ $now | Quote }}'])
  t.strictSame(fieldsAt(2), ['phase: Succeeded'])
  const fieldsOf = (index: number): string[] =>
    templates[index]!.split('\n').filter((line) => /^ {2}(ready|started|restartCount): /.test(line))
  t.strictSame(new Set(fieldsOf(1)), new Set(['  ready: true', '  started: true', '  restartCount: 0']))
  t.strictSame(fieldsOf(2), ['  ready: false', '  started: false', '  restartCount: 0'])
  t.match(templates[1], 'list "Initialized" "Ready" "ContainersReady"')
  t.end()
})
