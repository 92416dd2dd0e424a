/** Validation of an update of the Pod template of a Job (k8s.io/kubernetes/pkg/apis/batch/validation: validatePodTemplateUpdate). */
import type { FieldError } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { immutable } from './field-checks.ts'

/**
 * The template is immutable. While the Job is suspended and has no Pods, scheduling directives, labels, annotations and the resources of
 * containers may change.
 */
export function validateTemplateUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const [template, before] = [spec.template, at(old, 'spec', 'template')]
  if (!isObject(template) || !isObject(before)) return immutable(template, before, 'spec.template')
  const isSuspended = at(old, 'spec', 'suspend') === true
  if (!isSuspended || !hasMutableTemplate(old)) return immutable(template, before, 'spec.template')
  const [pod, podBefore] = [template.spec, before.spec]
  const allowed = isObject(pod) && isObject(podBefore) ? withChangeable(pod, podBefore) : podBefore
  return immutable(pod, allowed, 'spec.template.spec')
}

/** True for a suspended Job that has no active Pods (k8s.io/kubernetes/pkg/registry/batch/job: shouldAllowMutablePodTemplate). */
function hasMutableTemplate(job: JsonObject): boolean {
  const isStarted = at(job, 'status', 'startTime') !== undefined
  const conditions = listAt(job, 'status', 'conditions')
  const hasStopped = conditions.some((condition) => textAt(condition, 'type') === 'Suspended' && textAt(condition, 'status') === 'True')
  return (!isStarted || hasStopped) && numberAt(job, 'status', 'active') === 0
}

/** Returns the old Pod spec with all fields of the new one that may change. */
function withChangeable(pod: JsonObject, old: JsonObject): JsonObject {
  const affinity = withNodeAffinity(pod.affinity, old.affinity)
  const taken = { ...old, affinity, nodeSelector: pod.nodeSelector, tolerations: pod.tolerations, schedulingGates: pod.schedulingGates }
  const { containers, initContainers } = old
  return dropUndefined({
    ...taken,
    containers: withResources(pod.containers, containers),
    initContainers: withResources(pod.initContainers, initContainers),
  })
}

/** Returns the old affinity with the new node affinity. Removing the whole affinity is allowed if it was only a node affinity. */
function withNodeAffinity(affinity: JsonValue | undefined, old: JsonValue | undefined): JsonValue | undefined {
  const before = isObject(old) ? old : {}
  const { nodeAffinity: _before, ...others } = before
  if (!isObject(affinity)) return Object.keys(others).length === 0 ? undefined : others
  return dropUndefined({ ...others, nodeAffinity: affinity.nodeAffinity })
}

/** Returns the old containers with the new resources, where the names of the containers agree. */
function withResources(containers: JsonValue | undefined, old: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(containers) || !Array.isArray(old) || containers.length !== old.length) return old
  return old.map((container, index) =>
    isObject(container) && textAt(container, 'name') === textAt(containers[index], 'name')
      ? dropUndefined({ ...container, resources: at(containers[index], 'resources') })
      : container,
  )
}

function dropUndefined(object: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined))
}
