/** Pods: the row of the table, binding to a node, graceful deletion. */
import type { Condition } from '../../../api/conditions.ts'
import { mergeConditions } from '../../../api/conditions.ts'
import { required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { conflict, invalidObject } from '../../registry/status-error.ts'
import { builtinResource } from '../builtin-resource.ts'
import { at, listAt, textAt } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaults.ts'
import type { ResourceInfo } from '../resource-info.ts'
import { podColumns } from './pod-columns.ts'
import { admitPodSpec, defaultGracePeriodSeconds, defaultPodSpec, qosClass } from './pod-defaults.ts'
import { podShape } from './pod-shape.ts'
import { validatePodSpec, validatePodUpdate } from './pod-validation.ts'

const subject = { group: '', kind: 'Pod', plural: 'pods' }
const bindingSubject = { group: '', kind: 'Binding', plural: 'pods/binding' }

export const pods: ResourceInfo = builtinResource({
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  status: true,
  subresources: {
    binding: {
      kind: 'Binding',
      verbs: ['create'],
      write: bind,
      created: () => ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }),
    },
  },
  columns: podColumns,
  selectableFields: (pod) => ({
    'spec.nodeName': textAt(pod, 'spec', 'nodeName'),
    'spec.restartPolicy': textAt(pod, 'spec', 'restartPolicy'),
    'spec.schedulerName': textAt(pod, 'spec', 'schedulerName'),
    'spec.serviceAccountName': textAt(pod, 'spec', 'serviceAccountName'),
    'spec.hostNetwork': String(at(pod, 'spec', 'hostNetwork') === true),
    'status.phase': textAt(pod, 'status', 'phase'),
    'status.podIP': textAt(pod, 'status', 'podIP'),
    'status.nominatedNodeName': textAt(pod, 'status', 'nominatedNodeName'),
  }),
  strategy: {
    shape: podShape,
    returnsDeleted: true,
    generation: true,
    default: (pod) => changeObjectField(pod, 'spec', (spec) => withDefaults(defaultPodSpec(spec), { enableServiceLinks: true })),
    prepareForCreate: (pod) => ({ ...pod, status: { phase: 'Pending', qosClass: qosClass(specOf(pod)) } }),
    admit: (pod) => changeObjectField(pod, 'spec', admitPodSpec),
    validate: (pod, old, subresource) => {
      if (old !== undefined && (subresource === 'status' || subresource === 'binding')) return []
      return [...validatePodSpec(pod.spec, 'spec'), ...(old === undefined ? [] : validatePodUpdate(specOf(pod), specOf(old)))]
    },
    gracePeriodSeconds,
  },
})

/** Nothing waits for a Pod that never ran or runs no more. */
function gracePeriodSeconds(pod: JsonObject): number {
  if (textAt(pod, 'spec', 'nodeName') === '' || ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'))) return 0
  const seconds = at(pod, 'spec', 'terminationGracePeriodSeconds')
  if (typeof seconds !== 'number') return defaultGracePeriodSeconds
  return seconds < 0 ? 1 : seconds
}

/** POST to `pods/binding`: the scheduler's decision. */
function bind(pod: JsonObject, binding: JsonObject, { now }: { readonly now: number }): JsonObject {
  const name = textAt(pod, 'metadata', 'name')
  const node = textAt(binding, 'target', 'name')
  if (node === '') throw invalidObject(bindingSubject, name, [required('target.name')])
  const refuse = (detail: string): Error => conflict(bindingSubject, name, detail)
  if (at(pod, 'metadata', 'deletionTimestamp') !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  const assigned = textAt(pod, 'spec', 'nodeName')
  if (assigned !== '') throw refuse(`pod ${name} is already assigned to node "${assigned}"`)
  if (listAt(pod, 'spec', 'schedulingGates').length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  const uid = textAt(binding, 'metadata', 'uid')
  if (uid !== '' && uid !== textAt(pod, 'metadata', 'uid'))
    throw conflict(subject, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${textAt(pod, 'metadata', 'uid')}`)
  const conditions = mergeConditions(conditionsOf(pod), [{ type: 'PodScheduled', status: 'True', reason: '', message: '' }], { now })
  return {
    ...pod,
    spec: { ...specOf(pod), nodeName: node },
    status: { ...(isObject(pod.status) ? pod.status : {}), conditions: conditions.map(conditionJson) },
  }
}

function conditionsOf(pod: JsonObject): readonly Condition[] {
  return listAt(pod, 'status', 'conditions').filter(isObject) as unknown as readonly Condition[]
}

/** A Pod's conditions leave out what is empty. */
function conditionJson(condition: Condition): JsonValue {
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== '')) as JsonObject
}

function specOf(pod: JsonObject): JsonObject {
  return isObject(pod.spec) ? pod.spec : {}
}
