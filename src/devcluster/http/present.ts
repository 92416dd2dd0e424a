/** Objects, lists and watch events in the form that the client asked for. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import type { Form } from './negotiate.ts'
import type { IncludeObject } from './table.ts'
import { listMetadataOf, partialListOf, partialOf, tableOf } from './table.ts'

export interface Presentation {
  readonly info: ResourceInfo
  readonly form: Form
  readonly includeObject: IncludeObject
  /** For ages. */
  readonly now: number
}

export function presentObject(object: JsonObject, presentation: Presentation): JsonObject {
  const { info, form } = presentation
  // A Status stays what it is.
  if (form.as === 'object' || object.kind === 'Status') return object
  if (form.as === 'partial') return partialOf(object, form.version)
  return tableOf(info, [object], listMetadataOf(object), { ...presentation, version: form.version })
}

export function presentList(items: readonly JsonObject[], metadata: JsonObject, presentation: Presentation): JsonObject {
  const { info, form } = presentation
  if (form.as === 'partial') return partialListOf(items, metadata, form.version)
  if (form.as === 'table') return tableOf(info, items, metadata, { ...presentation, version: form.version })
  return { kind: info.listKind, apiVersion: apiVersionOf(info), metadata, items: items as JsonObject[] }
}

/** @param columnDefinitions whether a table carries them: the first one of a stream does */
export function presentEvent(type: string, object: JsonObject, presentation: Presentation, columnDefinitions: boolean): JsonObject {
  const { info, form } = presentation
  if (type === 'ERROR' || form.as === 'object') return object
  if (form.as === 'partial') return partialOf(object, form.version)
  const rows = type === 'BOOKMARK' ? [] : [object]
  return tableOf(info, rows, listMetadataOf(object), { ...presentation, version: form.version, columnDefinitions })
}
