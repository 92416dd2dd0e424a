/** The recorded parts of a response, which do not depend on the time of the request. */
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { isObject } from '../../../../src/api/json.ts'
import type { StatusCause } from '../../../../src/api/status.ts'
import type { RecordedType } from './group.ts'
import type { Reply } from './play.ts'

/**
 * The code, followed by the changed fields of an accepted object, the causes of an `Invalid` Status, or the reason, message and details of
 * another one; then the warnings, if any.
 */
export type Answer = readonly JsonValue[]

export function answerOf(reply: Reply, sent: JsonObject, type: RecordedType): Answer {
  const { code, body, warnings } = reply
  const warned = warnings.length === 0 ? [] : [{ warnings: [...warnings] }]
  if (body.kind !== 'Status') return [code, difference(sent, body), ...warned]
  const { reason = null, message = null, details = null } = body
  if (code === 422 && isObject(details) && Array.isArray(details.causes)) {
    const causes = details.causes as unknown as readonly StatusCause[]
    const name = typeof details.name === 'string' ? details.name : ''
    const subject = type.group === undefined ? type.kind : `${type.kind}.${type.group}`
    const start = `${subject} ${JSON.stringify(name)} is invalid: `
    const areListed = causes.every(({ field, message: detail }) => String(message).includes(`${field}: ${detail}`))
    // Lines after the first show Go values before and after the change.
    const detailOf = ({ reason: why, field, message: detail = '' }: StatusCause): string =>
      steadyText(`${why} ${field}: ${detail.split('\n')[0]}`) as string
    const isUsual =
      areListed && String(message).startsWith(start) && details.kind === type.kind && (details.group ?? '') === (type.group ?? '')
    // Clients must not depend on the order of causes, nor on repeated ones.
    const texts = new Set(causes.map(detailOf))
    return [code, ...(isUsual ? [] : [message]), [...texts].sort(), ...warned]
  }
  return [code, reason, steadyText(message), steadyText(details), ...warned]
}

/** Replaces generated names, uids and the names of Go's string types. */
function steadyText(value: JsonValue): JsonValue {
  const text = JSON.stringify(value)
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
    .replace(/"gen-[a-z0-9]{5}\b/g, '"gen-<5>')
    .replace(/\\"gen-[a-z0-9]{5}\b/g, '\\"gen-<5>')
    .replace(/(cannot unmarshal number into .* of type )[\w.]+\.\w+"$/, '$1string"')
  return JSON.parse(text) as JsonValue
}

/**
 * Returns a response without those fields of an accepted object that are the same in `usual`; `as sent` marks fields that only `usual` has.
 */
export function unlike([code, found, ...rest]: Answer, [, usual]: Answer): Answer {
  if (typeof code !== 'number' || code >= 300 || !isObject(found) || !isObject(usual))
    return found === undefined ? [code!] : [code!, found, ...rest]
  const own = Object.entries(found).filter(([path, value]) => JSON.stringify(usual[path]) !== JSON.stringify(value))
  const missing = Object.keys(usual).filter((path) => found[path] === undefined)
  return [code, Object.fromEntries([...own, ...missing.map((path) => [path, 'as sent'] as const)]), ...rest]
}

/** Returns the columns and cells of a table with one row. */
export function rowOf({ code, body }: Reply): Answer {
  const columns = (body.columnDefinitions ?? []) as readonly JsonObject[]
  const [row] = (body.rows ?? []) as readonly JsonObject[]
  const cells = (row?.cells ?? []) as readonly JsonValue[]
  const shown = columns.map(({ name, type, format, priority }, index) => {
    const kind = `${String(name)}:${String(type)}${format === '' ? '' : `/${String(format)}`}${priority === 0 ? '' : ` ${String(priority)}`}`
    return [kind, withoutMoment(cells[index] ?? null)] as const
  })
  return [code, Object.fromEntries(shown)]
}

const changing = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'deletionTimestamp']

/** Returns the leaves that differ from `sent`, keyed by their paths; null marks removed ones. */
function difference(sent: JsonObject, stored: JsonObject): JsonObject {
  const uid = isObject(stored.metadata) ? stored.metadata.uid : undefined
  const [before, after] = [leavesOf(steady(sent)), leavesOf(steady(stored))]
  const found: JsonObject = {}
  for (const [path, value] of after) {
    if (before.has(path) && JSON.stringify(before.get(path)) === JSON.stringify(value)) continue
    found[path] = known(path, value, before)
  }
  for (const path of before.keys()) if (!after.has(path)) found[path] = null
  const text = JSON.stringify(found)
  return JSON.parse(typeof uid === 'string' ? text.replaceAll(uid, '<uid>') : text) as JsonObject
}

function steady({ metadata, ...rest }: JsonObject): JsonObject {
  if (!isObject(metadata)) return rest
  return { ...rest, metadata: Object.fromEntries(Object.entries(metadata).filter(([field]) => !changing.includes(field))) }
}

function leavesOf(value: JsonValue, path = '', leaves = new Map<string, JsonValue>()): Map<string, JsonValue> {
  const items: (readonly [string, JsonValue | undefined])[] = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item] as const)
    : isObject(value)
      ? Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
      : []
  if (items.length === 0 && path !== '') leaves.set(path, value)
  for (const [place, item] of items) if (item !== undefined) leavesOf(item, place, leaves)
  return leaves
}

/** Replaces a random or time-dependent value by a placeholder. */
function known(path: string, value: JsonValue, before: ReadonlyMap<string, JsonValue>): JsonValue {
  if (path === 'metadata.name') return String(value).replace(/[a-z0-9]{5}$/, '<5>')
  if (/\.clusterIPs?(?:\[0\])?$/.test(path) && /^10\.96\./.test(String(value))) return '<address>'
  if (/(?:\.nodePort|\.healthCheckNodePort)$/.test(path) && !before.has(path)) return '<port>'
  return withoutMoment(value)
}

/** Replaces current times; those of test objects are before 2022. */
function withoutMoment(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value)) return Number(value.slice(0, 4)) > 2021 ? '<now>' : value
  return /^\ds$/.test(value)
    ? '<seconds>'
    : value
        .replace(/=[0-9a-f]{8}-[0-9a-f-]{27}/, '=<uid>')
        .replace(/^gen-[a-z0-9]{5}$/, 'gen-<5>')
        .replace(/10\.96\.\d+\.\d+/, '<address>')
        .replace(/:3[0-2]\d{3}\//g, ':<port>/')
}
