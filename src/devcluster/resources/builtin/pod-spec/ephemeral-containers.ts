/** Validation of ephemeral containers (k8s.io/kubernetes/pkg/apis/core/validation). */
import type { FieldError } from '../../../../api/field-error.ts'
import { duplicate, forbidden, notFoundField } from '../../../../api/field-error.ts'
import type { JsonObject } from '../../../../api/json.ts'
import { isObject, jsonEqual } from '../../../../api/json.ts'
import { at, listAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects } from '../field-checks.ts'
import { validateContainer, validateImage } from './containers.ts'
import type { PodFacts } from './pod-facts.ts'

/**
 * The fields that ephemeral containers cannot have. The fields have the order of Go's struct for containers
 * (allowedEphemeralContainerFields).
 */
const unavailable = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
]
const unset = 'cannot be set for an Ephemeral Container'

/** Validates the ephemeral containers of a Pod (validateEphemeralContainers). */
export function validateEphemeralContainers(spec: JsonObject, path: string, pod: PodFacts): FieldError[] {
  if (listAt(spec, 'ephemeralContainers').length === 0) return []
  const names = (field: string): string[] => objects(listAt(spec, field)).map(([container]) => textAt(container, 'name'))
  const others = new Set([...names('containers'), ...names('initContainers')])
  const taken = new Set(others)
  return objects(listAt(spec, 'ephemeralContainers')).flatMap(([container, index]) => {
    const here = `${path}[${index}]`
    const errors = [...validateContainer(container, here, pod), ...validateImage(container, here)]
    const name = textAt(container, 'name')
    if (taken.has(name)) errors.push(duplicate(`${here}.name`, name))
    taken.add(name)
    const target = textAt(container, 'targetContainerName')
    if (target !== '' && !others.has(target)) errors.push(notFoundField(`${here}.targetContainerName`, target))
    for (const field of unavailable) if (isSet(container, field)) errors.push(forbidden(`${here}.${field}`, unset))
    for (const [mount, place] of objects(listAt(container, 'volumeMounts'))) {
      for (const field of ['subPath', 'subPathExpr'])
        if (textAt(mount, field) !== '') errors.push(forbidden(`${here}.volumeMounts[${place}].${field}`, unset))
    }
    return errors
  })
}

/** True when a field has a value other than Go's zero value. */
function isSet(container: JsonObject, field: string): boolean {
  const value = container[field]
  if (value === undefined || value === null || value === '') return false
  if (Array.isArray(value)) return value.length > 0
  return field === 'resources' && isObject(value) ? Object.keys(value).length > 0 : true
}

/** Validates that an update only adds ephemeral containers (ValidatePodEphemeralContainersUpdate). */
export function validateEphemeralUpdate(pod: JsonObject, old: JsonObject): FieldError[] {
  if (at(old, 'metadata', 'annotations', 'kubernetes.io/config.mirror') !== undefined)
    return [forbidden('', 'static pods do not support ephemeral containers')]
  const path = 'spec.ephemeralContainers'
  const now = new Map(objects(listAt(pod, ...ephemeral)).map(([container]) => [textAt(container, 'name'), container]))
  return objects(listAt(old, ...ephemeral)).flatMap(([container]) => {
    const name = textAt(container, 'name')
    const current = now.get(name)
    if (current === undefined) return [forbidden(path, `existing ephemeral containers ${JSON.stringify(name)} may not be removed\n`)]
    // kube-apiserver's message ends with the difference between the two containers. This message does not contain the difference.
    return jsonEqual(current, container)
      ? []
      : [forbidden(path, `existing ephemeral containers ${JSON.stringify(name)} may not be changed\n`)]
  })
}

const ephemeral = ['spec', 'ephemeralContainers']
