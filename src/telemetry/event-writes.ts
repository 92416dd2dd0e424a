/** `EventWrites`: writes Events to the API server, several at a time, and retries failed writes. */
import type { Event } from '../api/builtin.ts'
import { event as eventType } from '../api/builtin.ts'
import { formatTime } from '../api/conditions.ts'
import { messageOf, ProreusError } from '../api/errors.ts'
import type { ObjectInput, ObjectKey } from '../api/object.ts'
import type { Clock, Timer } from '../runtime/clock.ts'
import type { Series } from './event-correlator.ts'
import { maxMessage, shortened } from './event-text.ts'
import type { Logger } from './logger.ts'

/** The methods of the client that the recorder uses. */
export interface EventWriter {
  create(type: typeof eventType, object: ObjectInput<Event>): Promise<unknown>
  patch(type: typeof eventType, key: ObjectKey, patch: object): Promise<unknown>
}

/** The Event object of a series of repeated Events. The count and the message can change before the object is written. */
export interface EventSeries extends Series {
  /** The fields that do not change. */
  readonly event: Omit<ObjectInput<Event>, 'metadata' | 'message' | 'count' | 'lastTimestamp'>
  readonly namespace: string
  readonly annotations?: Record<string, string>
  /** The name of the Event object. A new name is needed when the object has been deleted. */
  name: string
  /** The time of the latest Event, in milliseconds since the Unix epoch. */
  lastSeen: number
  /** True if the object exists on the API server. */
  stored: boolean
}

export interface EventWritesOptions {
  readonly client: EventWriter
  readonly logger: Logger
  readonly clock: Clock
  /** Returns a number in [0, 1). */
  readonly random: () => number
  /** Returns a new name for the Event object of a series. */
  readonly newName: (series: EventSeries) => string
}

/** Maximum number of concurrent requests. Requests can run concurrently, because the order of different Events does not matter. */
const maxRequests = 10
/** Maximum number of Events that wait to be written. They take about 10 MB if each has a message of 1 KiB. Further Events are dropped. */
const maxWaiting = 10_000
/**
 * Maximum number of attempts to write one Event, and the delay between two attempts in milliseconds. Both values are those of client-go
 * (`maxTriesPerEvent`, `defaultSleepDuration`).
 */
const maxTries = 12
const retryMs = 10_000

/** Maximum number of namespaces whose last failure is remembered. */
const maxProblems = 1000
/** The advice for a missing permission. */
const advice = '; events need the verbs create and patch on events: apply the RBAC that "proreus generate" writes'

export class EventWrites {
  readonly #options: EventWritesOptions
  /** The series that must be written, with the number of failed attempts of each series. */
  readonly #waiting = new Map<EventSeries, number>()
  readonly #running = new Set<EventSeries>()
  /** The series that wait for their next attempt. */
  readonly #retries = new Map<EventSeries, Timer>()
  /** The message of the last failure in each namespace. When the message repeats, it is logged at level `debug`. */
  readonly #problems = new Map<string, string>()
  #dropped = 0
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: EventWritesOptions) {
    this.#options = options
  }

  /**
   * Schedules a write of the series. If a write of the series is already waiting, the waiting write will contain the current state, and
   * nothing is scheduled. If too many writes are waiting, the new write is dropped.
   */
  write(series: EventSeries): void {
    if (this.#waiting.has(series) || this.#retries.has(series)) return
    if (this.#waiting.size + this.#retries.size >= maxWaiting) {
      this.#dropped += 1
      return
    }
    this.#waiting.set(series, 0)
    this.#next()
  }

  /** Retries failed writes immediately. Resolves when each pending write has succeeded or has failed for the last time. */
  flush(): Promise<void> {
    for (const [series, timer] of this.#retries) {
      timer.cancel()
      // The write gets two more attempts, because one attempt may not be enough. If the response to an earlier create request was lost, a
      // new create request fails with 409, and the second attempt is a patch request.
      this.#waiting.set(series, maxTries - 2)
    }
    this.#retries.clear()
    this.#next()
    if (this.#isIdle()) return Promise.resolve()
    this.#idle ??= Promise.withResolvers()
    return this.#idle.promise
  }

  #isIdle(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0 && this.#retries.size === 0
  }

  #next(): void {
    for (const [series, failures] of this.#waiting) {
      if (this.#running.size >= maxRequests) return
      // A running write possibly does not contain the latest state. Therefore, the series is written again after the running write.
      if (this.#running.has(series)) continue
      this.#waiting.delete(series)
      this.#running.add(series)
      void this.#try(series, failures)
    }
    if (!this.#isIdle()) return
    if (this.#dropped > 0) this.#options.logger.warn({ events: this.#dropped }, 'events were dropped, because too many were waiting')
    this.#dropped = 0
    this.#idle?.resolve()
    this.#idle = undefined
  }

  async #try(series: EventSeries, failures: number): Promise<void> {
    try {
      await this.#send(series)
      this.#problems.delete(series.namespace)
    } catch (error) {
      this.#failed(series, failures + 1, error)
    }
    this.#running.delete(series)
    this.#next()
  }

  async #send(series: EventSeries): Promise<void> {
    const { client } = this.#options
    const { namespace, name, annotations, message, count, lastSeen } = series
    // The message of a combined Event begins with a prefix. The prefix can make the message longer than `maxMessage`.
    const changing = { message: shortened(message, maxMessage), count, lastTimestamp: formatTime(lastSeen) }
    if (series.stored) await client.patch(eventType, { namespace, name }, changing)
    else
      await client.create(eventType, { ...series.event, metadata: { namespace, name, ...(annotations && { annotations }) }, ...changing })
    series.stored = true
  }

  #failed(series: EventSeries, failures: number, error: unknown): void {
    const { clock, random, newName } = this.#options
    const code = error instanceof ProreusError && 'statusCode' in error ? Number(error.statusCode) : undefined
    // During a flush, there is no time for a delay before another attempt.
    const isLast = failures >= maxTries || this.#idle !== undefined
    if (failures < maxTries && code === 409 && !series.stored) {
      // An earlier request has created the object, but the response to that earlier request was lost.
      series.stored = true
      this.#waiting.set(series, failures)
    } else if (failures < maxTries && code === 404 && series.stored) {
      // The API server has deleted the Event, because Events expire after one hour by default. The next attempt creates an Event with a new
      // name. The new Event continues the count of the deleted Event.
      series.stored = false
      series.name = newName(series)
      this.#waiting.set(series, failures)
    } else if (!isLast && isTransient(error, code)) {
      this.#waiting.delete(series)
      // The first delay is random, because many clients may have failed at the same moment.
      const pauseMs = failures === 1 ? retryMs * random() : retryMs
      this.#retries.set(
        series,
        clock.after(pauseMs, () => {
          this.#retries.delete(series)
          this.#waiting.set(series, failures)
          this.#next()
        }),
      )
    } else {
      this.#report(series.namespace, error, code)
    }
  }

  #report(namespace: string, error: unknown, code: number | undefined): void {
    const text = `an event could not be written: ${messageOf(error)}${code === 403 ? advice : ''}`
    const level = this.#problems.get(namespace) === text ? 'debug' : 'warn'
    this.#problems.delete(namespace)
    this.#problems.set(namespace, text)
    for (const oldest of this.#problems.keys()) {
      if (this.#problems.size <= maxProblems) break
      this.#problems.delete(oldest)
    }
    this.#options.logger[level](text)
  }
}

/** Returns true if a later attempt may succeed. `statusCode` is the status code of an `ApiError`; undefined for any other error. */
function isTransient(error: unknown, statusCode: number | undefined): boolean {
  if (statusCode !== undefined) return statusCode === 429 || statusCode >= 500
  return error instanceof ProreusError && ['PRO_API_UNREACHABLE', 'PRO_KUBECONFIG'].includes(error.code)
}
