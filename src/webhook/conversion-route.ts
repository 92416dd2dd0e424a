/** Serves `POST /convert`, the conversion webhook of all kinds for which conversions are defined. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../runtime/clock.ts'
import { expectEarlyRequest, longAnswer } from '../runtime/early-request.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { Dropped, ObjectConverter, Unkept } from '../conversion/converter.ts'
import { createConverter } from '../conversion/converter.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { ConversionAnswer, ConversionRequest } from '../conversion/review.ts'
import { answerConversion, decodeConversionReview, failedConversion } from '../conversion/review.ts'
import { maxObjectValues } from '../conversion/review-object.ts'
import { LoopTurns, TaskSlices } from '../runtime/time-slices.ts'
import type { KindConversionMetrics } from '../telemetry/conversion-metrics.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Charge, MemoryBudget } from './body/memory-budget.ts'
import { costOfMarks } from './body/memory-estimate.ts'
import { limitAdvice, receiveBodies, receivedOf } from './body/receive.ts'
import { timedOut } from '../runtime/waiting.ts'
import { deadlineFrom, withDeadline } from './review/handler-deadline.ts'
import type { HttpsApp } from './http/https-app.ts'
import { batchCost, conversionCost, convertedCopies } from './http/memory-shares.ts'
import { conversionPath } from './definition/paths.ts'
import { refuse } from './http/refusal-response.ts'
import { awaitFetching, onDisconnect } from './http/connections.ts'

/** The timeout of a conversion request without a valid query parameter `timeout`. The API server sends its timeout in this parameter. */
const defaultTimeoutMs = 30_000

interface ConversionRouteOptions {
  readonly conversions: readonly ConversionDefinition[]
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'webhook' | 'conversion'>
  readonly budget: MemoryBudget
  /** Maximum size of a ConversionReview in bytes. */
  readonly maxBytes: number
}

/**
 * Milliseconds after which a conversion lets other requests run. A conversion has time for such interruptions, because the API server logs
 * a conversion call as slow only after 50 ms plus 8 ms for each object (`k8s.io/apiextensions-apiserver/pkg/apiserver/conversion`:
 * `webhookConverter.Convert`).
 */
const sliceMs = 10

/**
 * Maximum number of errors that are logged at level `warn` for one ConversionReview. Further errors are logged at level `debug`, because
 * all objects of a LIST may have the same error, and clients repeat LIST requests.
 */
const maxLogged = 3

/** The converter of one kind, and its metrics. */
interface Entry {
  readonly converter: ObjectConverter
  readonly metrics: KindConversionMetrics
}

/**
 * Registers the route for conversions, if any conversion is defined. The route has its own call of `receiveBodies`, because the limits of a
 * ConversionReview differ from those of an AdmissionReview.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when two conversions are defined for one kind.
 */
export function serveConversions(app: HttpsApp, options: ConversionRouteOptions): void {
  if (options.conversions.length === 0) return
  const entries = entriesOf(options)
  const whole = options.metrics.webhook(conversionPath)
  const { budget, maxBytes, clock } = options
  const turns = new LoopTurns()
  const register = async (scope: FastifyInstance): Promise<void> => {
    const costOf = ({ length }: Buffer): number => Math.ceil(length * conversionCost)
    receiveBodies(scope, { what: 'ConversionReview', maxBytes, advice: limitAdvice, budget, clock, costOf })
    scope.setErrorHandler((error: Error, _request, reply) =>
      refuse(reply, error, { path: conversionPath, logger: options.logger, onRefused: (code) => whole.refused(code) }),
    )
    scope.post<{ Querystring: { timeout?: string } }>(conversionPath, async (request, reply) => {
      const began = performance.now()
      whole.started(Number(request.headers['content-length']))
      try {
        const onClose = (listener: () => void): void => onDisconnect(reply.raw, listener)
        const slices = new TaskSlices(turns, sliceMs)
        const review = await decodeConversionReview(request.body as Buffer | undefined, slices)
        const { charge, began: headersAt } = receivedOf(request)!
        const deadlineMs = deadlineFrom(request.query.timeout, clock.monotonicNow() - headersAt, defaultTimeoutMs)
        const { pieces } = await answer(entries, options, review, charge, deadlineMs, slices, onClose)
        whole.answered(200)
        const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
        // The memory budget already counts the body of the request. If the response is larger than the body, only the difference is added.
        awaitFetching(charge, bytes - review.body.length, bytes, reply.raw)
        if (bytes > longAnswer) expectEarlyRequest(reply.raw.socket)
        reply.type('application/json').header('content-length', bytes)
        return await reply.send(pieces.length === 1 ? pieces[0] : Readable.from(pieces, { objectMode: false }))
      } finally {
        whole.ended((performance.now() - began) / 1000)
      }
    })
  }
  void (app as unknown as FastifyInstance).register(register)
}

async function answer(
  entries: ReadonlyMap<string, Entry>,
  { clock, logger, metrics, budget }: ConversionRouteOptions,
  review: ConversionRequest,
  charge: Charge,
  ms: number,
  slices: TaskSlices,
  onClose: (listener: () => void) => void,
): Promise<ConversionAnswer> {
  const controller = new AbortController()
  onClose(() => controller.abort(new DOMException('the connection of the request was closed', 'AbortError')))
  const { signal } = controller
  const { uid } = review
  // `performance.now()` is monotonic, and its resolution is finer than a millisecond.
  const began = performance.now()
  let done = 0
  // All objects of a ConversionReview have the same kind.
  let kind: KindConversionMetrics | undefined
  const find = (group: string, name: unknown): ObjectConverter | undefined => {
    const entry = entries.get(groupKindOf({ group, kind: String(name) }))
    kind ??= entry?.metrics
    return entry?.converter
  }
  const child = logger.child({ uid })
  let logged = 0
  const unkept = ({ reason, object, text, error }: Unkept): void => {
    kind?.unkept(reason)
    logged += 1
    child[logged > maxLogged ? 'debug' : 'warn']({ ...object, err: error }, text)
  }
  const dropped = ({ object, paths, text }: Dropped): void => child.warn(object, `${text}; they are dropped: ${paths.join(', ')}`)
  let threw = false
  const call = { signal, logger: child, slices, unkept, dropped, threw: () => void (threw = true) }
  const converted = (failed: boolean): void => {
    done += 1
    kind?.converted(failed ? 'failure' : 'success')
  }
  const work = roomFor(review, charge, budget, signal).then(() => answerConversion(review, find, call, slices, converted))
  const result = await withDeadline(clock, ms, controller, work).catch((error: unknown) => {
    if (!signal.aborted) throw error
    logger.debug({ uid, err: error }, 'a conversion was aborted: the client has disconnected')
    return failedConversion(uid, `the client no longer waits for this response: ${messageOf(error)}`, 499, 'Aborted')
  })
  const seconds = (performance.now() - began) / 1000
  // A panic is counted once for each ConversionReview. Otherwise, the same error would be counted once for each object of a LIST.
  if (threw) metrics.conversion.panicked()
  if (result !== timedOut) {
    kind?.answered(result.failed ? 'failure' : 'success', seconds)
    logger.debug({ uid, to: review.desiredAPIVersion, objects: done, failed: result.failed, ms: seconds * 1000 }, 'converted')
    return result
  }
  kind?.answered('failure', seconds)
  const text = `${done} of ${review.objects.length} objects were converted to ${review.desiredAPIVersion} within ${Math.round(ms)} ms`
  logger.warn({ uid, code: 504 }, text)
  return failedConversion(uid, `the deadline has passed: ${text}`, 504, 'Timeout')
}

/**
 * Reserves the memory for the conversion of the largest object of the review. A part of this memory was already reserved when the body
 * arrived: `batchCost` times the size of the body. The function therefore reserves only the rest. If the budget has too little free memory,
 * the function waits.
 *
 * The function never increases the memory of the review beyond `reserve`, which is the size of a part of the budget. Only the request that
 * has waited longest may use this part. Therefore, this request can always finish, even if the rest of the budget is in use.
 *
 * @throws the reason of the signal when the signal aborts.
 */
async function roomFor(
  { body, objects }: ConversionRequest,
  charge: Charge,
  { reserve }: MemoryBudget,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const { bytes, values } = objects.heaviest
  // Each value counts as two marks. The first mark is the opening bracket or comma before a field or list item. The second mark is the
  // colon of a field. A list item has no colon, but also counts as two marks.
  const cost = costOfMarks(bytes, convertedCopies * 2 * Math.min(values, maxObjectValues))
  const more = Math.min(Math.ceil(cost - batchCost * body.length), reserve - charge.bytes)
  if (more <= 0 || charge.grow(more)) return
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    charge.growLater(more, resolve)
  })
}

function entriesOf({ conversions, metrics }: ConversionRouteOptions): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const definition of conversions) {
    const name = groupKindOf(definition.kind)
    if (entries.has(name)) throw new ProreusError('PRO_CONFIG_INVALID', `There are two conversions for ${name}: define one.`)
    entries.set(name, { converter: createConverter(definition), metrics: metrics.conversion.kind(name) })
  }
  return entries
}
