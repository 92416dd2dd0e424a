/**
 * Takes out of an answer what differs from run to run: uids, resource versions, times, generated names, tokens, ports, addresses.
 * What can be told apart stays so: `<uid of a>` is that of the first object of that name, the third version of an object is `<version 3>`.
 */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { canonicalJson, getOwn, isObject, setOwn } from '../../../src/api/json.ts'
import { valueAt } from './path.ts'

/** An answer as it came. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON or YAML that was read, else the text; a list of events of a watch. */
  readonly body: JsonValue
}

/** What a client can act on. Who answered, when, and how long it took is not compared. */
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

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const rfc3339 = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)/g
/** Times that a request gave are compared; the server's own ones are of now. */
const nowMs = 48 * 3_600_000
/** What Kubernetes makes names of. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const generated = new RegExp(`^[${alphabet}]{5}$`)
const jwt = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g
const age = /^(?:\d+[smhdy])+$/

export interface NormaliserOptions {
  /** False where others write too, so that versions cannot be counted. Default true. */
  readonly countVersions?: boolean
}

/** What one side of a scenario has shown so far. */
export class Normaliser {
  readonly #countVersions: boolean
  /** What is written for a uid. */
  readonly #uids = new Map<string, string>()
  readonly #uidsOfName = new Map<string, number>()
  readonly #versions = new Map<string, string[]>()
  readonly #names = new Map<string, string>()
  /** The volume with the token of a Pod's ServiceAccount is generated everywhere. */
  readonly #prefixes = new Set<string>(['kube-api-access-'])

  constructor({ countVersions = true }: NormaliserOptions = {}) {
    this.#countVersions = countVersions
  }

  /** Tells a prefix with which the server makes names, so that they are known where no object tells it. */
  expectNamesFrom(prefix: string): void {
    // So much of it fits into a name with five more characters.
    this.#prefixes.add(prefix.slice(0, 58))
  }

  /** Names and uids that the server has made are the same in all later answers, and in texts. */
  answer({ status, headers, body }: Answer, { dryRun = false } = {}): JsonObject {
    // What a dry run makes is never seen again.
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
    // In one order on both sides, so that uids get the same numbers.
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

  /** Sorted: the API server sorts by time, and whether a second passes between two requests is chance. */
  #managedFields(entries: readonly JsonValue[]): JsonValue {
    const identity = (entry: JsonValue): string =>
      isObject(entry) ? ['operation', 'manager', 'subresource', 'apiVersion'].map((key) => String(getOwn(entry, key))).join('/') : ''
    return entries.map((entry) => this.#value(entry)).sort((a, b) => (identity(a) < identity(b) ? -1 : 1))
  }

  /** Sorted: a review of rules tells them in the order in which the API server happened to read roles and bindings. */
  #rules(rules: readonly JsonValue[]): JsonValue {
    return rules.map((rule) => this.#value(rule)).sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1))
  }

  /** Versions of an object are counted: a write that changes nothing makes none. */
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

/** Uids that a scenario makes up consist of one digit. */
function isGiven(uid: string): boolean {
  return new Set(uid.replaceAll('-', '')).size === 1
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** The API server finds what is wrong in the order of its maps, which is another one each time; the message tells it in the same order. */
function withSortedCauses(status: JsonObject): JsonObject {
  const causes = valueAt(status, 'details.causes')
  if (!Array.isArray(causes) || !isObject(status.details)) return status
  const sorted = causes.toSorted((a, b) => (causeText(a) < causeText(b) ? -1 : 1))
  const [, head, list] = /^(.* is invalid: )\[(.*)\]$/s.exec(String(status.message)) ?? []
  // Causes that are there twice are told once.
  const told = (all: readonly JsonValue[]): string => [...new Set(all.map(causeText))].join(', ')
  const message = head !== undefined && list === told(causes) ? `${head}[${told(sorted)}]` : (status.message ?? '')
  return { ...status, message, details: { ...status.details, causes: sorted } }
}

function causeText(cause: JsonValue): string {
  return `${String(valueAt(cause, 'field'))}: ${String(valueAt(cause, 'message'))}`
}

/** A Table whose ages are no numbers. */
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
