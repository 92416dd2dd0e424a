/** The checks before a write: metadata, the type's own rules, the schema. */
import type { FieldError } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import { validateObjectMeta } from '../../api/object-meta.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import { metadataText, validateMetadataUpdate } from './metadata.ts'
import { invalidObject } from './status-error.ts'

/** Throws 422 with everything that is wrong. `old` is undefined for a create. */
export function validateForWrite(info: ResourceInfo, object: JsonObject, old: JsonObject | undefined, subresource: string): void {
  const name = info.strategy.name
  const errors: FieldError[] = [
    ...validateObjectMeta(object.metadata, { namespaced: info.namespaced, ...(name === undefined ? {} : { name }) }),
    ...(old === undefined ? [] : validateMetadataUpdate(object, old)),
    ...(info.strategy.validate?.(object, old, subresource) ?? []),
    ...(info.schema?.validate(object, old) ?? []),
  ]
  if (errors.length > 0) throw invalidObject(info, metadataText(object, 'name'), errors)
}
