/**
 * Validation of an update of a Pod (k8s.io/kubernetes/pkg/apis/core/validation: ValidatePodUpdate). Most fields of a Pod spec are
 * immutable.
 */
import type { FieldError } from '../../../../api/field-error.ts'
import { forbidden, invalid } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../../../api/json.ts'
import { at, listAt, numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { equalExcept } from '../../defaulting.ts'
import { goStruct, objects } from '../field-checks.ts'
import { validateAnnotationsUpdate } from './annotations.ts'

const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,' +
  '`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

export function validatePodUpdate(pod: JsonObject, oldPod: JsonObject): FieldError[] {
  const [spec, old] = [isObject(pod.spec) ? pod.spec : {}, isObject(oldPod.spec) ? oldPod.spec : {}]
  const errors = validateAnnotationsUpdate(
    at(pod, 'metadata', 'annotations'),
    at(oldPod, 'metadata', 'annotations'),
    'metadata.annotations',
  )
  for (const field of ['containers', 'initContainers']) {
    if (listAt(spec, field).length !== listAt(old, field).length)
      return [...errors, forbidden(`spec.${field}`, 'pod updates may not add or remove containers')]
  }
  const deadline = deadlineError(spec, old)
  if (deadline !== undefined) errors.push(deadline)
  // If the new deadline is invalid, kube-apiserver reports this error and ends the validation. If the update removes the deadline,
  // kube-apiserver also reports an error, but continues the validation.
  if (deadline !== undefined && typeof spec.activeDeadlineSeconds === 'number') return errors
  errors.push(...validateTolerationsUpdate(spec, old), ...validateGatesUpdate(spec, old))
  const isGated = listAt(old, 'schedulingGates').length > 0
  if (isGated) errors.push(...validateSelectorUpdate(spec, old), ...validateAffinityUpdate(spec.affinity, old.affinity))
  return isUnchanged(spec, old, isGated) ? errors : [...errors, forbidden('spec', changeable)]
}

const free = ['containers', 'initContainers', 'activeDeadlineSeconds', 'tolerations', 'schedulingGates']

/** Returns true if each changed field is mutable or is validated by another function. */
function isUnchanged(spec: JsonObject, old: JsonObject, isGated: boolean): boolean {
  const grace =
    numberAt(old, 'terminationGracePeriodSeconds') < 0 && spec.terminationGracePeriodSeconds === 1 ? ['terminationGracePeriodSeconds'] : []
  const hasEqualContainers = (field: string): boolean =>
    objects(listAt(spec, field)).every(([container, index]) => equalExcept(container, listAt(old, field)[index] as JsonObject, 'image'))
  if (!hasEqualContainers('containers') || !hasEqualContainers('initContainers')) return false
  if (!isGated) return equalExcept(spec, old, ...free, ...grace)
  return equalExcept(spec, old, ...free, ...grace, 'nodeSelector', 'affinity') && isSameExceptNodes(spec.affinity, old.affinity)
}

/** Returns true when two affinities are equal or differ only in their node affinities. */
function isSameExceptNodes(affinity: JsonValue | undefined, old: JsonValue | undefined): boolean {
  const split = (value: JsonValue | undefined): { readonly nodes: JsonValue; readonly others: JsonObject } => {
    const { nodeAffinity, ...others } = isObject(value) ? value : {}
    return { nodes: nodeAffinity ?? null, others }
  }
  const [now, before] = [split(affinity), split(old)]
  return jsonEqual(now.nodes, before.nodes) ? jsonEqual(affinity ?? null, old ?? null) : jsonEqual(now.others, before.others)
}

const maxInt32 = 2 ** 31 - 1

function deadlineError(spec: JsonObject, old: JsonObject): FieldError | undefined {
  const [now, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds]
  const path = 'spec.activeDeadlineSeconds'
  if (typeof now !== 'number')
    return typeof before === 'number' ? invalid(path, now ?? null, 'must not update from a positive integer to nil value') : undefined
  if (now < 0 || now > maxInt32) return invalid(path, now, `must be between 0 and ${maxInt32}, inclusive`)
  return typeof before === 'number' && now > before ? invalid(path, now, 'must be less than or equal to previous value') : undefined
}

/**
 * Validates that an update removes no toleration, and changes no field of an existing toleration except `tolerationSeconds`
 * (validateOnlyAddedTolerations).
 */
function validateTolerationsUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const now = objects(listAt(spec, 'tolerations')).map(([toleration]) => toleration)
  const kept = objects(listAt(old, 'tolerations')).every(([toleration]) =>
    now.some((other) => equalExcept(other, toleration, 'tolerationSeconds')),
  )
  return kept ? [] : [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
}

/** Validates that an update adds no scheduling gates (validateOnlyDeletedSchedulingGates). */
function validateGatesUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const before = listAt(old, 'schedulingGates')
  return objects(listAt(spec, 'schedulingGates')).flatMap(([gate, index]) =>
    before.some((other) => jsonEqual(other, gate))
      ? []
      : [
          forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${textAt(gate, 'name')}'`,
          ),
        ],
  )
}

/** Validates that an update only adds entries to `nodeSelector` (validateNodeSelectorMutation). */
function validateSelectorUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const now = isObject(spec.nodeSelector) ? spec.nodeSelector : {}
  const isKept = Object.entries(isObject(old.nodeSelector) ? old.nodeSelector : {}).every(([key, value]) => getOwn(now, key) === value)
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
  return isKept ? [] : [invalid('spec.nodeSelector', spec.nodeSelector ?? null, detail)]
}

const termsPath = ['nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms']

/**
 * Validates an update of a Pod that already has node selector terms. The update may add requirements to existing terms that are not empty.
 * It may not add or remove terms, and may not change or remove requirements (validateNodeAffinityMutation).
 */
function validateAffinityUpdate(affinity: JsonValue | undefined, old: JsonValue | undefined): FieldError[] {
  const [now, before] = [listAt(affinity, ...termsPath), listAt(old, ...termsPath)]
  const path = `spec.affinity.${termsPath.join('.')}`
  if (before.length === 0) return []
  if (before.length !== now.length)
    return [
      invalidJson(
        path,
        at(affinity, ...termsPath) === undefined ? null : now.map(printedTerm),
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ]
  return now.flatMap((term, index) =>
    onlyAdds(term, before[index]!)
      ? []
      : [invalidJson(`${path}[${index}]`, printedTerm(term), 'only additions are allowed (no mutations or deletions)')],
  )
}

const termFields = ['matchExpressions', 'matchFields']

/** Returns true when the update only adds requirements to a node selector term (validateNodeSelectorTermHasOnlyAdditions). */
function onlyAdds(term: JsonValue, old: JsonValue): boolean {
  const isEmpty = termFields.every((field) => listAt(old, field).length === 0)
  return termFields.every((field) => {
    const [now, before] = [listAt(term, field), listAt(old, field)]
    return isEmpty ? now.length === 0 : jsonEqual(now.slice(0, before.length), [...before])
  })
}

/** Converts a node selector term to the form that kube-apiserver's errors show. */
function printedTerm(term: JsonValue): JsonObject {
  const printed = termFields.map((field) => {
    const list = listAt(term, field)
    return [field, list.length === 0 ? null : list.map((one) => goStruct(one, ['key', 'operator', 'values']))] as const
  })
  return goStruct(Object.fromEntries(printed), termFields)
}

/** Returns the error "Invalid value". The message contains the value as JSON, with the fields in their original order. */
function invalidJson(path: string, value: JsonValue, detail: string): FieldError {
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${detail}` }
}
