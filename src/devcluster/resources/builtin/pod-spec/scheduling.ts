/**
 * Validation of readiness gates, scheduling gates, tolerations and topology spread constraints
 * (k8s.io/kubernetes/pkg/apis/core/validation).
 */
import type { FieldError } from '../../../../api/field-error.ts'
import { duplicate, invalid, notSupported, required } from '../../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../../api/json.ts'
import { isObject } from '../../../../api/json.ts'
import { labelValue, qualifiedName } from '../../../../api/name-syntax.ts'
import { numberAt, textAt } from '../../../apimachinery/unstructured.ts'
import { objects, validateOptionalEnum } from '../field-checks.ts'
import { validateSelector } from '../webhook-validation.ts'
import { validateMatchKeys } from './affinity.ts'

/** Validates `readinessGates` (k8s.io/kubernetes/pkg/apis/core/validation: validateReadinessGates). */
export function validateReadinessGates(gates: readonly JsonValue[], path: string): FieldError[] {
  return gates.flatMap((gate, index) => {
    const type = textAt(gate, 'conditionType')
    return qualifiedName(type).map((detail) => invalid(`${path}[${index}].conditionType`, type, detail))
  })
}

/** Validates `schedulingGates` (k8s.io/kubernetes/pkg/apis/core/validation: validateSchedulingGates). */
export function validateSchedulingGates(gates: readonly JsonValue[], path: string): FieldError[] {
  const taken = new Set<string>()
  return gates.flatMap((gate, index) => {
    const here = `${path}[${index}]`
    const name = textAt(gate, 'name')
    const errors = qualifiedName(name).map((detail) => invalid(here, name, detail))
    if (taken.has(name)) errors.push(duplicate(here, name))
    taken.add(name)
    return errors
  })
}

const actions = ['DoNotSchedule', 'ScheduleAnyway']

/** Validates `topologySpreadConstraints` (k8s.io/kubernetes/pkg/apis/core/validation: validateTopologySpreadConstraints). */
export function validateSpreadConstraints(constraints: readonly JsonValue[], path: string): FieldError[] {
  return objects(constraints).flatMap(([constraint, index]) => {
    const here = `${path}[${index}]`
    const [key, action] = [textAt(constraint, 'topologyKey'), textAt(constraint, 'whenUnsatisfiable')]
    const isRepeated = constraints
      .slice(index + 1)
      .some((other) => textAt(other, 'topologyKey') === key && textAt(other, 'whenUnsatisfiable') === action)
    return [
      ...positive(numberAt(constraint, 'maxSkew'), `${here}.maxSkew`),
      ...(key === '' ? [required(`${here}.topologyKey`, 'can not be empty')] : []),
      ...(actions.includes(action) ? [] : [notSupported(`${here}.whenUnsatisfiable`, action, actions)]),
      ...(isRepeated ? [duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, `{${key}, ${action}}`)] : []),
      ...validateMinDomains(constraint, action, `${here}.minDomains`),
      ...validateOptionalEnum(constraint, 'nodeAffinityPolicy', here, ['Honor', 'Ignore']),
      ...validateOptionalEnum(constraint, 'nodeTaintsPolicy', here, ['Honor', 'Ignore']),
      ...validateMatchKeys(constraint, here),
      ...(isObject(constraint.labelSelector) ? validateSelector(constraint.labelSelector, `${here}.labelSelector`) : []),
    ]
  })
}

function positive(value: number, path: string): FieldError[] {
  return value > 0 ? [] : [invalid(path, value, 'must be greater than zero')]
}

function validateMinDomains({ minDomains }: JsonObject, action: string, path: string): FieldError[] {
  if (typeof minDomains !== 'number') return []
  const errors = positive(minDomains, path)
  if (action === 'DoNotSchedule') return errors
  return [...errors, invalid(path, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`)]
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Validates `tolerations` (k8s.io/kubernetes/pkg/apis/core/validation: ValidateTolerations). */
export function validateTolerations(tolerations: readonly JsonValue[], path: string): FieldError[] {
  return objects(tolerations).flatMap(([toleration, index]) => {
    const here = `${path}[${index}]`
    const [key, operator, effect] = [textAt(toleration, 'key'), textAt(toleration, 'operator'), textAt(toleration, 'effect')]
    const errors = key === '' ? [] : qualifiedName(key).map((detail) => invalid(`${here}.key`, key, detail))
    if (key === '' && operator !== 'Exists') {
      errors.push(
        invalid(`${here}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'),
      )
    }
    if (typeof toleration.tolerationSeconds === 'number' && effect !== 'NoExecute')
      errors.push(invalid(`${here}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    errors.push(...validateOperator(operator, textAt(toleration, 'value'), `${here}.operator`))
    if (effect !== '' && !taintEffects.includes(effect)) errors.push(notSupported(`${here}.effect`, effect, taintEffects))
    return errors
  })
}

const operators = ['Equal', 'Exists']
/**
 * The operators that kube-apiserver rejects if the feature gate TaintTolerationComparisonOperators is disabled. The error nevertheless
 * lists these operators as supported.
 */
const comparisons = ['Lt', 'Gt']

function validateOperator(operator: string, value: string, path: string): FieldError[] {
  if (operator === 'Exists') return value === '' ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")]
  if (operator === '' || operator === 'Equal') {
    const details = labelValue(value)
    return details.length === 0 ? [] : [invalid(path, value, details.join(';'))]
  }
  return [notSupported(path, operator, comparisons.includes(operator) ? [...operators, ...comparisons] : operators)]
}
