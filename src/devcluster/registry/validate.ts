/** Validation before a write: metadata, the rules of the type, and its schema. */
import type { FieldError } from '../../api/field-error.ts'
import { formatFieldError } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { pathSegmentName } from '../../api/name-syntax.ts'
import { validateObjectMeta } from '../../api/object-meta.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { metadataText, validateMetadataUpdate } from './metadata.ts'
import { invalidObject } from '../apimachinery/status-error.ts'

/**
 * Throws 422 with all field errors. `old` is undefined for a create. If a value violates a CEL rule, and the update does not change the
 * value, the violation is not an error (ratcheting). Instead, `warn` is called with a message about the violation.
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
      // Names are immutable. For an update, the name must therefore only be a valid path segment. The name rules of the type apply only to
      // a create.
      ...(old !== undefined ? { name: pathSegmentName } : name === undefined ? {} : { name }),
    }),
    ...(old === undefined ? [] : validateMetadataUpdate(object, old)),
    ...(info.strategy.validate?.(object, old, subresource) ?? []),
    ...((subresource === 'status' ? info.schema?.validateStatus(object, old) : info.schema?.validateStructure(object, old)) ?? []),
  ]
  errors.push(...(info.schema?.validateRules(object, old, errors, (found) => warn(formatFieldError(found))) ?? []))
  if (errors.length === 0) return
  // If a type is served in several groups, such as events, the error contains the group in which the type is stored.
  const [group = ''] = info.storageKey.split('/')
  throw invalidObject({ group, kind: info.kind }, metadataText(object, 'name'), errors)
}
