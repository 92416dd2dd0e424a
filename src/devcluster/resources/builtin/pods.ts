/** The built-in type Pod, with binding to a node, eviction and graceful deletion. */
import type { Condition } from '../../../api/conditions.ts'
import { mergeConditions } from '../../../api/conditions.ts'
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, formatFieldError, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import type { RequestContext } from '../../apimachinery/request-context.ts'
import { badRequest, bareError, conflict, invalidObject } from '../../apimachinery/status-error.ts'
import { goText } from '../../types/go-text.ts'
import { builtinResource } from '../builtin-resource.ts'
import { at, listAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { SubresourceContext } from '../../rest/subresource.ts'
import { podColumns } from './pod-columns.ts'
import { admitPod, withTolerations } from './pod-admission.ts'
import { defaultGracePeriodSeconds, defaultPod, qosClass } from './pod-defaults.ts'
import { topologyLabels } from './topology-labels.ts'
import { validateEphemeralUpdate } from './pod-spec/ephemeral-containers.ts'
import { withLabelKeys } from './pod-spec/label-keys.ts'
import { validatePodUpdate } from './pod-spec/pod-update.ts'
import { validatePod } from './pod-validation.ts'

const subject = { group: '', kind: 'Pod', plural: 'pods' }
const success: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }
const bindingSubject = { group: '', kind: 'Binding', plural: 'pods/binding' }

export const pods: ResourceInfo = builtinResource({
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  status: true,
  metadataKeptByStatus: ['ownerReferences'],
  subresources: {
    binding: {
      kind: 'Binding',
      verbs: ['create'],
      write: bind,
      created: () => success,
      keepsGeneration: true,
    },
    ephemeralcontainers: { kind: 'Pod', verbs: ['get', 'patch', 'update'], part: ephemeralPart },
    // This entry exists only for discovery. `getPodLog` in the HTTP layer responds to requests for the log.
    log: { kind: 'Pod', verbs: ['get'] },
    eviction: {
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
      otherApiVersion: 'policy/v1beta1',
      verbs: ['create'],
      deletes: evictionOptions,
      created: () => success,
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
    returnsDeleted: true,
    generation: true,
    default: (pod) => changeObjectField(pod, 'spec', defaultPod),
    prepareForCreate: (pod) => {
      const spec = withLabelKeys(specOf(pod), objectAt(pod, 'metadata', 'labels'))
      return { ...pod, spec, status: { phase: 'Pending', ...gated(pod), qosClass: qosClass(spec) } }
    },
    prepareForUpdate: (pod, old, subresource) => {
      const { priority, preemptionPolicy } = specOf(old)
      return changeObjectField(pod, 'spec', (spec) => {
        const kept = withDefaults(spec, { priority, preemptionPolicy })
        return subresource === '' ? withTolerations(kept) : kept
      })
    },
    admit: admitPod,
    validate: (pod, old, subresource) => {
      if (old !== undefined && (subresource === 'status' || subresource === 'binding')) return []
      const own =
        old === undefined
          ? createErrors(specOf(pod))
          : subresource === 'ephemeralcontainers'
            ? validateEphemeralUpdate(pod, old)
            : validatePodUpdate(pod, old)
      return [...validatePod(pod), ...own]
    },
    gracePeriodSeconds,
  },
})

/**
 * Returns the part of a new Pod's status that depends on scheduling gates. If a Pod has scheduling gates, schedulers ignore it, and its
 * condition PodScheduled is False.
 */
function gated(pod: JsonObject): JsonObject {
  if (listAt(specOf(pod), 'schedulingGates').length === 0) return {}
  const message = 'Scheduling is blocked due to non-empty scheduling gates'
  const lastTransitionTime = textAt(pod, 'metadata', 'creationTimestamp')
  return {
    conditions: [{ type: 'PodScheduled', status: 'False', lastProbeTime: null, lastTransitionTime, reason: 'SchedulingGated', message }],
  }
}

/**
 * Returns the stored Pod with the ephemeral containers of the written Pod (k8s.io/kubernetes/pkg/registry/core/pod:
 * podEphemeralContainersStrategy).
 */
function ephemeralPart(written: JsonObject, stored: JsonObject): JsonObject {
  const { managedFields } = objectAt(written, 'metadata')
  const { ephemeralContainers: _before, ...spec } = specOf(stored)
  const { ephemeralContainers } = specOf(written)
  return {
    ...stored,
    metadata: { ...objectAt(stored, 'metadata'), ...(managedFields !== undefined && { managedFields }) },
    spec: { ...spec, ...(ephemeralContainers !== undefined && { ephemeralContainers }) },
  }
}

/** Returns errors for fields that cannot be set in a new Pod (k8s.io/kubernetes/pkg/apis/core/validation: ValidatePodCreate). */
function createErrors(spec: JsonObject): FieldError[] {
  const isGated = listAt(spec, 'schedulingGates').length > 0
  return [
    ...(listAt(spec, 'ephemeralContainers').length === 0 ? [] : [forbidden('spec.ephemeralContainers', 'cannot be set on create')]),
    ...(isGated && textAt(spec, 'nodeName') !== ''
      ? [forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
  ]
}

/**
 * Returns the grace period of a Pod in seconds. If the Pod has no node or has terminated, the grace period is 0. Otherwise, the grace
 * period is `spec.terminationGracePeriodSeconds`, or the default if the field is not set. A negative value counts as 1.
 */
function gracePeriodSeconds(pod: JsonObject): number {
  if (textAt(pod, 'spec', 'nodeName') === '' || ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'))) return 0
  const seconds = at(pod, 'spec', 'terminationGracePeriodSeconds')
  if (typeof seconds !== 'number') return defaultGracePeriodSeconds
  return seconds < 0 ? 1 : seconds
}

/**
 * Handles a POST to `pods/binding`, usually from the scheduler. Returns the Pod with the node of the Binding, and with the labels and
 * annotations of the Binding (k8s.io/kubernetes/pkg/registry/core/pod/storage: BindingREST.setPodNodeAndMetadata). Also adds the topology
 * labels of the node.
 */
function bind(pod: JsonObject, binding: JsonObject, { now, cluster }: SubresourceContext): JsonObject {
  const name = textAt(pod, 'metadata', 'name')
  checkName(name, binding, 'Binding')
  const node = textAt(binding, 'target', 'name')
  const errors = bindingErrors(binding).map(formatFieldError)
  if (errors.length > 0) throw bareError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
  const refuse = (detail: string): Error => conflict(bindingSubject, name, detail)
  if (at(pod, 'metadata', 'deletionTimestamp') !== undefined) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  const assigned = textAt(pod, 'spec', 'nodeName')
  if (assigned !== '') throw refuse(`pod ${name} is already assigned to node "${assigned}"`)
  if (listAt(pod, 'spec', 'schedulingGates').length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  const uid = textAt(binding, 'metadata', 'uid')
  if (uid !== '' && uid !== textAt(pod, 'metadata', 'uid'))
    throw conflict(subject, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${textAt(pod, 'metadata', 'uid')}`)
  const conditions = mergeConditions(conditionsOf(pod), [{ type: 'PodScheduled', status: 'True', reason: '', message: '' }], { now })
  const topology = textAt(binding, 'target', 'kind') === 'Node' ? topologyLabels(node, cluster) : {}
  const bound = withEntries(withEntries(pod, 'annotations', objectAt(binding, 'metadata', 'annotations')), 'labels', {
    ...objectAt(binding, 'metadata', 'labels'),
    ...topology,
  })
  return {
    ...bound,
    spec: { ...specOf(pod), nodeName: node },
    status: { ...(isObject(pod.status) ? pod.status : {}), conditions: conditions.map(conditionJson) },
  }
}

/** Adds entries to the labels or annotations of a Pod. */
function withEntries(pod: JsonObject, field: 'labels' | 'annotations', entries: JsonObject): JsonObject {
  if (Object.keys(entries).length === 0) return pod
  return changeObjectField(pod, 'metadata', (metadata) => ({ ...metadata, [field]: { ...objectAt(metadata, field), ...entries } }))
}

function objectAt(value: JsonObject, ...path: string[]): JsonObject {
  const found = at(value, ...path)
  return isObject(found) ? found : {}
}

/**
 * Returns the errors of a Binding. kube-apiserver lists these errors only in the message of its response. The response has no causes, and
 * its status code is not 422.
 */
function bindingErrors(binding: JsonObject): FieldError[] {
  const kind = textAt(binding, 'target', 'kind')
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(textAt(binding, 'target', 'name') === '' ? [required('target.name')] : []),
  ]
}

/** Returns the `DeleteOptions` of a POST to `pods/eviction`. */
function evictionOptions(name: string, eviction: JsonObject, { options }: Pick<RequestContext, 'options'>): JsonObject {
  checkName(name, eviction, 'Eviction')
  const given = isObject(eviction.deleteOptions) ? eviction.deleteOptions : {}
  if (given.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    const error = invalid(
      'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential',
      true,
      'can not be set for pod eviction, try after removing the option',
    )
    throw invalidObject({ group: 'policy', kind: 'Eviction' }, name, [error])
  }
  return { ...given, dryRun: commonDryRun([...listAt(options, 'dryRun')], [...listAt(given, 'dryRun')]) }
}

/** Returns `dryRun` from the query or from the DeleteOptions in the body. Throws when both are present and differ. */
function commonDryRun(request: JsonValue[], body: JsonValue[]): JsonValue[] {
  if (request.length > 0 && body.length > 0 && !jsonEqual(request, body)) {
    throw bareError(`Non-matching dry-run options in request and content: ${goText(request)} and ${goText(body)}`)
  }
  return body.length > 0 ? body : request
}

function checkName(name: string, body: JsonObject, kind: string): void {
  if (textAt(body, 'metadata', 'name') !== name) throw badRequest(`name in URL does not match name in ${kind} object`)
}

function conditionsOf(pod: JsonObject): readonly Condition[] {
  return listAt(pod, 'status', 'conditions').filter(isObject) as unknown as readonly Condition[]
}

/** Returns the JSON of a condition. Empty fields are omitted, except `lastProbeTime`. */
function conditionJson(condition: Condition): JsonValue {
  return { lastProbeTime: null, ...Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== '')) }
}

function specOf(pod: JsonObject): JsonObject {
  return isObject(pod.spec) ? pod.spec : {}
}
