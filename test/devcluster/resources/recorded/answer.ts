/** The form in which responses are recorded. It contains no values that differ between runs. */
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { isObject } from '../../../../src/api/json.ts'
import type { StatusCause } from '../../../../src/api/status.ts'
import type { RecordedType } from './group.ts'
import type { Reply } from './play.ts'

/**
 * The recorded form of a response: the status code, the content, and the warnings if there are any. The content depends on the result of
 * the request:
 *
 * - accepted: the fields that the API server has set or changed
 * - rejected as `Invalid`: the message and the sorted causes. The message is omitted if it has the usual form and lists all causes.
 * - any other failure: the reason, the message and the details
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
    // Only the first line of a cause's message is compared, because the following lines show the Go values before and after the change.
    const detailOf = ({ reason: why, field, message: detail = '' }: StatusCause): string =>
      steadyText(`${why} ${field}: ${detail.split('\n')[0]}`) as string
    const isUsual =
      areListed && String(message).startsWith(start) && details.kind === type.kind && (details.group ?? '') === (type.group ?? '')
    // The causes are sorted, and repeated causes are omitted, because clients must not depend on their order or number.
    const texts = new Set(causes.map(detailOf))
    return [code, ...(isUsual ? [] : [message]), [...texts].sort(), ...warned]
  }
  return [code, reason, steadyText(message), steadyText(details), ...warned]
}

/**
 * Replaces the parts of a text that differ between runs, or between kube-apiserver and the embedded API server:
 *
 * - Generated names and uids are replaced by placeholders.
 * - The name of a Go type, such as `v1.DNSPolicy`, is replaced by `string`. If a string field contains a number, the error of
 *   kube-apiserver names the Go type. The embedded API server does not know this type, and writes `string`.
 */
function steadyText(value: JsonValue): JsonValue {
  const text = JSON.stringify(value)
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
    .replace(/"gen-[a-z0-9]{5}\b/g, '"gen-<5>')
    .replace(/\\"gen-[a-z0-9]{5}\b/g, '\\"gen-<5>')
    .replace(/(cannot unmarshal number into .* of type )[\w.]+\.\w+"$/, '$1string"')
  return JSON.parse(text) as JsonValue
}

/**
 * Returns the part of a response that differs from `usual`. Both are responses to create requests whose objects differ in one place. Each
 * response lists only the fields that the API server has set or changed.
 *
 * If one of the requests failed, returns the whole response. Otherwise, returns these fields:
 *
 * - The fields that `usual` does not list, or lists with another value.
 * - The fields that only `usual` lists. Their value is `as sent`, because the API server has left them as the client sent them.
 */
export function unlike([code, found, ...rest]: Answer, [, usual]: Answer): Answer {
  if (typeof code !== 'number' || code >= 300 || !isObject(found) || !isObject(usual))
    return found === undefined ? [code!] : [code!, found, ...rest]
  const own = Object.entries(found).filter(([path, value]) => JSON.stringify(usual[path]) !== JSON.stringify(value))
  const missing = Object.keys(usual).filter((path) => found[path] === undefined)
  return [code, Object.fromEntries([...own, ...missing.map((path) => [path, 'as sent'] as const)]), ...rest]
}

/** Returns the status code, and the cells of the only row of a table, keyed by column. */
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

/**
 * Returns the leaf values of the stored object that differ from the sent object, keyed by their paths. The value null means that the API
 * server has removed the field.
 */
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

/**
 * If a value is random or depends on the time, returns a placeholder, or the value with a placeholder for the variable part. Returns any
 * other value unchanged.
 */
function known(path: string, value: JsonValue, before: ReadonlyMap<string, JsonValue>): JsonValue {
  if (path === 'metadata.name') return String(value).replace(/[a-z0-9]{5}$/, '<5>')
  if (/\.clusterIPs?(?:\[0\])?$/.test(path) && /^10\.96\./.test(String(value))) return '<address>'
  if (/(?:\.nodePort|\.healthCheckNodePort)$/.test(path) && !before.has(path)) return '<port>'
  return withoutMoment(value)
}

/**
 * Replaces values that differ between runs: times after 2021, ages in seconds, uids, addresses and ports. The times in test objects are
 * before 2022.
 */
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
