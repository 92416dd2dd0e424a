/**
 * Normalises responses: placeholders replace the values that can differ between two runs. Such values are uids, resourceVersions, times,
 * generated names, tokens, ports and addresses. The uids of two objects have different placeholders, and so do two resourceVersions of one
 * object:
 *
 * - `<uid of a>` is the uid of the first object with the name `a`, and `<uid 2 of a>` is the uid of the second.
 * - `<version 3>` is the third resourceVersion of an object. If `countVersions` is false, the placeholder of every resourceVersion is
 *   `<version>`.
 */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { canonicalJson, getOwn, isObject, setOwn } from '../../../src/api/json.ts'
import { valueAt } from './path.ts'

/** A response before the normalisation. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body if it is JSON or YAML, otherwise its text. For a watch, the list of its events. */
  readonly body: JsonValue
}

/** The headers that are compared, because clients can depend on them. */
const comparedHeaders: ReadonlySet<string> = new Set([
  'allow',
  'cache-control',
  'content-encoding',
  'content-type',
  'etag',
  'retry-after',
  'vary',
  'warning',
  'www-authenticate',
])

export const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
export const rfc3339 = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)/g
/**
 * If a time differs from the current time by less than this number of milliseconds (48 hours), the normaliser assumes that the server has
 * set the time. Such times are not compared.
 */
const nowMs = 48 * 3_600_000
/** The characters of the random suffix of generated names. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
export const generated = new RegExp(`^[${alphabet}]{5}$`)
const jwt = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g
const age = /^(?:\d+[smhdy])+$/

export interface NormaliserOptions {
  /**
   * If true (default), the placeholder of a resourceVersion contains a number, as in `<version 3>`. Set `countVersions` to false if
   * controllers also write objects, because the number of their writes varies.
   */
  readonly countVersions?: boolean
}

/**
 * Replaces uids, resourceVersions and generated names in the responses of a control plane by placeholders. Each control plane has its own
 * `Normaliser`, because a placeholder depends on the earlier responses of the control plane.
 */
export class Normaliser {
  readonly #countVersions: boolean
  /** The placeholder of each uid. */
  readonly #uids = new Map<string, string>()
  readonly #uidsOfName = new Map<string, number>()
  readonly #versions = new Map<string, string[]>()
  readonly #names = new Map<string, string>()
  /** The prefixes of generated names. `kube-api-access-` is the prefix of the token volume in every Pod. */
  readonly #prefixes = new Set<string>(['kube-api-access-'])

  constructor({ countVersions = true }: NormaliserOptions = {}) {
    this.#countVersions = countVersions
  }

  /**
   * Adds a prefix of generated names. The normaliser then replaces every generated name with this prefix in every response. Without the
   * prefix, the normaliser recognizes a generated name only after a response has contained the object with this name. The response to a
   * failed request can contain the name, but does not contain the object.
   */
  expectNamesFrom(prefix: string): void {
    // The API server truncates the prefix, because the name with its suffix of five characters must not exceed 63 characters.
    this.#prefixes.add(prefix.slice(0, 58))
  }

  /**
   * Normalises a response. The generated names and uids of the response are also replaced in all later responses, even within longer
   * strings.
   */
  answer({ status, headers, body }: Answer, { dryRun = false } = {}): JsonObject {
    // The names and uids of a dry run do not occur in later responses.
    if (!dryRun) this.#learn(body)
    const compared = Object.entries(headers)
      .filter(([name]) => comparedHeaders.has(name))
      .map(([name, value]): [string, string] => [name, name === 'etag' ? '<etag>' : this.#text(value)])
    return { status, headers: Object.fromEntries(compared), body: this.#value(body) }
  }

  #learn(value: JsonValue): void {
    if (Array.isArray(value)) return value.forEach((item) => this.#learn(item))
    if (!isObject(value)) return
    const [prefix, name, uid] = ['generateName', 'name', 'uid'].map((key) => getOwn(value, key))
    if (typeof name === 'string') {
      if (typeof prefix === 'string' && name.startsWith(prefix) && generated.test(name.slice(prefix.length)))
        this.#names.set(name, `${prefix}<random>`)
      if (typeof uid === 'string') this.#learnUid(this.#names.get(name) ?? name, uid)
    }
    for (const key of Object.keys(value).sort()) this.#learn(getOwn(value, key) ?? null)
  }

  #learnUid(name: string, uid: string): void {
    if (this.#uids.has(uid) || uid.match(uuid) === null || isGiven(uid)) return
    const count = (this.#uidsOfName.get(name) ?? 0) + 1
    this.#uidsOfName.set(name, count)
    this.#uids.set(uid, count === 1 ? `<uid of ${name}>` : `<uid ${count} of ${name}>`)
  }

  #value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.#text(value)
    if (Array.isArray(value)) return value.map((item) => this.#value(item))
    if (!isObject(value)) return value
    if (getOwn(value, 'kind') === 'Table') return this.#object(withoutAges(value))
    if (getOwn(value, 'kind') === 'Status') return withSortedCauses(this.#object(value))
    return this.#object(value)
  }

  #object(object: JsonObject): JsonObject {
    const result: JsonObject = {}
    // Keys are visited in sorted order, so the result does not depend on the order of the keys in the response.
    for (const key of Object.keys(object).sort()) setOwn(result, this.#text(key), this.#field(object, key, getOwn(object, key) ?? null))
    return result
  }

  #field(object: JsonObject, key: string, value: JsonValue): JsonValue {
    if (key === 'managedFields' && Array.isArray(value)) return this.#managedFields(value)
    if (Array.isArray(value) && /^(?:nonR|r)esourceRules$/.test(key)) return this.#rules(value)
    if (typeof value === 'number' && key === 'nodePort' && value >= 30_000 && value <= 32_767) return '<node port>'
    if (typeof value === 'number' && key === 'targetPort' && value > 32_767) return '<port>'
    if (typeof value !== 'string') return this.#value(value)
    if (key === 'resourceVersion' && /^\d+$/.test(value) && value !== '0') return this.#version(getOwn(object, 'uid'), value)
    if (key === 'continue' && value !== '') return '<continue>'
    return this.#text(value)
  }

  /**
   * Sorts the entries of managedFields by operation, manager, subresource and apiVersion, and ignores their times. The API server sorts
   * entries with the same operation by time, in whole seconds. Whether two writes have the same time depends on chance. The order of the
   * entries in the response can therefore differ between two runs.
   */
  #managedFields(entries: readonly JsonValue[]): JsonValue {
    const identity = (entry: JsonValue): string =>
      isObject(entry) ? ['operation', 'manager', 'subresource', 'apiVersion'].map((key) => String(getOwn(entry, key))).join('/') : ''
    return entries.map((entry) => this.#value(entry)).sort((a, b) => (identity(a) < identity(b) ? -1 : 1))
  }

  /** Sorts the rules of a SelfSubjectRulesReview. Their order depends on the order of the objects in the API server's cache. */
  #rules(rules: readonly JsonValue[]): JsonValue {
    return rules.map((rule) => this.#value(rule)).sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1))
  }

  /**
   * Returns a placeholder for a resourceVersion. For each object, the different resourceVersions are numbered from 1 in the order in which
   * they first appear. If one API server writes the object more often than the other, the later numbers differ.
   */
  #version(uid: JsonValue | undefined, version: string): string {
    if (typeof uid !== 'string' || !this.#countVersions) return '<version>'
    const known = this.#versions.get(uid) ?? []
    this.#versions.set(uid, known)
    if (!known.includes(version)) known.push(version)
    return `<version ${known.indexOf(version) + 1}>`
  }

  #text(text: string): string {
    let result = text
      .replaceAll(uuid, (found) => (isGiven(found) ? found : (this.#uids.get(found) ?? '<uid>')))
      .replaceAll(rfc3339, (time, fraction: string | undefined) => {
        if (Math.abs(Date.parse(time) - Date.now()) > nowMs) return time
        return fraction === undefined ? '<time>' : `<time with ${fraction.length} digits>`
      })
      .replaceAll(jwt, '<token>')
      .replaceAll(/\b127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
      .replaceAll(/(:)3[0-2]\d{3}(\/TCP)/g, '$1<node port>$2')
      .replaceAll(/\b10\.96\.\d+\.\d+/g, '<cluster IP>')
      .replaceAll(/\bselfType\d+/g, 'selfType<time>')
      .replaceAll(/\bhash=[0-9A-F]{32,}/g, 'hash=<hash>')
      .replaceAll(/(resource version: )\d+( \()\d+\)/g, '$1<version>$2<version>)')
      .replaceAll(/(resource version: \d+, current: )\d+/g, '$1<version>')
      .replaceAll(/(the ResourceVersion in (?:the precondition|record) \()\d+\)/g, '$1<version>)')
    for (const prefix of this.#prefixes)
      result = result.replaceAll(new RegExp(`${escaped(prefix)}[${alphabet}]{5}\\b`, 'g'), `${prefix}<random>`)
    for (const [name, normal] of this.#names) result = result.replaceAll(name, normal)
    return result
  }
}

/** Returns true for a uid that the scenario itself contains. Such a uid repeats one digit. */
function isGiven(uid: string): boolean {
  return new Set(uid.replaceAll('-', '')).size === 1
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/**
 * Sorts the causes of a rejection in the details and in the message. Their order is random, because Go iterates over maps in random order.
 */
function withSortedCauses(status: JsonObject): JsonObject {
  const causes = valueAt(status, 'details.causes')
  if (!Array.isArray(causes) || !isObject(status.details)) return status
  const sorted = causes.toSorted((a, b) => (causeText(a) < causeText(b) ? -1 : 1))
  const [, head, list] = /^(.* is invalid: )\[(.*)\]$/s.exec(String(status.message)) ?? []
  // The message lists each cause only once, even if it occurs several times.
  const listOf = (all: readonly JsonValue[]): string => [...new Set(all.map(causeText))].join(', ')
  const message = head !== undefined && list === listOf(causes) ? `${head}[${listOf(sorted)}]` : (status.message ?? '')
  return { ...status, message, details: { ...status.details, causes: sorted } }
}

function causeText(cause: JsonValue): string {
  return `${String(valueAt(cause, 'field'))}: ${String(valueAt(cause, 'message'))}`
}

/** Returns the Table with a placeholder instead of each age. */
function withoutAges(table: JsonObject): JsonObject {
  const rows = getOwn(table, 'rows')
  if (!Array.isArray(rows)) return table
  return { ...table, rows: rows.map((row) => (isObject(row) ? withoutAge(row) : row)) }
}

function withoutAge(row: JsonObject): JsonObject {
  const cells = getOwn(row, 'cells')
  if (!Array.isArray(cells)) return row
  return { ...row, cells: cells.map((cell) => (typeof cell === 'string' && age.test(cell) ? '<age>' : cell)) }
}
