/** Table columns that many types share, and functions that create columns. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { humanDuration } from './human-duration.ts'
import { at, numberAt, textAt } from '../apimachinery/unstructured.ts'
import type { Column } from '../rest/column.ts'

/** Returns the age of an RFC 3339 time as kubectl prints it; `<unknown>` for other values. */
export function humanAge(timestamp: unknown, now: number): string {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN
  return Number.isNaN(time) ? '<unknown>' : humanDuration(now - time)
}

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
  cell: (object) => textAt(object, 'metadata', 'name'),
}

/** kube-apiserver's description of creation times. */
export const creationTimeDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  format: '',
  description: creationTimeDescription,
  priority: 0,
  cell: (object, now) => humanAge(at(object, 'metadata', 'creationTimestamp'), now),
}

/** A column with the creation time instead of the age. */
export const createdAtColumn: Column = {
  name: 'Created At',
  type: 'date',
  format: '',
  description: creationTimeDescription,
  priority: 0,
  cell: (object) => textAt(object, 'metadata', 'creationTimestamp'),
}

/** The columns of types for which kube-apiserver defines no columns. */
export const genericColumns: readonly Column[] = [nameColumn, { ...ageColumn, type: 'date' }]

export function textColumn(name: string, cell: (object: JsonObject, now: number) => string, priority = 0): Column {
  return { name, type: 'string', format: '', description: '', priority, cell }
}

export function integerColumn(name: string, cell: (object: JsonObject) => number, priority = 0): Column {
  return { name, type: 'integer', format: '', description: '', priority, cell }
}

/**
 * Returns a copy of a column of numbers. The type of the copy is `string`, because kube-apiserver declares some columns of numbers as
 * strings. kubectl prints numbers and strings in the same way.
 */
export function numberAsText(column: Column): Column {
  return { ...column, type: 'string' }
}

/** The columns of the scale subresource of any type. */
export const scaleColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', (scale) => numberAt(scale, 'spec', 'replicas')),
  integerColumn('Available', (scale) => numberAt(scale, 'status', 'replicas')),
  ageColumn,
]

/** Formats labels as `a=b,c=d`, or `<none>`. */
export function formatLabels(labels: JsonValue | undefined): string {
  if (!isObject(labels) || Object.keys(labels).length === 0) return '<none>'
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${String(labels[key])}`)
    .join(',')
}

export function orNone(text: string): string {
  return text === '' ? '<none>' : text
}
