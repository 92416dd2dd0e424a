/** Validation before a write: metadata, the type's own rules, the schema. */
import type { FieldError } from '../../api/field-error.ts'
import { formatFieldError } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { pathSegmentName } from '../../api/names.ts'
import { validateObjectMeta } from '../../api/object-meta.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { metadataText, validateMetadataUpdate } from './metadata.ts'
import { invalidObject } from '../apimachinery/status-error.ts'

/**
 * Throws 422 with all field errors. `old` is undefined for a create. `warn` is called for violated rules that `old` violates, too
 * (ratcheting).
 */
export function validateForWrite(
  info: ResourceInfo,
  object: JsonObject,
  old: JsonObject | undefined,
  subresource: string,
  warn: (text: string) => void,
): void {
  const name = info.strategy.name
  const errors: FieldError[] = [
    ...validateObjectMeta(object.metadata, {
      namespaced: info.namespaced,
      qualifiedFinalizers: !info.custom && info.group !== 'apiextensions.k8s.io',
      // Names are immutable, so that an update does not validate them by the type's rules again.
      ...(old !== undefined ? { name: pathSegmentName } : name === undefined ? {} : { name }),
    }),
    ...(old === undefined ? [] : validateMetadataUpdate(object, old)),
    ...(info.strategy.validate?.(object, old, subresource) ?? []),
    ...((subresource === 'status' ? info.schema?.validateStatus(object, old) : info.schema?.validateStructure(object, old)) ?? []),
  ]
  errors.push(...(info.schema?.validateRules(object, old, errors, (found) => warn(formatFieldError(found))) ?? []))
  if (errors.length === 0) return
  // A type in several groups, such as events, reports the group in which it is stored.
  const [group = ''] = info.storageKey.split('/')
  throw invalidObject({ group, kind: info.kind }, metadataText(object, 'name'), errors)
}
