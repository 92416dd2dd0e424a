/** Who says what an object is worth under a schema: an API server over HTTP, and the functions that `proreus validate` calls. */
import type { FieldError } from '../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { canonicalJson, isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { decodeObjectMeta } from '../../src/api/object-meta-json.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import type { Kind } from '../../src/api/kind.ts'
import { validateObject } from '../../src/schema/kind-schema.ts'
import type { Api, RawAnswer } from './api-request.ts'
import { until } from './process.ts'

/** An object, and what it is to replace; without apiVersion and kind. */
export interface Case {
  readonly object: JsonObject
  readonly old?: JsonObject
}

/** What was answered, without what is different each time. */
export interface Verdict {
  readonly status: number
  readonly reason: string
  /** Of a refusal: its causes, each once and sorted; else its message. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** What was, or would be, written. */
  readonly object: JsonValue
}

export const namespace = 'fuzz'
export const group = 'fuzz.example.com'
const kind = 'Fuzz'
const unnamed = { version: 'v1', kind }
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** What every custom resource fits, for the version in which they are stored. */
const anything: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** A definition whose versions are the schemas: so that many are served after one wait. */
function definition(plural: string, schemas: readonly unknown[], stored?: StructuralSchema): JsonObject {
  const versionOf = (name: string, schema: unknown, storage: boolean): unknown => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: schema },
  })
  const versions = schemas.map((schema, index) => versionOf(`v${index + 1}`, schema, stored === undefined && index === 0))
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: `${kind}${plural}`, singular: plural, listKind: `${kind}${plural}List` },
      versions: [...versions, ...(stored === undefined ? [] : [versionOf('stored', stored, true)])] as JsonValue[],
    },
  }
}

/** The API server's opinion of a schema. */
export async function judgeSchema(api: Api, schema: JsonValue): Promise<Verdict> {
  const verdict = verdictOf(
    await api('POST', `${definitionsPath}?dryRun=All&fieldValidation=Warn`, { body: definition('wrongs', [schema]) }),
  )
  // What becomes of the definition is no matter of its schema.
  return { ...verdict, object: null }
}

/** Schemas that an API server serves, and its opinions of objects. */
export class ServedSchemas {
  readonly #api: Api
  readonly #plural: string
  #objects = 0

  private constructor(api: Api, plural: string) {
    this.#api = api
    this.#plural = plural
  }

  static async install(api: Api, plural: string, schemas: readonly StructuralSchema[]): Promise<ServedSchemas> {
    const served = new ServedSchemas(api, plural)
    await served.#expect(201, api('POST', definitionsPath, { body: definition(plural, schemas, anything) }))
    const last = schemas.length
    await until(`${plural} is served`, async () => (await api('GET', served.#path(last))).status === 200)
    return served
  }

  /** Changes the schemas of all versions, and waits until the server goes by them. */
  async replace(schemas: readonly StructuralSchema[]): Promise<void> {
    const path = `${definitionsPath}/${this.#plural}.${group}`
    const marked: StructuralSchema = { ...anything, properties: { marker: { type: 'string', default: 'seen' } } }
    const current = await this.#expect(200, this.#api('GET', path))
    const body = { ...definition(this.#plural, schemas, marked), metadata: current.metadata }
    await this.#expect(200, this.#api('PUT', path, { body }))
    const probe = this.#typed('stored', { metadata: { name: 'probe' } })
    await until(`${this.#plural} goes by its new schemas`, async () => {
      const { body: object } = await this.#api('POST', `${this.#path('stored')}?dryRun=All`, { body: probe })
      return object.marker === 'seen'
    })
  }

  /** Takes the definition away, and with it all objects. */
  async remove(): Promise<void> {
    await this.#api('DELETE', `${definitionsPath}/${this.#plural}.${group}`)
  }

  /** Stores an object; undefined when it is refused. Its schema, too, sees to its defaults. */
  async store(schema: number, object: JsonObject): Promise<JsonObject | undefined> {
    this.#objects += 1
    const { name, ...metadata } = isObject(object.metadata) ? object.metadata : {}
    const named = { ...object, metadata: { ...metadata, name: `${typeof name === 'string' ? name : 'name'}-${this.#objects}` } }
    const { status, body } = await this.#api('POST', this.#path(schema), { body: this.#typed(`v${schema}`, named) })
    return status === 201 ? body : undefined
  }

  /** A stored object as the schema shows it. */
  async read(schema: number, stored: JsonObject): Promise<JsonObject> {
    const { body } = await this.#api('GET', `${this.#path(schema)}/${String((stored.metadata as JsonObject).name)}`)
    return body
  }

  async create(schema: number, object: JsonObject): Promise<Verdict> {
    const query = '?dryRun=All&fieldValidation=Warn'
    const answer = await this.#api('POST', this.#path(schema) + query, { body: this.#typed(`v${schema}`, object) })
    return verdictOf(withoutRandom(answer, object))
  }

  /** `stored` is what `store` gave; `object` replaces all but its name. */
  async update(schema: number, stored: JsonObject, object: JsonObject): Promise<Verdict> {
    const { name, resourceVersion } = stored.metadata as JsonObject
    const path = `${this.#path(schema)}/${String(name)}?dryRun=All&fieldValidation=Warn`
    const { uid: _, ...given } = isObject(object.metadata) ? object.metadata : {}
    const metadata = { ...given, name, resourceVersion }
    const body = this.#typed(`v${schema}`, { ...object, metadata } as JsonObject)
    return verdictOf(await this.#api('PUT', path, { body }))
  }

  /** What the objects of a schema are called. */
  typeOf(schema: number): { readonly version: string; readonly kind: string } {
    return { version: `v${schema}`, kind: `${kind}${this.#plural}` }
  }

  #path(schema: number | string): string {
    const version = typeof schema === 'number' ? `v${schema}` : schema
    return `/apis/${group}/${version}/namespaces/${namespace}/${this.#plural}`
  }

  #typed(version: string, object: JsonObject): JsonObject {
    return { apiVersion: `${group}/${version}`, kind: `${kind}${this.#plural}`, ...object }
  }

  async #expect(status: number, answer: Promise<RawAnswer>): Promise<JsonObject> {
    const { status: actual, text, body } = await answer
    if (actual !== status) throw new Error(`${this.#plural}: ${actual} instead of ${status}: ${text}`)
    return body
  }
}

/** A generated name is another one each time. */
function withoutRandom(answer: RawAnswer, { metadata }: JsonObject): RawAnswer {
  const { name, generateName } = isObject(metadata) ? metadata : {}
  if (typeof generateName !== 'string' || generateName === '' || name) return answer
  const text = answer.text.replaceAll(new RegExp(`${generateName}[a-z0-9]{5}`, 'g'), `${generateName}*****`)
  return { ...answer, body: JSON.parse(text) as JsonObject }
}

function verdictOf({ status, body, warnings }: RawAnswer): Verdict {
  const failed = status >= 400
  const { causes } = isObject(body.details) ? body.details : {}
  const { message } = body
  const problems = Array.isArray(causes)
    ? (causes as JsonObject[]).map(({ reason, field, message: text }) => `${String(reason)} ${String(field)}: ${comparable(String(text))}`)
    : [String(message)]
  return {
    status,
    reason: failed ? String(body.reason) : '',
    problems: failed ? [...new Set(problems)].sort() : [],
    warnings: [...new Set(warnings)].sort(),
    object: failed ? null : withoutServersOwn(body),
  }
}

/**
 * Within rules, the type of an object is called by the time at which it was compiled. Of what is no expression at all, only that is
 * compared: how a parser goes on after its first surprise is its own business.
 */
function comparable(text: string): string {
  return text
    .replaceAll(/selfType\d+/g, 'selfType')
    .replaceAll(/unsupported conversion to ref\.Val: \((?!\*errors)[^)]*\)\S*/g, 'unsupported conversion')
    .replace(/ERROR: [^]*Syntax error: [^]*/, 'Syntax error')
}

/** Metadata that differs from server to server and from time to time. */
const serversOwn = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'generation'])

function withoutServersOwn(object: JsonObject): JsonObject {
  const metadata = Object.fromEntries(
    Object.entries(isObject(object.metadata) ? object.metadata : {}).filter(([key]) => !serversOwn.has(key)),
  )
  return { ...object, metadata }
}

/** What `proreus validate` finds in an object: the causes alone, because the rest is for servers. `old` is complete, as it was read. */
export function judgeOffline(
  schema: StructuralSchema,
  { object, old }: Case,
  { version, kind }: { readonly version: string; readonly kind: string } = unnamed,
): readonly string[] {
  const ofKind = {
    group,
    version,
    kind,
    namespaced: true,
    versions: [{ name: version, served: true, storage: true, schema }],
  } as unknown as Kind
  const compiled = compileSchema(schema)
  const { metadata } = decodeObjectMeta(object.metadata ?? null)
  // What the API server takes from the URL, and what it keeps.
  const kept = Object.entries(isObject(old?.metadata) ? old.metadata : {}).filter(([key]) => key === 'name' || serversOwn.has(key))
  const typed = {
    apiVersion: `${group}/${version}`,
    kind,
    ...object,
    metadata: { ...metadata, ...Object.fromEntries(kept), namespace },
  } as JsonObject
  const completed = compiled.default(compiled.prune(typed).object)
  return problemsOf(validateObject(ofKind, completed, old === undefined ? {} : { oldObject: old }))
}

function problemsOf(errors: readonly FieldError[]): string[] {
  return [...new Set(errors.map(({ reason, path, message }) => `${reason} ${path}: ${comparable(message)}`))].sort()
}

/** How one verdict differs from another, line by line; empty when they agree. */
export function difference(real: Verdict, other: Partial<Verdict>): readonly string[] {
  const lines: string[] = []
  for (const key of ['status', 'reason'] as const) {
    if (other[key] !== undefined && real[key] !== other[key]) lines.push(`${key}: ${real[key]}, not ${other[key]}`)
  }
  for (const key of ['problems', 'warnings'] as const) {
    const [ours, theirs] = [other[key], real[key]]
    if (ours === undefined) continue
    lines.push(...theirs.filter((text) => !ours.includes(text)).map((text) => `${key}: missing ${text}`))
    lines.push(...ours.filter((text) => !theirs.includes(text)).map((text) => `${key}: too many ${text}`))
  }
  if (other.object !== undefined && canonicalJson(real.object) !== canonicalJson(other.object)) {
    lines.push(`object: ${canonicalJson(real.object)}, not ${canonicalJson(other.object)}`)
  }
  return lines
}
