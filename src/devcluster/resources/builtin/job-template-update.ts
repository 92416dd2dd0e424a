/** Validation of an update of the Pod template of a Job (k8s.io/kubernetes/pkg/apis/batch/validation: validatePodTemplateUpdate). */
import type { FieldError } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { immutable } from './field-checks.ts'

/**
 * Validates that an update does not change the Pod template of a Job. If the Job is suspended and has no active Pods, the update can change
 * scheduling directives, labels, annotations and the resources of containers.
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

/**
 * Returns true if an update of a suspended Job can change the Pod template. The Job must have no active Pods. In addition, the Job must not
 * have started, or must have the condition Suspended (k8s.io/kubernetes/pkg/registry/batch/job: shouldAllowMutablePodTemplate).
 */
function hasMutableTemplate(job: JsonObject): boolean {
  const isStarted = at(job, 'status', 'startTime') !== undefined
  const conditions = listAt(job, 'status', 'conditions')
  const hasStopped = conditions.some((condition) => textAt(condition, 'type') === 'Suspended' && textAt(condition, 'status') === 'True')
  return (!isStarted || hasStopped) && numberAt(job, 'status', 'active') === 0
}

/** Returns the old Pod spec with the new values of the fields that an update can change. */
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

/**
 * Replaces the node affinity of a Pod spec, and keeps the other affinities. Returns undefined if nothing remains and `affinity` is absent.
 *
 * @param affinity the affinity of the new Pod spec, which contains the new node affinity.
 * @param old the affinity of the old Pod spec, which contains the other affinities.
 */
function withNodeAffinity(affinity: JsonValue | undefined, old: JsonValue | undefined): JsonValue | undefined {
  const before = isObject(old) ? old : {}
  const { nodeAffinity: _before, ...others } = before
  if (!isObject(affinity)) return Object.keys(others).length === 0 ? undefined : others
  return dropUndefined({ ...others, nodeAffinity: affinity.nodeAffinity })
}

/**
 * Returns the old containers with new resources. An old container gets the resources of the new container at the same index if both
 * containers have the same name.
 */
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
