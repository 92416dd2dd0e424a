/**
 * Tests with hostile AdmissionReviews. Each AdmissionReview must be rejected with a reason, or get an AdmissionResponse with the same uid.
 * If the response allows the object, the patched object must be valid. The variable `SEED` selects other reviews. The variable `REVIEWS`
 * sets the number of reviews.
 */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import type { Client } from '../../src/client/client.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import type { PatchOperation } from '../../src/webhook/review/patch.ts'
import { createWebhookServer } from '../../src/webhook/server.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { Dice } from '../support/dice.ts'
import { applyPatch } from '../support/webhook/apply-patch.ts'
import { changeableSource } from '../support/webhook/fixture.ts'
import { gadget, gadgetHandlers } from '../support/webhook/gadget.ts'
import { reviewText } from '../support/webhook/reviews.ts'
import { seed } from '../support/seed.ts'

/** The number of reviews. It is higher in CI, where a longer run is acceptable. */
const reviews = Number(process.env.REVIEWS || (process.env.CI === undefined ? 20_000 : 100_000))
const concurrency = 16
/** The time limit for a single review, in milliseconds. */
const maxMs = 5_000
const shown = 5

const schema = schemaOf(gadget)
const server = createWebhookServer({
  webhooks: [defineWebhook(gadget, gadgetHandlers)],
  client: {} as Client,
  certificates: await changeableSource(),
  logger: recordingLogger('fatal').logger,
  metrics: new Metrics(),
})
t.teardown(() => server.stop(0))

interface Sent {
  readonly url: string
  readonly body: string | Buffer
  /** True if the review is well-formed and valid. */
  readonly wellFormed: boolean
}

interface Answer {
  readonly statusCode: number
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

function make(index: number): Sent {
  const dice = new Dice(seed + index * 7919)
  const verb = dice.pick(['mutate', 'validate'])
  const wellFormed = dice.chance(0.1)
  const text = reviewText(dice, `uid-${index}`, wellFormed ? 0 : 1 + dice.upTo(3))
  const url = `/${verb}-fuzz-example-com-v1-gadget${dice.chance(0.2) ? `?timeout=${dice.pick(['10s', '', 'x', '-1s', '1h', '5s&timeout=6s'])}` : ''}`
  if (wellFormed || !dice.chance(0.03)) return { url, body: text, wellFormed }
  const bytes = Buffer.from(text)
  for (let left = dice.upTo(3); left >= 0; left -= 1) bytes[dice.upTo(bytes.length - 1)] = dice.upTo(255)
  return { url, body: bytes, wellFormed }
}

/** Returns a description of the first problem of the server's response. Returns undefined if the response has no problem. */
function problemOf({ url, body, wellFormed }: Sent, { statusCode, body: text, headers }: Answer): string | undefined {
  if (statusCode !== 200) {
    if (wellFormed) return `a well-formed review got ${statusCode}`
    if (statusCode < 400 || statusCode >= 500) return `the status is ${statusCode}`
    return text.trim() === '' || !String(headers['content-type']).startsWith('text/plain') ? 'a refusal without a message' : undefined
  }
  const answer = parsed(text)
  if (!isObject(answer) || !isObject(answer.response)) return 'the answer is no review'
  if (answer.apiVersion !== 'admission.k8s.io/v1' || answer.kind !== 'AdmissionReview') return 'the answer is a review of another type'
  const { uid, allowed, status, patch, patchType } = answer.response
  // The server receives the body in UTF-8. Encoding a string as UTF-8 replaces an unpaired surrogate by another character.
  const sent = parsed(Buffer.from(body).toString())
  if (!isObject(sent) || !isObject(sent.request)) return 'what is no review was answered'
  const { request } = sent
  if (uid !== request.uid) return 'the uid differs'
  if (typeof allowed !== 'boolean') return 'allowed is missing'
  if (!allowed) {
    if (!isObject(status) || typeof status.message !== 'string' || typeof status.code !== 'number') return 'a denial without a reason'
    return patch === undefined ? undefined : 'a denial with a patch'
  }
  if (patch !== undefined && (typeof patch !== 'string' || patchType !== 'JSONPatch')) return 'the patch is malformed'
  return url.startsWith('/mutate') ? problemOfPatch(request, patch) : undefined
}

/**
 * Returns a description of the first problem of the patch, e.g. that the patched object does not match the schema. Returns undefined if
 * there is no problem. The patch is from a response that allows the request.
 */
function problemOfPatch(request: JsonObject, patch: string | undefined): string | undefined {
  const { object, oldObject, operation, subResource } = request
  if (operation === 'DELETE' || operation === 'CONNECT') return patch === undefined ? undefined : `a patch for ${operation}`
  const operations = patch === undefined ? [] : (parsed(Buffer.from(patch, 'base64').toString()) as PatchOperation[])
  const patched = applyPatch(object ?? null, operations)
  if (!isObject(patched)) return 'the patch makes no object'
  const old = isObject(oldObject) ? oldObject : undefined
  const isDeleted = isObject(old?.metadata) && old.metadata.deletionTimestamp !== undefined
  if (isDeleted || (typeof subResource === 'string' && subResource !== '')) return undefined
  const [error] = schema.validate(patched, old)
  return error === undefined ? undefined : `the allowed object is invalid: ${error.path}: ${error.message}`
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

t.setTimeout(600_000)

t.test('hostile reviews get a refusal or a valid response', async (t) => {
  const counts: Record<string, number> = {}
  const problems: string[] = []
  let slowest = 0
  let next = 0
  const since = Date.now()
  const worker = async (): Promise<void> => {
    for (let index = next++; index < reviews && problems.length < shown; index = next++) {
      const sent = make(index)
      const started = performance.now()
      const answer = await server.app.inject({
        method: 'POST',
        url: sent.url,
        payload: sent.body,
        headers: { 'content-type': 'application/json' },
      })
      slowest = Math.max(slowest, performance.now() - started)
      const problem = problemOf(sent, answer)
      if (problem !== undefined)
        problems.push(`${index}: ${problem}: ${sent.body.toString().slice(0, 3000)} => ${answer.body.slice(0, 500)}`)
      const outcome =
        answer.statusCode === 200 ? (answer.body.includes('"allowed":true') ? 'allowed' : 'denied') : String(answer.statusCode)
      counts[outcome] = (counts[outcome] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  t.comment(
    `SEED=${seed} REVIEWS=${reviews}: ${JSON.stringify(counts)}, slowest ${Math.round(slowest)} ms, ${Date.now() - since} ms in all`,
  )
  for (const problem of problems) t.fail(problem)
  t.ok(slowest < maxMs, 'no review takes long')
  t.equal(({} as Record<string, unknown>).polluted, undefined, 'no prototype is changed')
  t.ok((counts.allowed ?? 0) > reviews / 50 && (counts.denied ?? 0) > reviews / 50, 'all outcomes occur')
})
