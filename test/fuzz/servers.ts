/** Validates schemas and objects with an API server over HTTP, and with the functions of `proreus validate`. */
import type { FieldError } from '../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { canonicalJson, isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { decodeObjectMeta } from '../../src/api/object-meta-json.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import type { Kind } from '../../src/api/kind.ts'
import { validateObject } from '../../src/schema/kind-schema.ts'
import type { Api, RawAnswer } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'

/** The object of a request, and for an update the old object. Both lack apiVersion and kind. */
export interface Case {
  readonly object: JsonObject
  readonly old?: JsonObject
}

/** The result of a request, without values that differ between servers or runs. */
export interface Result {
  readonly status: number
  readonly reason: string
  /** The causes of a rejection, sorted and without repetitions; the message if there are no causes. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** The object in the response of an accepted request. */
  readonly object: JsonValue
}

export const namespace = 'fuzz'
export const group = 'fuzz.example.com'
const kind = 'Fuzz'
const unnamed = { version: 'v1', kind }
const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** The schema of the storage version. It allows every object. */
const anything: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/**
 * Returns a CustomResourceDefinition with one version for each schema. The API server starts to serve all versions at the same time, so the
 * caller needs to wait only once.
 */
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

/** Returns the result of an API server for a CustomResourceDefinition with this schema. */
export async function validateSchema(api: Api, schema: JsonValue): Promise<Result> {
  const result = resultOf(await api('POST', `${definitionsPath}?dryRun=All&fieldValidation=Warn`, { body: definition('wrongs', [schema]) }))
  // The CustomResourceDefinition in the response is not compared. Some of its fields differ between API servers even if the schema is the
  // same, for example the uid.
  return { ...result, object: null }
}

/** Schemas that an API server serves. Each schema belongs to one version of the same CustomResourceDefinition. */
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

  /** Replaces the schemas of all versions. Resolves when the server uses the new schemas. */
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

  /** Deletes the CustomResourceDefinition, and thereby all of its objects. */
  async remove(): Promise<void> {
    await this.#api('DELETE', `${definitionsPath}/${this.#plural}.${group}`)
  }

  /**
   * Stores an object in the API version whose schema has the number `schema`. The API server sets the defaults of this schema. If the API
   * server rejects the object, the method resolves to undefined.
   */
  async store(schema: number, object: JsonObject): Promise<JsonObject | undefined> {
    this.#objects += 1
    const { name, ...metadata } = isObject(object.metadata) ? object.metadata : {}
    const named = { ...object, metadata: { ...metadata, name: `${typeof name === 'string' ? name : 'name'}-${this.#objects}` } }
    const { status, body } = await this.#api('POST', this.#path(schema), { body: this.#typed(`v${schema}`, named) })
    return status === 201 ? body : undefined
  }

  /**
   * Reads a stored object in the API version whose schema has the number `schema`.
   *
   * @param schema the number of the schema. The first schema has the number 1.
   * @param stored the object as `store` returned it.
   */
  async read(schema: number, stored: JsonObject): Promise<JsonObject> {
    const { body } = await this.#api('GET', `${this.#path(schema)}/${String((stored.metadata as JsonObject).name)}`)
    return body
  }

  async create(schema: number, object: JsonObject): Promise<Result> {
    const query = '?dryRun=All&fieldValidation=Warn'
    const answer = await this.#api('POST', this.#path(schema) + query, { body: this.#typed(`v${schema}`, object) })
    return resultOf(withoutRandom(answer, object))
  }

  /**
   * Sends a dry run of an update of a stored object. The new object is `object` with the name and the resourceVersion of the stored object.
   */
  async update(schema: number, stored: JsonObject, object: JsonObject): Promise<Result> {
    const { name, resourceVersion } = stored.metadata as JsonObject
    const path = `${this.#path(schema)}/${String(name)}?dryRun=All&fieldValidation=Warn`
    const { uid: _, ...given } = isObject(object.metadata) ? object.metadata : {}
    const metadata = { ...given, name, resourceVersion }
    const body = this.#typed(`v${schema}`, { ...object, metadata } as JsonObject)
    return resultOf(await this.#api('PUT', path, { body }))
  }

  /** Returns the version and the kind of objects with this schema. */
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

/** Replaces each generated name with a placeholder. */
function withoutRandom(answer: RawAnswer, { metadata }: JsonObject): RawAnswer {
  const { name, generateName } = isObject(metadata) ? metadata : {}
  if (typeof generateName !== 'string' || generateName === '' || name) return answer
  const text = answer.text.replaceAll(new RegExp(`${generateName}[a-z0-9]{5}`, 'g'), `${generateName}*****`)
  return { ...answer, body: JSON.parse(text) as JsonObject }
}

function resultOf({ status, body, warnings }: RawAnswer): Result {
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
 * Replaces those parts of an error message that are not compared. One such part is the number in a type name such as `selfType123`: the
 * number depends on the time at which the server compiled the rule. Another such part is the detail of a syntax error, which depends on the
 * server's parser.
 */
function comparable(text: string): string {
  return text
    .replaceAll(/selfType\d+/g, 'selfType')
    .replaceAll(/unsupported conversion to ref\.Val: \((?!\*errors)[^)]*\)\S*/g, 'unsupported conversion')
    .replace(/ERROR: [^]*Syntax error: [^]*/, 'Syntax error')
}

/** Metadata fields that the server sets. Their values differ between servers and over time. */
const serversOwn = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'generation'])

function withoutServersOwn(object: JsonObject): JsonObject {
  const metadata = Object.fromEntries(
    Object.entries(isObject(object.metadata) ? object.metadata : {}).filter(([key]) => !serversOwn.has(key)),
  )
  return { ...object, metadata }
}

/**
 * Returns the errors that `proreus validate` finds in the object of a case, as sorted texts without duplicates. If the case is an update,
 * `old` is the complete old object as a server has returned it.
 */
export function validateOffline(
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
  // An update cannot change the name, and the API server sets the fields in `serversOwn`. These fields are therefore taken from the old
  // object.
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

/** Returns a line for each difference between the results; empty when the results are equal. */
export function difference(real: Result, other: Partial<Result>): readonly string[] {
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
