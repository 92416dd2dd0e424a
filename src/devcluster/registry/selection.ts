/** Label and field selectors of a list, watch or deletecollection. */
import type { JsonObject } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import type { LabelRequirement, Labels } from '../../api/label-selector.ts'
import { matchesLabels, parseLabelSelector } from '../../api/label-selector.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { FieldRequirement } from '../storage/field-selector.ts'
import { exactValue, matchesFields, parseFieldSelector } from '../storage/field-selector.ts'
import { metadataOf, metadataText } from './metadata.ts'
import { badRequest } from '../apimachinery/status-error.ts'

export interface Selection {
  /** True when there is no selector. A page can contain `remainingItemCount` only if there is no selector. */
  readonly everything: boolean
  matches(object: JsonObject): boolean
}

/**
 * Returns the `Selection` of a request (k8s.io/apiserver/pkg/endpoints/handlers: ListResource). With `name`, the `Selection` matches only
 * the object with this name.
 *
 * Throws 400 in these cases:
 *
 * - A selector is malformed.
 * - The field selector contains a field that cannot be selected.
 * - The request has a `name`, and its field selector does not require this name.
 */
export function selectionOf(
  info: ResourceInfo,
  options: { readonly labelSelector?: string | undefined; readonly fieldSelector?: string | undefined; readonly name?: string | undefined },
): Selection {
  const labels = parse(options.labelSelector, parseLabelSelector)
  const given = parse(options.fieldSelector, parseFieldSelector)
  checkFields(info, given)
  const fields = options.name === undefined ? given : named(given, options.name)
  const needsFields = fields.length > 0
  return {
    everything: labels.length === 0 && !needsFields,
    matches: (object) => matchesLabels(labels, labelsOf(object)) && (!needsFields || matchesFields(fields, fieldsOf(info, object))),
  }
}

function parse<T extends LabelRequirement | FieldRequirement>(text: string | undefined, parser: (text: string) => T[]): T[] {
  if (text === undefined || text === '') return []
  try {
    return parser(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(error.message)
    throw error
  }
}

/**
 * Returns the field requirements of a request for the object `name`. If the request has no field selector, returns the requirement
 * `metadata.name=NAME`. Throws 400 for a field selector that does not require this name.
 */
function named(fields: readonly FieldRequirement[], name: string): readonly FieldRequirement[] {
  if (fields.length === 0) return [{ field: 'metadata.name', operator: '=', value: name }]
  if (exactValue(fields, 'metadata.name') === name) return fields
  throw badRequest("fieldSelector metadata.name doesn't match requested name")
}

function checkFields(info: ResourceInfo, requirements: readonly FieldRequirement[]): void {
  const own = info.selectableFields({})
  for (const { field } of requirements) {
    if (field === 'metadata.name' || field === 'metadata.namespace' || Object.hasOwn(own, field)) continue
    throw badRequest(
      info.custom || Object.keys(own).length > 0
        ? `field label not supported: ${field}`
        : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    )
  }
}

function fieldsOf(info: ResourceInfo, object: JsonObject): Record<string, string> {
  return {
    'metadata.name': metadataText(object, 'name'),
    'metadata.namespace': metadataText(object, 'namespace'),
    ...info.selectableFields(object),
  }
}

function labelsOf(object: JsonObject): Labels {
  const { labels } = metadataOf(object)
  return isObject(labels) ? (labels as Labels) : {}
}
