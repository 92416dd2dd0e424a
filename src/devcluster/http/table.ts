/** Tables for `kubectl get`, and PartialObjectMetadata. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { deepFreeze, getOwn, isObject } from '../../api/json.ts'
import { memoized } from '../apimachinery/memoized.ts'
import { badRequest } from '../apimachinery/status-error.ts'
import type { Column } from '../rest/column.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import { genericColumns, scaleColumns } from '../resources/columns.ts'
import { inGoOrder } from '../types/go-order.ts'
import { objectMetaType } from '../types/go-types.ts'

/** The part of an object that a table row contains. */
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
  /** True to include the column definitions. In a watch, only the table of the first event includes them. Default true. */
  readonly columnDefinitions?: boolean
}

/** Returns a table of objects. `metadata` is the list metadata of the table. */
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
    // For an empty list, kube-apiserver's default table converter leaves `rows` null (k8s.io/apiserver/pkg/registry/rest: table.go). Only
    // the default converter has "Created At" as its last column.
    rows: rows.length === 0 && columns.at(-1)?.name === 'Created At' ? null : rows,
  }
}

/** Returns the table columns of a type. If the object is the scale subresource, returns the columns of the type Scale. */
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

/**
 * Returns a PartialObjectMetadata. The metadata fields have the order of the Go struct, even for a custom resource. A stored object is
 * frozen. All watchers of a frozen object share one result, so the result is encoded as JSON only once.
 */
export function partialOf(object: JsonObject, version: 'v1' | 'v1beta1'): JsonObject {
  return Object.isFrozen(object) ? sharedPartials[version](object) : makePartial(object, version)
}

const sharedPartials = {
  v1: memoized((object: JsonObject) => deepFreeze(makePartial(object, 'v1'))),
  v1beta1: memoized((object: JsonObject) => deepFreeze(makePartial(object, 'v1beta1'))),
}

function makePartial(object: JsonObject, version: 'v1' | 'v1beta1'): JsonObject {
  const metadata = inGoOrder(metadataOf(object), objectMetaType())
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata }
}

/** Returns a PartialObjectMetadataList; `items` is null when the list is empty, as in kube-apiserver's response. */
export function partialListOf(objects: readonly JsonObject[], metadata: JsonObject, version: 'v1' | 'v1beta1'): JsonObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items: objects.length === 0 ? null : objects.map((object) => partialOf(object, version)),
  }
}

/** Returns the metadata of a table with one object. The metadata is list metadata with the object's resourceVersion. */
export function listMetadataOf(object: JsonObject): JsonObject {
  const resourceVersion = getOwn(metadataOf(object), 'resourceVersion')
  return resourceVersion === undefined ? {} : { resourceVersion }
}

function metadataOf(object: JsonObject): JsonObject {
  const metadata: JsonValue | undefined = getOwn(object, 'metadata')
  return isObject(metadata) ? metadata : {}
}
