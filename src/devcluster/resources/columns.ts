/** Columns of tables that many types share, and how to write others. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import { humanDuration } from './human-duration.ts'
import type { Column } from './resource-info.ts'

/** How long ago a time of RFC 3339 was. */
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

/** What the API server says of creation times. */
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

/** When it was created, instead of how long ago. */
export const createdAtColumn: Column = {
  name: 'Created At',
  type: 'date',
  format: '',
  description: creationTimeDescription,
  priority: 0,
  cell: (object) => textAt(object, 'metadata', 'creationTimestamp'),
}

/** For types that describe no columns. */
export const genericColumns: readonly Column[] = [nameColumn, { ...ageColumn, type: 'date' }]

/** A column of text. */
export function textColumn(name: string, cell: (object: JsonObject, now: number) => string, priority = 0): Column {
  return { name, type: 'string', format: '', description: '', priority, cell }
}

/** A column of whole numbers. */
export function integerColumn(name: string, cell: (object: JsonObject) => number, priority = 0): Column {
  return { name, type: 'integer', format: '', description: '', priority, cell }
}

/** The same, said to be text: what kubectl prints is no different. */
export function numberAsText(column: Column): Column {
  return { ...column, type: 'string' }
}

/** For the scale subresource of any type. */
export const scaleColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', (scale) => numberAt(scale, 'spec', 'replicas')),
  integerColumn('Available', (scale) => numberAt(scale, 'status', 'replicas')),
  ageColumn,
]

/** The value at a path of fields, undefined where there is none. */
export function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((current, key) => (isObject(current) ? getOwn(current, key) : undefined), value)
}

/** The text at a path; empty where there is none. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** The number at a path; 0 where there is none. */
export function numberAt(value: JsonValue | undefined, ...path: readonly string[]): number {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : 0
}

/** The list at a path; empty where there is none. */
export function listAt(value: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** How many entries the map or list at a path has. */
export function sizeAt(value: JsonValue | undefined, ...path: readonly string[]): number {
  const found = at(value, ...path)
  return Array.isArray(found) ? found.length : isObject(found) ? Object.keys(found).length : 0
}

/** `a=b,c=d`, or `<none>`. */
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
