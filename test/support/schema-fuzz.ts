/** Runs of the schema fuzz: generated cases before all judges, and what they differ about. */
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import type { Api } from './api-request.ts'
import { changed, objectFor, rootArbitrary, wrongSchemaArbitrary } from './schema-definitions.ts'
import type { Case, Verdict } from './schema-judges.ts'
import { difference, judgeOffline, judgeSchema, ServedSchemas } from './schema-judges.ts'
import { withAnyRules, withSoundRules } from './schema-rules.ts'
import { shrink } from './schema-shrink.ts'

export interface Judges {
  /** Who is right. */
  readonly real: Api
  readonly embedded: Api
}

/** What the judges differ about, made as small as it went. */
export interface Disagreement {
  readonly schema: JsonValue
  readonly object?: JsonObject
  readonly old?: JsonObject
  /** How they differ. */
  readonly lines: readonly string[]
}

export interface Outcome {
  /** What was compared, and how it went with the real API server. */
  readonly counts: Readonly<Record<string, number>>
  readonly disagreements: readonly Disagreement[]
}

/** Objects for each schema: some to create, some to replace others. */
const createsPerSchema = 6
const updatesPerSchema = 4
/** Versions of one definition: a new definition is served after two seconds, however many versions it has. */
const schemasPerDefinition = 50
/** Requests in flight; more would only wait. */
const concurrency = 24
/** One of a kind is enough to mend what is wrong, and the rest can wait. */
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

/** Schemas, wrong and right: are they refused for the same reasons? */
export async function fuzzDefinitions({ real, embedded }: Judges, seed: number, cases: number): Promise<Outcome> {
  const schemas = [
    ...fc.sample(wrongSchemaArbitrary, { seed, numRuns: cases }),
    ...fc.sample(rootArbitrary, { seed, numRuns: Math.ceil(cases / 10) }),
    ...fc.sample(rootArbitrary, { seed, numRuns: Math.ceil(cases / 2) }).map((schema, index) => withAnyRules(schema, seed + index)),
  ] as JsonValue[]
  const counts = { accepted: 0, refused: 0 }
  const disagreements: Disagreement[] = []
  const compare = async (schema: JsonValue): Promise<readonly string[]> => {
    const [first, actual] = await Promise.all([judgeSchema(real, schema), judgeSchema(embedded, schema)])
    const expected = await likelier(first, actual, () => judgeSchema(real, schema))
    counts[expected.status === 201 ? 'accepted' : 'refused'] += 1
    return difference(expected, actual)
  }
  await inParallel(schemas, async (schema) => {
    const lines = await compare(schema)
    if (lines.length === 0) return
    const small = disagreements.length < maxShrunk ? await shrink(schema, lines, compare) : schema
    disagreements.push({ schema: small, lines: await compare(small) })
  })
  return { counts, disagreements }
}

/** Objects that are created, or replace others, under sound schemas. */
export async function fuzzObjects(judges: Judges, seed: number, cases: number): Promise<Outcome> {
  const numRuns = Math.ceil(cases / (createsPerSchema + updatesPerSchema))
  // A few have no rules.
  const schemas = fc
    .sample(rootArbitrary, { seed, numRuns })
    .map((schema, index) => (index % 4 === 0 ? schema : withSoundRules(schema, seed + index)))
  const verdicts = await inParallel(schemas, (schema) => judgeSchema(judges.real, schema as JsonValue))
  const sound = schemas.filter((_, index) => verdicts[index]!.status === 201)
  const run = new ObjectFuzz(judges)
  for (let start = 0; start < sound.length; start += schemasPerDefinition) {
    await run.part(`part${start}`, sound.slice(start, start + schemasPerDefinition), seed + start)
  }
  return { counts: { schemas: sound.length, ...run.counts }, disagreements: run.disagreements }
}

/** A case under a schema, with what both servers have stored of the old object. */
interface Prepared {
  readonly version: number
  readonly schema: StructuralSchema
  readonly one: Case
  readonly stored: readonly (JsonObject | undefined)[]
}

class ObjectFuzz {
  readonly counts = { created: 0, updated: 0, accepted: 0, refused: 0, offline: 0, unreadable: 0, listsForText: 0 }
  readonly disagreements: Disagreement[] = []
  readonly #judges: Judges

  constructor(judges: Judges) {
    this.#judges = judges
  }

  /** The old objects are stored under schemas that allow everything, which then are made strict. */
  async part(name: string, schemas: readonly StructuralSchema[], seed: number): Promise<void> {
    const { real, embedded } = this.#judges
    const lax = schemas.map((): StructuralSchema => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }))
    const servers = await Promise.all([real, embedded].map((api) => ServedSchemas.install(api, name, lax)))
    const cases = schemas.flatMap((schema, index) => casesOf(schema, seed + index).map((one) => ({ version: index + 1, schema, one })))
    const prepared = await inParallel(cases, async ({ version, schema, one }): Promise<Prepared> => {
      const stored = await Promise.all(servers.map(async (server) => one.old && (await server.store(version, one.old))))
      return { version, schema, one, stored }
    })
    await Promise.all(servers.map((server) => server.replace(schemas)))
    // An old object that none of them would have stored is nothing that could be updated.
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
      const ask = (index: number): Promise<Verdict> => {
        const [server, old] = [servers[index]!, stored[index]]
        return old === undefined ? server.create(version, object) : server.update(version, old, object)
      }
      return this.#compare(schema, { object, ...(shownOld && { old: shownOld }) }, servers[0]!.typeOf(version), ask)
    }
    const lines = await compare(one.object)
    if (lines.length === 0) return
    const object = this.disagreements.length < maxShrunk ? await shrink(one.object, lines, compare) : one.object
    this.disagreements.push({ schema: schema as JsonValue, ...one, object, lines: await compare(object) })
  }

  async #compare(
    schema: StructuralSchema,
    one: Case,
    type: ReturnType<ServedSchemas['typeOf']>,
    ask: (server: number) => Promise<Verdict>,
  ): Promise<readonly string[]> {
    const [first, actual] = await Promise.all([ask(0), ask(1)])
    // An old object that the new schema cannot even read: nobody can do anything with it any more.
    if (first.status === 500) {
      this.counts.unreadable += 1
      return []
    }
    const expected = await likelier(first, actual, () => ask(0))
    this.counts[one.old === undefined ? 'created' : 'updated'] += 1
    this.counts[expected.status < 300 ? 'accepted' : 'refused'] += 1
    const lines = difference(expected, actual)
    if (lines.some((line) => listForText.test(line))) {
      this.counts.listsForText += 1
      return []
    }
    if (!isOfflineMatter(expected, one.object)) return lines
    this.counts.offline += 1
    return [...lines, ...difference(expected, { problems: judgeOffline(schema, one, type) }).map((line) => `offline ${line}`)]
  }
}

/**
 * The one difference on purpose: the API server lets a list pass where a text of a format is asked for.
 * Operators' code relies on the type, so that it is refused here.
 */
const listForText = /too many .* must be of type string: "array"$/

/**
 * Go's maps show their entries in another order each time. Of several things that are wrong with a body, or with the entries of a map
 * that a rule goes through, the API server tells the one that comes first; it is asked again until it says the same, if it ever does.
 */
async function likelier(first: Verdict, actual: Verdict, again: () => Promise<Verdict>, tries = 100): Promise<Verdict> {
  let verdict = first
  for (let left = first.status === 400 ? tries : tries / 4; left > 0 && difference(verdict, actual).length > 0; left -= 1)
    verdict = await again()
  return verdict
}

/** What cannot be decoded is not an object yet, and some of the metadata is between the writer and the server. */
function isOfflineMatter({ status, problems }: Verdict, { metadata }: JsonObject): boolean {
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
