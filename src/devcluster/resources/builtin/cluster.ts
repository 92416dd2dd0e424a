/** Nodes, Events, Leases, and volumes. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, at, humanAge, listAt, nameColumn, numberAt, orNone, textAt, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaults.ts'
import type { ResourceInfo } from '../resource-info.ts'

const rolePrefix = 'node-role.kubernetes.io/'

function nodeStatus(node: JsonObject): string {
  const ready = listAt(node, 'status', 'conditions').find((condition) => at(condition, 'type') === 'Ready')
  const text = ready === undefined ? 'Unknown' : at(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return at(node, 'spec', 'unschedulable') === true ? `${text},SchedulingDisabled` : text
}

function nodeRoles(node: JsonObject): string {
  const labels = at(node, 'metadata', 'labels')
  const roles = Object.keys(isObject(labels) ? labels : {}).flatMap((key) =>
    key.startsWith(rolePrefix) && key !== rolePrefix ? [key.slice(rolePrefix.length)] : [],
  )
  return orNone(roles.sort().join(','))
}

function nodeAddress(node: JsonObject, type: string): string {
  return orNone(
    textAt(
      listAt(node, 'status', 'addresses').find((address) => at(address, 'type') === type),
      'address',
    ),
  )
}

function nodeInfo(name: string, field: string): ReturnType<typeof textColumn> {
  return textColumn(name, (node) => textAt(node, 'status', 'nodeInfo', field) || '<unknown>', 1)
}

const nodes = builtinResource({
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  status: true,
  columns: [
    nameColumn,
    textColumn('Status', nodeStatus),
    textColumn('Roles', nodeRoles),
    ageColumn,
    textColumn('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
    textColumn('Internal-IP', (node) => nodeAddress(node, 'InternalIP'), 1),
    textColumn('External-IP', (node) => nodeAddress(node, 'ExternalIP'), 1),
    nodeInfo('OS-Image', 'osImage'),
    nodeInfo('Kernel-Version', 'kernelVersion'),
    nodeInfo('Container-Runtime', 'containerRuntimeVersion'),
  ],
  selectableFields: (node) => ({ 'spec.unschedulable': String(at(node, 'spec', 'unschedulable') === true) }),
  strategy: { keepsStatus: true },
})

const involvedFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const

const events = builtinResource({
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  columns: [
    textColumn('Last Seen', lastSeen),
    textColumn('Type', (event) => textAt(event, 'type')),
    textColumn('Reason', (event) => textAt(event, 'reason')),
    textColumn('Object', (event) => `${textAt(event, 'involvedObject', 'kind').toLowerCase()}/${textAt(event, 'involvedObject', 'name')}`),
    textColumn('Subobject', (event) => textAt(event, 'involvedObject', 'fieldPath'), 1),
    textColumn('Source', source, 1),
    textColumn('Message', (event) => textAt(event, 'message').trim()),
    textColumn('First Seen', firstSeen, 1),
    textColumn('Count', (event) => String(numberAt(event, 'series', 'count') || numberAt(event, 'count') || 1), 1),
    { ...nameColumn, priority: 1 },
  ],
  selectableFields: (event) => ({
    ...Object.fromEntries(involvedFields.map((field) => [`involvedObject.${field}`, textAt(event, 'involvedObject', field)])),
    reason: textAt(event, 'reason'),
    reportingComponent: textAt(event, 'reportingComponent'),
    source: textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
    type: textAt(event, 'type'),
  }),
  strategy: { validate: validateEvent },
})

function firstSeen(event: JsonObject, now: number): string {
  return humanAge(textAt(event, 'firstTimestamp') || textAt(event, 'eventTime'), now)
}

function lastSeen(event: JsonObject, now: number): string {
  const series = textAt(event, 'series', 'lastObservedTime')
  if (series !== '') return `${humanAge(series, now)} (x${numberAt(event, 'series', 'count')} over ${firstSeen(event, now)})`
  const count = numberAt(event, 'count')
  const last = humanAge(textAt(event, 'lastTimestamp') || textAt(event, 'eventTime') || textAt(event, 'metadata', 'creationTimestamp'), now)
  return count > 1 ? `${last} (x${count} over ${firstSeen(event, now)})` : last
}

function source(event: JsonObject): string {
  const host = textAt(event, 'source', 'host')
  const component = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent')
  return host === '' ? component : `${component}, ${host}`
}

/** An event is in the namespace of what it is about; in `default` when that has none. */
function validateEvent(event: JsonObject): FieldError[] {
  const [own, involved] = [textAt(event, 'metadata', 'namespace'), textAt(event, 'involvedObject', 'namespace')]
  return involved === own || (involved === '' && own === 'default')
    ? []
    : [invalid('involvedObject.namespace', involved, 'does not match event.namespace')]
}

const leases = builtinResource({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  plural: 'leases',
  columns: [nameColumn, textColumn('Holder', (lease) => textAt(lease, 'spec', 'holderIdentity')), ageColumn],
})

function claimColumns(): readonly ReturnType<typeof textColumn>[] {
  return [
    nameColumn,
    textColumn('Status', (claim) => textAt(claim, 'status', 'phase')),
    textColumn('Volume', (claim) => textAt(claim, 'spec', 'volumeName')),
    textColumn('Capacity', (claim) => textAt(claim, 'status', 'capacity', 'storage')),
    textColumn('Access Modes', (claim) => listAt(claim, 'status', 'accessModes').join(',')),
    textColumn('StorageClass', (claim) => textAt(claim, 'spec', 'storageClassName')),
    ageColumn,
  ]
}

const persistentVolumeClaims = builtinResource({
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  status: true,
  columns: claimColumns(),
  strategy: {
    returnsDeleted: true,
    default: (claim) => changeObjectField(claim, 'spec', (spec) => withDefaults(spec, { volumeMode: 'Filesystem' })),
    prepareForCreate: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
  },
})

export const clusterResources: readonly ResourceInfo[] = [nodes, events, leases, persistentVolumeClaims]
