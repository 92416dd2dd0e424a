/**
 * Generates schemas and objects. Compares the results of the embedded API server and of `proreus validate` with the results of the real API
 * server, and returns the differences.
 */
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import type { Api } from '../support/conformance/api-request.ts'
import { changed, objectFor, rootArbitrary, wrongSchemaArbitrary } from './definitions.ts'
import type { Case, Result } from './servers.ts'
import { difference, validateOffline, validateSchema, ServedSchemas } from './servers.ts'
import { withAnyRules, withSoundRules } from './rules.ts'
import { shrink } from './shrink.ts'

export interface Servers {
  /** The real API server. Its results are the expected results. */
  readonly real: Api
  readonly embedded: Api
}

/** A case whose results differ between the servers. Only the first cases are shrunk (see `maxShrunk`). */
export interface Difference {
  readonly schema: JsonValue
  readonly object?: JsonObject
  readonly old?: JsonObject
  /** A line for each difference between the results. */
  readonly lines: readonly string[]
}

export interface Outcome {
  /** The number of cases, by their result on the real API server. */
  readonly counts: Readonly<Record<string, number>>
  readonly differences: readonly Difference[]
}

/** The number of created objects and of updated objects for each schema. */
const createsPerSchema = 6
const updatesPerSchema = 4
/**
 * The number of versions in one CustomResourceDefinition. Each version has its own schema. The number is high, because the API server needs
 * two seconds to serve a new CustomResourceDefinition, regardless of the number of its versions.
 */
const schemasPerDefinition = 50
/** The number of parallel requests. Additional requests would only wait in the API server. */
const concurrency = 24
/**
 * The maximum number of differences that are shrunk. The number is limited, because shrinking takes many requests. Further differences are
 * reported without shrinking.
 */
const maxShrunk = 20

async function inParallel<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!, index)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}

/**
 * Sends CustomResourceDefinitions with valid and with invalid schemas to both API servers. Compares the statuses, the errors and the
 * warnings in the responses.
 */
export async function fuzzDefinitions({ real, embedded }: Servers, seed: number, cases: number): Promise<Outcome> {
  const schemas = [
    ...fc.sample(wrongSchemaArbitrary, { seed, numRuns: cases }),
    ...fc.sample(rootArbitrary, { seed, numRuns: Math.ceil(cases / 10) }),
    ...fc.sample(rootArbitrary, { seed, numRuns: Math.ceil(cases / 2) }).map((schema, index) => withAnyRules(schema, seed + index)),
  ] as JsonValue[]
  const counts = { accepted: 0, refused: 0 }
  const differences: Difference[] = []
  const compare = async (schema: JsonValue): Promise<readonly string[]> => {
    const [first, actual] = await Promise.all([validateSchema(real, schema), validateSchema(embedded, schema)])
    const expected = await likelier(first, actual, () => validateSchema(real, schema))
    counts[expected.status === 201 ? 'accepted' : 'refused'] += 1
    return difference(expected, actual)
  }
  await inParallel(schemas, async (schema) => {
    const lines = await compare(schema)
    if (lines.length === 0) return
    const small = differences.length < maxShrunk ? await shrink(schema, lines, compare) : schema
    differences.push({ schema: small, lines: await compare(small) })
  })
  return { counts, differences }
}

/**
 * Sends create requests and update requests for custom resources to the servers, and compares the results of the servers. If the real API
 * server rejects a schema, this schema is not used.
 */
export async function fuzzObjects(servers: Servers, seed: number, cases: number): Promise<Outcome> {
  const numRuns = Math.ceil(cases / (createsPerSchema + updatesPerSchema))
  // One schema in four has no rules.
  const schemas = fc
    .sample(rootArbitrary, { seed, numRuns })
    .map((schema, index) => (index % 4 === 0 ? schema : withSoundRules(schema, seed + index)))
  const results = await inParallel(schemas, (schema) => validateSchema(servers.real, schema as JsonValue))
  const sound = schemas.filter((_, index) => results[index]!.status === 201)
  const run = new ObjectFuzz(servers)
  for (let start = 0; start < sound.length; start += schemasPerDefinition) {
    await run.part(`part${start}`, sound.slice(start, start + schemasPerDefinition), seed + start)
  }
  return { counts: { schemas: sound.length, ...run.counts }, differences: run.differences }
}

/**
 * A case, and the schema of its objects. If the case is an update, `stored` contains two forms of the old object: the form that the real
 * API server has stored, and then the form that the embedded API server has stored.
 */
interface Prepared {
  readonly version: number
  readonly schema: StructuralSchema
  readonly one: Case
  readonly stored: readonly (JsonObject | undefined)[]
}

class ObjectFuzz {
  readonly counts = { created: 0, updated: 0, accepted: 0, refused: 0, offline: 0, unreadable: 0, listsForText: 0 }
  readonly differences: Difference[] = []
  readonly #servers: Servers

  constructor(servers: Servers) {
    this.#servers = servers
  }

  /**
   * Stores the old objects while the schemas allow every object. Then replaces these schemas by the schemas of the cases, and compares the
   * results of creates and updates.
   */
  async part(name: string, schemas: readonly StructuralSchema[], seed: number): Promise<void> {
    const { real, embedded } = this.#servers
    const lax = schemas.map((): StructuralSchema => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }))
    const servers = await Promise.all([real, embedded].map((api) => ServedSchemas.install(api, name, lax)))
    const cases = schemas.flatMap((schema, index) => casesOf(schema, seed + index).map((one) => ({ version: index + 1, schema, one })))
    const prepared = await inParallel(cases, async ({ version, schema, one }): Promise<Prepared> => {
      const stored = await Promise.all(servers.map(async (server) => one.old && (await server.store(version, one.old))))
      return { version, schema, one, stored }
    })
    await Promise.all(servers.map((server) => server.replace(schemas)))
    // An update is skipped if one of the servers did not store the old object, because this server has no object to update.
    await inParallel(
      prepared.filter(({ one, stored }) => one.old === undefined || !stored.includes(undefined)),
      async (one) => {
        const [stored] = one.stored
        const old = stored === undefined ? undefined : await servers[0]!.read(one.version, stored)
        await this.#fuzz(servers, one, old)
      },
    )
  }

  async #fuzz(
    servers: readonly ServedSchemas[],
    { version, schema, one, stored }: Prepared,
    shownOld: JsonObject | undefined,
  ): Promise<void> {
    const compare = async (object: JsonObject): Promise<readonly string[]> => {
      const validate = (index: number): Promise<Result> => {
        const [server, old] = [servers[index]!, stored[index]]
        return old === undefined ? server.create(version, object) : server.update(version, old, object)
      }
      return this.#compare(schema, { object, ...(shownOld && { old: shownOld }) }, servers[0]!.typeOf(version), validate)
    }
    const lines = await compare(one.object)
    if (lines.length === 0) return
    const object = this.differences.length < maxShrunk ? await shrink(one.object, lines, compare) : one.object
    this.differences.push({ schema: schema as JsonValue, ...one, object, lines: await compare(object) })
  }

  async #compare(
    schema: StructuralSchema,
    one: Case,
    type: ReturnType<ServedSchemas['typeOf']>,
    validate: (server: number) => Promise<Result>,
  ): Promise<readonly string[]> {
    const [first, actual] = await Promise.all([validate(0), validate(1)])
    // If the new schema makes the old object unreadable, every request for the object fails with 500 on the real API server.
    if (first.status === 500) {
      this.counts.unreadable += 1
      return []
    }
    const expected = await likelier(first, actual, () => validate(0))
    this.counts[one.old === undefined ? 'created' : 'updated'] += 1
    this.counts[expected.status < 300 ? 'accepted' : 'refused'] += 1
    const lines = difference(expected, actual)
    if (lines.some((line) => listForText.test(line))) {
      this.counts.listsForText += 1
      return []
    }
    if (!isOfflineMatter(expected, one.object)) return lines
    this.counts.offline += 1
    return [...lines, ...difference(expected, { problems: validateOffline(schema, one, type) }).map((line) => `offline ${line}`)]
  }
}

/**
 * Matches the lines that report the only intended difference: if a field is a string with a format, the API server also accepts a list.
 * Proreus rejects the list, because the code of operators expects a string. In such a line, `too many` means that only Proreus reports the
 * error.
 */
const listForText = /too many .* must be of type string: "array"$/

/**
 * Repeats a request to the real API server until its result equals `actual`, the result of the embedded API server. Returns the last result
 * of the real API server.
 *
 * If a body has several errors, the real API server may report one of them at random, because Go iterates over maps in random order. The
 * first result may therefore differ from `actual` although both API servers apply the same rules.
 *
 * @param first the first result of the real API server.
 * @param again sends the request once more.
 * @param tries the maximum number of calls of `again` if the status of `first` is 400. For any other status, the maximum is a quarter of
 *   this number.
 */
async function likelier(first: Result, actual: Result, again: () => Promise<Result>, tries = 100): Promise<Result> {
  let result = first
  for (let left = first.status === 400 ? tries : tries / 4; left > 0 && difference(result, actual).length > 0; left -= 1)
    result = await again()
  return result
}

/**
 * Returns true when `proreus validate` should report the same errors as the API server. `proreus validate` does not check whether a body
 * can be decoded, and does not validate the metadata that the server sets.
 */
function isOfflineMatter({ status, problems }: Result, { metadata }: JsonObject): boolean {
  if (isObject(metadata) && metadata.generateName && !metadata.name) return false
  return (
    (status < 300 || status === 422) &&
    !problems.some((text) => /^\S+ metadata\.(uid|generation|creation|deletion|managed|resource)/.test(text))
  )
}

function casesOf(schema: StructuralSchema, seed: number): Case[] {
  const objects = objectFor(schema)
  const updates = objects.chain((old) =>
    fc.oneof(fc.constant<JsonValue>(old), changed(old), changed(old).chain(changed), objects).map((object) => ({ old, object })),
  )
  const isCase = (one: { old: JsonObject; object: JsonValue }): one is { old: JsonObject; object: JsonObject } => isObject(one.object)
  return [
    ...fc.sample(objects, { seed, numRuns: createsPerSchema }).map((object): Case => ({ object })),
    ...fc.sample(updates, { seed, numRuns: updatesPerSchema }).filter(isCase),
  ]
}
