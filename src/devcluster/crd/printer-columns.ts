/** The table columns of custom resources. They come from the `additionalPrinterColumns` of the CRD. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'
import { genericColumns, humanAge, nameColumn } from '../resources/columns.ts'
import type { Column } from '../rest/column.ts'
import type { DefinitionColumn } from './definition.ts'
import type { JsonPath } from './json-path.ts'
import { compileJsonPath } from './json-path.ts'

/** Returns the column `Name` and the columns of the CRD. If the CRD has no columns, returns the columns `Name` and `Age`. */
export function printerColumns(columns: readonly DefinitionColumn[] | undefined): readonly Column[] {
  if (columns === undefined || columns.length === 0) return genericColumns
  return [nameColumn, ...columns.map(columnOf)]
}

function columnOf({ name, type, jsonPath, format, description, priority }: DefinitionColumn): Column {
  const path = pathOrNothing(jsonPath)
  const columnType = type as Column['type']
  return {
    name,
    type: columnType,
    format: format ?? '',
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
    cell: (object, now) => cellOf(path(object)[0], columnType, now),
  }
}

/** Compiles the JSON path of a column. A CRD with an invalid path is accepted, and the cells of this column are then empty. */
function pathOrNothing(text: string): JsonPath {
  try {
    return compileJsonPath(text)
  } catch {
    return () => []
  }
}

/**
 * Converts a value to a cell of the column's type. For the type `string`, any value is converted to text. For any other type, a value that
 * does not have this type becomes null (k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor: cellForJSONValue).
 */
function cellOf(value: JsonValue | undefined, type: Column['type'], now: number): JsonValue {
  if (value === undefined || value === null) return null
  switch (type) {
    case 'string':
      return isObject(value) || Array.isArray(value) ? stringifyJson(value)! : String(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? humanAge(value, now) : null
  }
}

/** Returns the value of a selectable field as a string, for the comparison with a field selector. */
export function selectableValue(path: JsonPath, object: JsonObject): string {
  const value = path(object)[0]
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}
