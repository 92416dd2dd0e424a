/** Validation of DeleteOptions (k8s.io/apimachinery/pkg/apis/meta/v1/validation: ValidateDeleteOptions). */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { invalidObject } from '../../apimachinery/status-error.ts'

const propagationPolicies = ['Foreground', 'Background', 'Orphan']

/**
 * Validates DeleteOptions.
 *
 * @throws {StatusError} 422 with all field errors.
 */
export function validateDeleteOptions(options: JsonObject): void {
  const policy = options.propagationPolicy ?? null
  const dryRun = options.dryRun ?? []
  const errors = [
    ...(policy !== null && (options.orphanDependents ?? null) !== null
      ? [invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set')]
      : []),
    ...(policy !== null && !propagationPolicies.includes(String(policy))
      ? [notSupported('propagationPolicy', policy, [...propagationPolicies, 'nil'])]
      : []),
    ...dryRunErrors(Array.isArray(dryRun) ? dryRun : [dryRun]),
  ]
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
}

/** Returns the field errors of `dryRun`. The options of all writes have this field. */
export function dryRunErrors(values: readonly JsonValue[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])]
}
