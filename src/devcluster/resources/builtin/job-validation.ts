/** Validation of the spec of a Job (k8s.io/kubernetes/pkg/apis/batch/validation: validateJobSpec). */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required, tooLong } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { domainPrefixedPathErrors } from '../../apimachinery/domain-prefixed-path.ts'
import { textAt } from '../../apimachinery/unstructured.ts'
import { nonNegative, validateOptionalEnum } from './field-checks.ts'
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policy-validation.ts'
import { validatePodTemplate } from './pod-validation.ts'

const restartPolicies = ['OnFailure', 'Never']
const maxManagedByLength = 63
/**
 * Maximum value of each of the fields `parallelism` and `maxFailedIndexes` of an Indexed Job. A Job with `backoffLimitPerIndex` and more
 * than `maxIndexes` completions has the lower maximum `maxIndexesOfLargeJob`.
 */
const maxIndexes = 100_000
const maxIndexesOfLargeJob = 10_000

const nonNegativeFields = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
]

export function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  const errors = nonNegativeFields.flatMap((field) => nonNegative(spec[field], `${path}.${field}`))
  const isIndexed = spec.completionMode === 'Indexed'
  errors.push(...validateManagedBy(spec.managedBy, `${path}.managedBy`))
  errors.push(...validateOptionalEnum(spec, 'completionMode', path, ['NonIndexed', 'Indexed']))
  if (typeof spec.maxFailedIndexes === 'number' && typeof spec.backoffLimitPerIndex !== 'number')
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  errors.push(...(isIndexed ? validateIndexes(spec, path) : []))
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'])
    if (typeof spec[field] === 'number' && (spec.completionMode ?? 'NonIndexed') === 'NonIndexed')
      errors.push(invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'))
  const hasFailurePolicy = isObject(spec.podFailurePolicy)
  if (hasFailurePolicy) errors.push(...validatePodFailurePolicy(spec, path))
  if (isObject(spec.successPolicy))
    errors.push(
      ...(isIndexed
        ? validateSuccessPolicy(spec, path)
        : [invalid(`${path}.successPolicy`, spec.successPolicy, 'requires indexed completion mode')]),
    )
  errors.push(
    ...validateOptionalEnum(spec, 'podReplacementPolicy', path, hasFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']),
  )
  errors.push(...validatePodTemplate(spec.template, `${path}.template`))
  return [...errors, ...validateRestartPolicy(textAt(spec, 'template', 'spec', 'restartPolicy'), path, hasFailurePolicy)]
}

function validateRestartPolicy(policy: string, specPath: string, hasFailurePolicy: boolean): FieldError[] {
  const path = `${specPath}.template.spec.restartPolicy`
  if (policy === 'Always' || policy === '') return [required(path, 'valid values: "OnFailure", "Never"')]
  if (!restartPolicies.includes(policy)) return [notSupported(path, policy, restartPolicies)]
  return hasFailurePolicy && policy !== 'Never'
    ? [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : []
}

/** Validates `completions`, `parallelism` and `maxFailedIndexes` of an Indexed Job. */
function validateIndexes(spec: JsonObject, path: string): FieldError[] {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec
  const errors: FieldError[] = []
  const atMost = (field: string, max: number | string, when = ''): void => {
    errors.push(invalid(`${path}.${field}`, spec[field], `must be less than or equal to ${max}${when}`))
  }
  const isAbove = (value: unknown, max: number): boolean => typeof value === 'number' && value > max
  if (typeof completions !== 'number') errors.push(required(`${path}.completions`, 'when completion mode is Indexed'))
  if (isAbove(parallelism, maxIndexes)) atMost('parallelism', maxIndexes, ' when completion mode is Indexed')
  if (typeof completions === 'number' && isAbove(maxFailedIndexes, completions)) atMost('maxFailedIndexes', 'completions')
  if (isAbove(maxFailedIndexes, maxIndexes)) atMost('maxFailedIndexes', maxIndexes)
  if (!isAbove(completions, maxIndexes) || typeof backoffLimitPerIndex !== 'number') return errors
  const when = ` when completions are above ${maxIndexes} and used with backoff limit per index`
  if (typeof maxFailedIndexes !== 'number')
    errors.push(required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${maxIndexes}`))
  for (const field of ['parallelism', 'maxFailedIndexes'])
    if (isAbove(spec[field], maxIndexesOfLargeJob)) atMost(field, maxIndexesOfLargeJob, when)
  return errors
}

/** Validates `managedBy`: the name of a controller, e.g. `example.com/jobs`. */
function validateManagedBy(name: unknown, path: string): FieldError[] {
  if (typeof name !== 'string') return []
  return [...domainPrefixedPathErrors(name, path), ...(name.length > maxManagedByLength ? [tooLong(path, maxManagedByLength)] : [])]
}
