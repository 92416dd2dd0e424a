/**
 * `EventCorrelator`: limits the number of Event objects:
 *
 * - Repeated Events are counted in one Event object.
 * - Many similar Events are combined into one Event object.
 * - If there are too many Events about one object, further Events about this object are dropped.
 *
 * The limits are those of client-go (`k8s.io/client-go/tools/record`: `EventCorrelator`).
 */
import type { Clock } from '../runtime/clock.ts'

/** Maximum number of entries in each of the correlator's caches. */
const maxRemembered = 4096
/**
 * Similar Events are Events about one object that differ only in their messages. If similar Events have this number of different messages,
 * they are combined into one Event. After `similarMs` without a similar Event, the messages are counted from zero again.
 */
const maxSimilar = 10
const similarMs = 600_000
/** Maximum number of Events about one object in a burst. After a burst, at most one Event about the object is recorded every `refillMs`. */
const burst = 25
const refillMs = 300_000

/** The beginning of the message of a combined Event. */
const combined = '(combined from similar events): '

/** A recorded Event without its time. */
export interface Occurrence {
  /** Identifies the object. */
  readonly object: string
  readonly type: string
  readonly reason: string
  readonly message: string
}

/** The recorded Events that are counted in one Event object. */
export interface Series {
  /** 0 for a new series. */
  count: number
  /** The message of the latest Event. */
  message: string
}

interface Similar {
  readonly messages: Set<string>
  lastSeen: number
}

interface Allowance {
  readonly tokens: number
  readonly refilledAt: number
}

export class EventCorrelator<Own extends Series> {
  readonly #clock: Clock
  readonly #series = new Map<string, Own>()
  readonly #similar = new Map<string, Similar>()
  readonly #allowances = new Map<string, Allowance>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Counts an Event, and returns its series. Returns undefined when there were too many Events about the object. In that case, the caller
   * does not write the Event. `create` creates the series of an Event that has not occurred before.
   */
  observe({ object, type, reason, message }: Occurrence, create: () => Own): Own | undefined {
    const group = [object, type, reason].join('\0')
    const isCombined = this.#isSimilar(group, message)
    const key = isCombined ? group : `${group}\0${message}`
    const series = this.#series.get(key) ?? create()
    put(this.#series, key, series)
    series.count += 1
    series.message = isCombined ? `${combined}${message}` : message
    return this.#takeToken(object) ? series : undefined
  }

  /**
   * Adds the message of an Event to the Event's group. A group consists of the Events with the same object, type and reason. Returns true
   * if the group now has at least `maxSimilar` different messages. In this case, the Event is counted in the common series of the group.
   */
  #isSimilar(group: string, message: string): boolean {
    const now = this.#clock.monotonicNow()
    const known = this.#similar.get(group)
    const similar = known !== undefined && now - known.lastSeen <= similarMs ? known : { messages: new Set<string>(), lastSeen: now }
    put(this.#similar, group, similar)
    similar.lastSeen = now
    similar.messages.add(message)
    if (similar.messages.size < maxSimilar) return false
    // One message is removed so that the set does not grow.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest)
      break
    }
    return true
  }

  #takeToken(object: string): boolean {
    const now = this.#clock.monotonicNow()
    const { tokens, refilledAt } = this.#allowances.get(object) ?? { tokens: burst, refilledAt: now }
    const refilled = Math.floor((now - refilledAt) / refillMs)
    const available = Math.min(burst, tokens + refilled)
    put(this.#allowances, object, { tokens: Math.max(0, available - 1), refilledAt: refilledAt + refilled * refillMs })
    return available > 0
  }
}

/**
 * Sets the entry of `key`, and makes it the most recent entry. If the map then has too many entries, removes the oldest entry. A `Map`
 * keeps its entries in the order of their insertion, so the first entry is the oldest entry.
 */
function put<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maxRemembered) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
