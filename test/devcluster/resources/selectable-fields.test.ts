import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'

const nothingInvolved = (name: string): Record<string, string> =>
  Object.fromEntries(
    ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [`${name}.${field}`, '']),
  )
const reference = { kind: 'Pod', namespace: 'n', name: 'p', uid: 'u', apiVersion: 'v1', resourceVersion: '7', fieldPath: 'f' }
const involved = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(reference).map(([field, value]) => [`${name}.${field}`, value]))

t.test('the selectable fields of each type are those of the Kubernetes documentation', (t) => {
  const fieldsOf = (group: string, plural: string, object: JsonObject): Readonly<Record<string, string>> =>
    builtinResources.find((row) => row.group === group && row.plural === plural)!.selectableFields(object)
  const cases: readonly (readonly [string, string, JsonObject, Record<string, string>])[] = [
    [
      '',
      'pods',
      {
        spec: { nodeName: 'n', restartPolicy: 'Never', schedulerName: 's', serviceAccountName: 'a', hostNetwork: true },
        status: { phase: 'Running', podIP: '1.2.3.4', nominatedNodeName: 'm' },
      },
      {
        'spec.nodeName': 'n',
        'spec.restartPolicy': 'Never',
        'spec.schedulerName': 's',
        'spec.serviceAccountName': 'a',
        'spec.hostNetwork': 'true',
        'status.phase': 'Running',
        'status.podIP': '1.2.3.4',
        'status.nominatedNodeName': 'm',
      },
    ],
    [
      '',
      'pods',
      {},
      {
        'spec.nodeName': '',
        'spec.restartPolicy': '',
        'spec.schedulerName': '',
        'spec.serviceAccountName': '',
        'spec.hostNetwork': 'false',
        'status.phase': '',
        'status.podIP': '',
        'status.nominatedNodeName': '',
      },
    ],
    ['', 'secrets', { type: 'a' }, { type: 'a' }],
    ['', 'services', { spec: { clusterIP: '10.96.0.1', type: 'NodePort' } }, { 'spec.clusterIP': '10.96.0.1', 'spec.type': 'NodePort' }],
    ['', 'nodes', { spec: { unschedulable: true } }, { 'spec.unschedulable': 'true' }],
    ['', 'nodes', {}, { 'spec.unschedulable': 'false' }],
    ['', 'namespaces', { status: { phase: 'Active' } }, { 'status.phase': 'Active' }],
    ['batch', 'jobs', { status: { succeeded: 2 } }, { 'status.successful': '2' }],
    ['batch', 'jobs', {}, { 'status.successful': '0' }],
    [
      '',
      'events',
      { involvedObject: reference, reason: 'R', reportingComponent: 'c', source: { component: 's' }, type: 'Normal' },
      { ...involved('involvedObject'), reason: 'R', reportingComponent: 'c', source: 's', type: 'Normal' },
    ],
    [
      '',
      'events',
      { reportingComponent: 'c' },
      { ...nothingInvolved('involvedObject'), reason: '', reportingComponent: 'c', source: 'c', type: '' },
    ],
    [
      'events.k8s.io',
      'events',
      { regarding: reference, reason: 'R', reportingController: 'c', type: 'Normal' },
      { ...involved('regarding'), reason: 'R', reportingController: 'c', type: 'Normal' },
    ],
    ['', 'configmaps', { data: { a: 'b' } }, {}],
    ['apps', 'deployments', { spec: { replicas: 1 } }, {}],
  ]
  for (const [group, plural, object, expected] of cases) t.strictSame(fieldsOf(group, plural, object), expected, plural)
  t.end()
})
