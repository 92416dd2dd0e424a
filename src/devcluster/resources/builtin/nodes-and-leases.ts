/** The built-in types Node and Lease. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, orNone, textColumn } from '../columns.ts'
import { at, listAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { nonNegative } from './field-checks.ts'

const rolePrefix = 'node-role.kubernetes.io/'
const oldRoleLabel = 'kubernetes.io/role'

function nodeStatus(node: JsonObject): string {
  const ready = listAt(node, 'status', 'conditions').find((condition) => at(condition, 'type') === 'Ready')
  const text = ready === undefined ? 'Unknown' : at(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return at(node, 'spec', 'unschedulable') === true ? `${text},SchedulingDisabled` : text
}

function nodeRoles(node: JsonObject): string {
  const labels = at(node, 'metadata', 'labels')
  const roles = Object.entries(isObject(labels) ? labels : {}).flatMap(([key, value]) =>
    key.startsWith(rolePrefix) ? [key.slice(rolePrefix.length)] : key === oldRoleLabel ? [String(value)] : [],
  )
  return orNone([...new Set(roles.filter((role) => role !== ''))].sort().join(','))
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

function kernelOf(node: JsonObject): string {
  const [version, architecture] = ['kernelVersion', 'architecture'].map((field) => textAt(node, 'status', 'nodeInfo', field))
  return (architecture === '' ? version : `${version} (${architecture})`) || '<unknown>'
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
    textColumn('Kernel-Version', kernelOf, 1),
    nodeInfo('Container-Runtime', 'containerRuntimeVersion'),
  ],
  selectableFields: (node) => ({ 'spec.unschedulable': String(at(node, 'spec', 'unschedulable') === true) }),
  strategy: {
    keepsStatus: true,
    default: (node) =>
      changeObjectField(node, 'status', (status) =>
        isObject(status.capacity) ? withDefaults(status, { allocatable: status.capacity }) : status,
      ),
    admit: tainted,
  },
})

/**
 * Adds the not-ready taint to a new Node (k8s.io/kubernetes/plugin/pkg/admission/nodetaint). The node lifecycle controller later removes
 * the taint. Unlike in kube-apiserver, a Node that is created with the condition Ready=True gets no taint. If the node lifecycle controller
 * is disabled, Pods can therefore still be scheduled to such a Node.
 */
function tainted(node: JsonObject): JsonObject {
  const taints = listAt(node, 'spec', 'taints')
  const key = 'node.kubernetes.io/not-ready'
  if (
    nodeStatus(node).startsWith('Ready') ||
    taints.some((taint) => textAt(taint, 'key') === key && textAt(taint, 'effect') === 'NoSchedule')
  )
    return node
  return { ...node, spec: { ...(isObject(node.spec) ? node.spec : {}), taints: [...taints, { key, effect: 'NoSchedule' }] } }
}

function validateLease(lease: JsonObject): FieldError[] {
  const [duration, transitions] = [at(lease, 'spec', 'leaseDurationSeconds'), at(lease, 'spec', 'leaseTransitions')]
  return [
    ...(typeof duration === 'number' && duration <= 0 ? [invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')] : []),
    ...nonNegative(transitions, 'spec.leaseTransitions'),
  ]
}

const leases = builtinResource({
  group: 'coordination.k8s.io',
  kind: 'Lease',
  plural: 'leases',
  columns: [nameColumn, textColumn('Holder', (lease) => textAt(lease, 'spec', 'holderIdentity')), ageColumn],
  strategy: { validate: validateLease },
})

export const clusterResources: readonly ResourceInfo[] = [nodes, leases]
