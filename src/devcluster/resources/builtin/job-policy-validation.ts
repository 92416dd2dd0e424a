/** Validation of `podFailurePolicy` and `successPolicy` of a Job (k8s.io/kubernetes/pkg/apis/batch/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, invalid, notSupported, quote, required, tooLong, tooMany } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { qualifiedName } from '../../../api/name-syntax.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { nonNegative, objects } from './field-checks.ts'

const maxRules = 20
const maxExitCodes = 255
const maxPatterns = 20
const maxSucceededIndexes = 64 * 1024

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const conditionStatuses = ['False', 'True', 'Unknown']

/** Validates a required enum field. The error for an empty value lists the valid values. */
function validateChoice(value: string, path: string, values: readonly string[]): FieldError[] {
  if (value === '') return [required(path, `valid values: [${values.map(quote).join(' ')}]`)]
  return values.includes(value) ? [] : [notSupported(path, value, values)]
}

/** Returns the error "Invalid value" without the value itself. */
function invalidWithoutValue(path: string, detail: string): FieldError {
  return { path, reason: 'FieldValueInvalid', message: `Invalid value: ${detail}` }
}

/** Validates `podFailurePolicy` of a Job's spec. */
export function validatePodFailurePolicy(spec: JsonObject, specPath: string): FieldError[] {
  const path = `${specPath}.podFailurePolicy.rules`
  const rules = listAt(spec, 'podFailurePolicy', 'rules')
  const pod = at(spec, 'template', 'spec')
  const names = new Set([...listAt(pod, 'containers'), ...listAt(pod, 'initContainers')].map((container) => textAt(container, 'name')))
  const hasLimitPerIndex = typeof spec.backoffLimitPerIndex === 'number'
  return [
    ...(rules.length > maxRules ? [tooMany(path, rules.length, maxRules)] : []),
    ...objects(rules).flatMap(([rule, index]) => validateFailureRule(rule, `${path}[${index}]`, names, hasLimitPerIndex)),
  ]
}

function validateFailureRule(rule: JsonObject, path: string, names: ReadonlySet<string>, hasLimitPerIndex: boolean): FieldError[] {
  const action = textAt(rule, 'action')
  const { onExitCodes } = rule
  const hasExitCodes = onExitCodes !== undefined && onExitCodes !== null
  const hasConditions = sizeAt(rule, 'onPodConditions') > 0
  return [
    ...(action === 'FailIndex' && !hasLimitPerIndex
      ? [invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set')]
      : validateChoice(action, `${path}.action`, actions)),
    ...(hasExitCodes ? validateExitCodes(onExitCodes, `${path}.onExitCodes`, names) : []),
    ...validatePatterns(listAt(rule, 'onPodConditions'), `${path}.onPodConditions`),
    ...(hasExitCodes && hasConditions
      ? [invalidWithoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported')]
      : hasExitCodes || hasConditions
        ? []
        : [invalidWithoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required')]),
  ]
}

function validatePatterns(patterns: readonly JsonValue[], path: string): FieldError[] {
  return [
    ...(patterns.length > maxPatterns ? [tooMany(path, patterns.length, maxPatterns)] : []),
    ...objects(patterns).flatMap(([pattern, index]) => {
      const type = textAt(pattern, 'type')
      return [
        ...qualifiedName(type).map((problem) => invalid(`${path}[${index}].type`, type, problem)),
        ...validateChoice(textAt(pattern, 'status'), `${path}[${index}].status`, conditionStatuses),
      ]
    }),
  ]
}

function validateExitCodes(requirement: JsonValue, path: string, names: ReadonlySet<string>): FieldError[] {
  const operator = textAt(requirement, 'operator')
  const container = at(requirement, 'containerName')
  const values = listAt(requirement, 'values')
  const errors = validateChoice(operator, `${path}.operator`, operators)
  if (typeof container === 'string' && !names.has(container))
    errors.push(invalid(`${path}.containerName`, container, 'must be one of the container or initContainer names in the pod template'))
  if (values.length === 0) errors.push(invalid(`${path}.values`, at(requirement, 'values') ?? null, 'at least one value is required'))
  else if (values.length > maxExitCodes) errors.push(tooMany(`${path}.values`, values.length, maxExitCodes))
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0) errors.push(invalid(`${path}.values[${index}]`, value, 'must not be 0 for the In operator'))
    if (values.indexOf(value) < index) errors.push(duplicate(`${path}.values[${index}]`, value))
  }
  const isOrdered = values.every((value, index) => index === 0 || Number(values[index - 1]) <= Number(value))
  return isOrdered ? errors : [...errors, invalid(`${path}.values`, values, 'must be ordered')]
}

/** Validates `successPolicy` of the spec of an Indexed Job. */
export function validateSuccessPolicy(spec: JsonObject, specPath: string): FieldError[] {
  const path = `${specPath}.successPolicy.rules`
  const rules = listAt(spec, 'successPolicy', 'rules')
  const completions = numberAt(spec, 'completions')
  return [
    ...(rules.length === 0 ? [required(path, 'at least one rules must be specified when the successPolicy is specified')] : []),
    ...(rules.length > maxRules ? [tooMany(path, rules.length, maxRules)] : []),
    ...objects(rules).flatMap(([rule, index]) => validateSuccessRule(rule, `${path}[${index}]`, completions)),
  ]
}

function validateSuccessRule(rule: JsonObject, path: string, completions: number): FieldError[] {
  const { succeededIndexes: indexes, succeededCount: count } = rule
  const errors: FieldError[] = []
  if (typeof indexes !== 'string' && typeof count !== 'number')
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  let total = 0
  if (typeof indexes === 'string') {
    if (Buffer.byteLength(indexes) > maxSucceededIndexes) errors.push(tooLong(`${path}.succeededIndexes`, maxSucceededIndexes))
    const counted = countIndexes(indexes, completions)
    if (typeof counted === 'number') total = counted
    else errors.push(invalid(`${path}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${counted}`))
  }
  if (typeof count !== 'number') return errors
  const atMost = (max: number, of: string): FieldError =>
    invalid(`${path}.succeededCount`, count, `must be less than or equal to ${max} (the number of ${of})`)
  errors.push(...nonNegative(count, `${path}.succeededCount`))
  if (count > completions) errors.push(atMost(completions, 'specified completions'))
  if (typeof indexes === 'string' && count > total) errors.push(atMost(total, 'indexes in the specified succeededIndexes field'))
  return errors
}

/**
 * Returns the number of indexes in a list of intervals such as `0-2,5`. Returns an error message if the list is invalid
 * (k8s.io/kubernetes/pkg/apis/batch/validation: validateIndexesFormat).
 */
function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let [total, last] = [0, -1]
  const notIncreasing = (before: number, index: number): string => `non-increasing order, previous: ${before}, current: ${index}`
  for (const interval of text.split(',')) {
    const limits = interval.split('-')
    if (limits.length > 2)
      return `the fragment ${quote(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`
    for (const limit of limits) {
      if (!/^\+?\d+$/.test(limit)) return `cannot convert string to integer for index: ${quote(limit)}`
      if (Number(limit) >= completions) return `too large index: ${quote(limit)}`
    }
    const [first, end = first] = limits.map(Number) as [number, number?]
    if (limits.length === 2 && first >= end) return notIncreasing(first, end)
    if (last >= first) return notIncreasing(last, first)
    total += end - first + 1
    last = end
  }
  return total
}
