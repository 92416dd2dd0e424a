/** Converts objects, lists and watch events to the negotiated form (k8s.io/apiserver/pkg/endpoints/handlers: doTransformObject). */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import { failure } from '../../api/status.ts'
import type { ListResult } from '../registry/verbs/list.ts'
import { StatusError, bareError } from '../apimachinery/status-error.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { inGoOrder } from '../types/go-order.ts'
import type { JsonText } from './json-text.ts'
import type { Form } from './negotiate.ts'
import { listMetadataOf, parseIncludeObject, partialListOf, partialOf, tableOf } from './table.ts'

export interface Presentation {
  readonly info: ResourceInfo
  readonly form: Form
  /** The query parameter `includeObject`: the part of an object that a table row contains. Null when the parameter is missing. */
  readonly includeObject: string | null
  readonly jsonText: JsonText
  /** The current time, for ages in tables. */
  readonly now: number
}

export function presentObject(object: JsonObject, presentation: Presentation): JsonObject {
  const { info, form } = presentation
  // kube-apiserver does not convert a Status to a table or to PartialObjectMetadata.
  if (form.as === 'object' || object.kind === 'Status') return object
  if (form.as === 'table') return table([object], listMetadataOf(object), presentation)
  if (form.kind === 'PartialObjectMetadata') return partialOf(object, form.version)
  if (info.custom) throw bareError('content is not a list')
  throw notAcceptable(`you requested ${form.kind}, but the requested object is not a list (${goTypeOf(info, info.kind)})`)
}

export function presentList({ items, metadata }: ListResult, presentation: Presentation): JsonObject {
  const { info, form, jsonText } = presentation
  if (form.as === 'table') return table(items, { ...metadata }, presentation)
  if (form.as === 'object') {
    const type = { kind: info.listKind, apiVersion: apiVersionOf(info) }
    if (!info.custom) return { ...type, metadata: { ...metadata }, items: items.map((item) => jsonText.asItem(item)) }
    // In kube-apiserver, a list of custom resources is a Go map, so the keys in its JSON are sorted. The metadata of such a list always
    // contains `continue`, even if the value is empty.
    const { continue: next = '', ...rest } = metadata
    return {
      apiVersion: type.apiVersion,
      items: [...items],
      kind: type.kind,
      metadata: { continue: next, ...inGoOrder({ ...rest }, undefined) },
    }
  }
  if (form.kind === 'PartialObjectMetadataList') return partialListOf(items, { ...metadata }, form.version)
  throw notAcceptable(`you requested ${form.kind}, but the requested object is a list (${goTypeOf(info, info.listKind)})`)
}

/**
 * Converts the object of a watch event. `columnDefinitions` is true for the first event of a watch. Tables of later events have no column
 * definitions.
 */
export function presentEvent(type: string, object: JsonObject, presentation: Presentation, columnDefinitions: boolean): JsonObject {
  const { form } = presentation
  if (type === 'ERROR' || form.as === 'object') return object
  if (form.as === 'partial') return partialOf(object, form.version)
  return table([object], listMetadataOf(object), presentation, columnDefinitions)
}

function table(objects: readonly JsonObject[], metadata: JsonObject, presentation: Presentation, columnDefinitions = true): JsonObject {
  const { info, form, now } = presentation
  const version = form.as === 'object' ? 'v1' : form.version
  return tableOf(info, objects, metadata, {
    version,
    includeObject: parseIncludeObject(presentation.includeObject),
    now,
    columnDefinitions,
  })
}

function notAcceptable(text: string): StatusError {
  return new StatusError(failure(406, 'NotAcceptable', text))
}

/** Returns the Go name of the type for error messages, e.g. `*core.ConfigMap`. */
function goTypeOf({ custom, group }: ResourceInfo, kind: string): string {
  if (custom) return kind.endsWith('List') ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured'
  return `*${group === '' ? 'core' : group.split('.')[0]}.${kind}`
}
