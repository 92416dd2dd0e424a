/** Tables, which `kubectl get` prints, and objects reduced to their metadata. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import { badRequest } from '../registry/status-error.ts'
import type { Column, ResourceInfo } from '../resources/resource-info.ts'
import { genericColumns, scaleColumns } from '../resources/columns.ts'
import { inGoOrder } from '../types/go-order.ts'
import { objectMetaType } from '../types/go-types.ts'

/** What a row carries of its object. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

export function parseIncludeObject(value: string | null): IncludeObject {
  if (value === null || value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}

export interface TableOptions {
  readonly version: 'v1' | 'v1beta1'
  readonly includeObject: IncludeObject
  readonly now: number
  /** False for all but the first event of a watch. */
  readonly columnDefinitions?: boolean
}

/** A table of objects; `metadata` is that of the list, or of the one object. */
export function tableOf(info: ResourceInfo, objects: readonly JsonObject[], metadata: JsonObject, options: TableOptions): JsonObject {
  const columns = columnsOf(info, objects[0])
  const rows = objects.map((object) => ({
    cells: columns.map((column) => column.cell(object, options.now)),
    ...rowObject(object, options),
  }))
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.columnDefinitions === false ? null : columns.map(definitionOf),
    // Types that are shown by when they were created have no code for their rows in the API server, and without rows not even a list of them.
    rows: rows.length === 0 && columns.at(-1)?.name === 'Created At' ? null : rows,
  }
}

/** A Scale has columns of its own, whatever it scales. */
function columnsOf(info: ResourceInfo, object: JsonObject | undefined): readonly Column[] {
  if (object?.kind === 'Scale' && object.apiVersion === 'autoscaling/v1') return scaleColumns
  return info.columns.length === 0 ? genericColumns : info.columns
}

function definitionOf({ name, type, format, description, priority }: Column): JsonObject {
  return { name, type, format, description, priority }
}

function rowObject(object: JsonObject, { includeObject, version }: TableOptions): JsonObject {
  if (includeObject === 'None') return { object: null }
  return { object: includeObject === 'Object' ? object : partialOf(object, version) }
}

/** The metadata of one object: a struct in Go, also that of a custom resource. */
export function partialOf(object: JsonObject, version: 'v1' | 'v1beta1'): JsonObject {
  const metadata = inGoOrder(metadataOf(object), objectMetaType())
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata }
}

/** The metadata of the objects of a list; without objects it is no list at all, as from the API server. */
export function partialListOf(objects: readonly JsonObject[], metadata: JsonObject, version: 'v1' | 'v1beta1'): JsonObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items: objects.length === 0 ? null : objects.map((object) => partialOf(object, version)),
  }
}

/** What a table or list of one object has for metadata. */
export function listMetadataOf(object: JsonObject): JsonObject {
  const resourceVersion = getOwn(metadataOf(object), 'resourceVersion')
  return resourceVersion === undefined ? {} : { resourceVersion }
}

function metadataOf(object: JsonObject): JsonObject {
  const metadata: JsonValue | undefined = getOwn(object, 'metadata')
  return isObject(metadata) ? metadata : {}
}
