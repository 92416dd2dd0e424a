/** Validation of the field `rollingUpdate` of workloads (k8s.io/kubernetes/pkg/apis/apps/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, required } from '../../../api/field-error.ts'
import type { JsonValue } from '../../../api/json.ts'
import { at } from '../../apimachinery/unstructured.ts'
import { nonNegative } from './field-checks.ts'

const percent = /^[0-9]+%$/
const notPercent =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** Validates `rollingUpdate` of a Deployment (ValidateRollingUpdateDeployment). The defaults have already been applied. */
export function validateDeploymentUpdate(update: JsonValue | undefined, path: string): FieldError[] {
  const [unavailable, surge] = [at(update, 'maxUnavailable'), at(update, 'maxSurge')]
  const isStuck = amountOf(unavailable) === 0 && amountOf(surge) === 0
  return [
    ...countOrPercent(unavailable, `${path}.maxUnavailable`),
    ...countOrPercent(surge, `${path}.maxSurge`),
    ...(isStuck ? [invalid(`${path}.maxUnavailable`, unavailable, 'may not be 0 when `maxSurge` is 0')] : []),
    ...atMostAll(unavailable, `${path}.maxUnavailable`),
  ]
}

/** Validates `rollingUpdate` of a DaemonSet. Exactly one of `maxUnavailable` and `maxSurge` must be 0 (ValidateRollingUpdateDaemonSet). */
export function validateDaemonSetUpdate(update: JsonValue | undefined, path: string): FieldError[] {
  const [unavailable, surge] = [at(update, 'maxUnavailable'), at(update, 'maxSurge')]
  const [hasUnavailable, hasSurge] = [amountOf(unavailable) !== 0, amountOf(surge) !== 0]
  return [
    ...countOrPercent(unavailable, `${path}.maxUnavailable`),
    ...countOrPercent(surge, `${path}.maxSurge`),
    ...atMostAll(unavailable, `${path}.maxUnavailable`),
    ...atMostAll(surge, `${path}.maxSurge`),
    ...(hasUnavailable && hasSurge ? [invalid(`${path}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero')] : []),
    ...(hasUnavailable || hasSurge ? [] : [required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]),
  ]
}

/**
 * Validates that a value is a non-negative integer or a percentage (k8s.io/kubernetes/pkg/apis/apps/validation:
 * ValidatePositiveIntOrPercent).
 */
function countOrPercent(value: JsonValue | undefined, path: string): FieldError[] {
  if (typeof value !== 'string') return nonNegative(value, path)
  return percent.test(value) ? [] : [invalid(path, value, notPercent)]
}

/** Validates that a percentage is at most 100 % (k8s.io/kubernetes/pkg/apis/apps/validation: IsNotMoreThan100Percent). */
function atMostAll(value: JsonValue | undefined, path: string): FieldError[] {
  return typeof value === 'string' && percent.test(value) && amountOf(value) > 100
    ? [invalid(path, value, 'must not be greater than 100%')]
    : []
}

/**
 * Returns the value of a count, or the number of a percentage, e.g. 50 for `50%`. Returns 0 for a missing value, and for a text that is
 * neither a count nor a percentage (getIntOrPercentValue).
 */
function amountOf(value: JsonValue | undefined): number {
  if (typeof value !== 'string') return Number(value ?? 0)
  return /^(?:[+-]?[0-9]+|[0-9]+%)$/.test(value) ? parseInt(value, 10) : 0
}
