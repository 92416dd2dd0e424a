/** Serves `POST /convert`, the conversion webhook of all kinds that define a conversion. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../api/clock.ts'
import { expectEarlyRequest, longAnswer } from '../api/early-request.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import { groupKindOf } from '../api/group-version-kind.ts'
import type { Dropped, ObjectConverter, Unkept } from '../conversion/converter.ts'
import { createConverter } from '../conversion/converter.ts'
import type { ConversionDefinition } from '../conversion/definition.ts'
import type { ConversionAnswer, ConversionRequest } from '../conversion/review.ts'
import { answerConversion, decodeConversionReview, failedConversion } from '../conversion/review.ts'
import { maxObjectValues } from '../conversion/review-object.ts'
import { LoopTurns, Turns } from '../conversion/turns.ts'
import type { KindConversionMetrics } from '../telemetry/conversion-metrics.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Charge, MemoryBudget } from './body/budget.ts'
import { costOfMarks } from './body/cost.ts'
import { limitAdvice, receiveBodies, receivedOf } from './body/receive.ts'
import { deadlineFrom, timeoutLeft, timedOut, withDeadline } from './deadline.ts'
import type { HttpsApp } from './http.ts'
import { batchCost, conversionCost, convertedCopies } from './memory.ts'
import { conversionPath } from './paths.ts'
import { refuse } from './refuse.ts'
import { awaitFetching, whenSenderGoes } from './sender.ts'

/** Timeout of the API server for conversion webhooks, which it also sends as `?timeout=`. */
const defaultTimeout = '30s'

interface ConversionRouteOptions {
  readonly conversions: readonly ConversionDefinition[]
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'webhook' | 'conversion'>
  readonly budget: MemoryBudget
  /** Size limit of one review. */
  readonly maxBytes: number
}

/**
 * Errors logged for a review: a list may have the same error for each object, and clients repeat lists. Further ones are logged as `debug`.
 */
const maxTold = 3

/** The conversion of one kind. */
interface Entry {
  readonly converter: ObjectConverter
  readonly metrics: KindConversionMetrics
}

/**
 * Registers the path on an app, unless there is no conversion. Bodies are received as bytes, separately from the app's other routes.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when a kind has two conversions.
 */
export function serveConversions(app: HttpsApp, options: ConversionRouteOptions): void {
  if (options.conversions.length === 0) return
  const entries = entriesOf(options)
  const whole = options.metrics.webhook(conversionPath)
  const { budget, maxBytes, clock } = options
  const loop = new LoopTurns()
  const register = async (scope: FastifyInstance): Promise<void> => {
    const costOf = ({ length }: Buffer): number => Math.ceil(length * conversionCost)
    receiveBodies(scope, { what: 'ConversionReview', maxBytes, advice: limitAdvice, budget, clock, costOf })
    scope.setErrorHandler((error: Error, _request, reply) =>
      refuse(reply, error, { path: conversionPath, logger: options.logger, onRefused: (code) => whole.refused(code) }),
    )
    scope.post<{ Querystring: { timeout?: string } }>(conversionPath, { bodyLimit: maxBytes }, async (request, reply) => {
      const began = performance.now()
      whole.started(Number(request.headers['content-length']))
      try {
        const onClose = (listener: () => void): void => whenSenderGoes(reply.raw, listener)
        const turns = new Turns(loop)
        const review = await decodeConversionReview(request.body as Buffer | undefined, turns)
        const { charge, began: headersAt } = receivedOf(request)!
        const timeout = timeoutLeft(request.query.timeout ?? defaultTimeout, clock.monotonicNow() - headersAt)
        const { pieces } = await answer(entries, options, review, charge, deadlineFrom(timeout), turns, onClose)
        whole.answered(200)
        const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
        // The memory of the request's body is charged already.
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
  turns: Turns,
  onClose: (listener: () => void) => void,
): Promise<ConversionAnswer> {
  const controller = new AbortController()
  onClose(() => controller.abort(new DOMException('the connection of the request was closed', 'AbortError')))
  const { signal } = controller
  const { uid } = review
  // Monotonic and finer than a millisecond, unlike the clock's wall time.
  const began = performance.now()
  let done = 0
  // All objects of a review are of one kind.
  let kind: KindConversionMetrics | undefined
  const find = (group: string, name: unknown): ObjectConverter | undefined => {
    const entry = entries.get(groupKindOf({ group, kind: String(name) }))
    kind ??= entry?.metrics
    return entry?.converter
  }
  const child = logger.child({ uid })
  let told = 0
  const unkept = ({ reason, object, text, error }: Unkept): void => {
    kind?.unkept(reason)
    told += 1
    child[told > maxTold ? 'debug' : 'warn']({ ...object, err: error }, text)
  }
  const dropped = ({ object, paths, text }: Dropped): void => child.warn(object, `${text}, and it is dropped: ${paths.join(', ')}`)
  let threw = false
  const call = { signal, logger: child, turns, unkept, dropped, threw: () => void (threw = true) }
  const converted = (failed: boolean): void => {
    done += 1
    kind?.converted(failed ? 'failure' : 'success')
  }
  const work = roomFor(review, charge, budget, signal).then(() => answerConversion(review, find, call, turns, converted))
  const result = await withDeadline(clock, ms, controller, work).catch((error: unknown) => {
    if (!signal.aborted) throw error
    logger.debug({ uid, err: error }, 'a conversion was aborted: the client has disconnected')
    return failedConversion(uid, `the client no longer waits for this response: ${messageOf(error)}`, 499, 'Aborted')
  })
  const seconds = (performance.now() - began) / 1000
  // Counted once for a review: a LIST would otherwise count once for each object.
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
 * Waits for the memory that the largest object needs beyond what is charged for a batch, at most the reserve, with which a review can
 * always finish.
 *
 * @throws the reason of the signal when it aborts.
 */
async function roomFor(
  { body, objects }: ConversionRequest,
  charge: Charge,
  { reserve }: MemoryBudget,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const { bytes, values } = objects.heaviest
  // Each value has a bracket or a comma, and may have a colon.
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
