/** Records Kubernetes Events about objects. `kubectl describe` shows the Events of an object. */
import { event as eventType, type Event } from '../api/builtin.ts'
import type { Clock } from '../runtime/clock.ts'
import { formatTime } from '../api/conditions.ts'
import { messageOf } from '../api/errors.ts'
import type { DeepReadonly } from '../api/json.ts'
import type { KubernetesObject, ObjectInput, ObjectKey } from '../api/object.ts'
import type { Logger } from './logger.ts'

export type EventType = 'Normal' | 'Warning'

/**
 * Records Kubernetes Events about objects. `event` never throws and returns immediately. An Event that cannot be written is logged and
 * dropped.
 */
export interface EventRecorder {
  event(object: DeepReadonly<KubernetesObject>, type: EventType, reason: string, message: string): void
}

/** The methods of the client that the recorder uses. */
export interface EventWriter {
  create(type: typeof eventType, object: ObjectInput<Event>): Promise<unknown>
  patch(type: typeof eventType, key: ObjectKey, patch: object): Promise<unknown>
}

export interface EventRecorderOptions {
  /** The `source.component` and `reportingComponent` of the Events, e.g. `proreus`. */
  readonly component: string
  /** The `reportingInstance` of the Events, e.g. the name of the Pod. */
  readonly instance: string
  readonly logger: Logger
  readonly clock: Clock
}

/**
 * If the same Event occurs again within this many milliseconds, the recorder increments the `count` of the existing Event. Otherwise it
 * creates a new Event. client-go increments the count, too, but without a time limit (`k8s.io/client-go/tools/record`: `eventLogger`).
 */
const windowMs = 600_000
/** Maximum number of entries in `remembered`, and in `allowances`. */
const maxRemembered = 4096
/** Maximum number of queued write requests. So long a queue means that the API server is overloaded, so further Events are dropped. */
const maxQueued = 1000
/**
 * Maximum number of Events about one object in a burst. After that, one Event is recorded every `refillMs`. client-go's
 * `EventSourceObjectSpamFilter` has the same limits.
 */
const burst = 25
const refillMs = 300_000
/** The API server's maximum length of an Event's message. */
const maxMessage = 1024

interface Remembered {
  readonly key: ObjectKey
  count: number
  lastSeen: number
}

interface Allowance {
  tokens: number
  refilledAt: number
}

/** Creates a recorder. `flush` resolves when all Events recorded so far have been written or dropped. */
export function createEventRecorder(client: EventWriter, options: EventRecorderOptions): EventRecorder & { flush(): Promise<void> } {
  const { component, instance, logger, clock } = options
  const remembered = new Map<string, Remembered>()
  const allowances = new Map<string, Allowance>()
  let queued = 0
  let sequence = 0
  let tail: Promise<unknown> = Promise.resolve()

  /** Runs the write requests one after another, because an Event must be created before its count is incremented. */
  function enqueue(memory: Remembered, write: () => Promise<unknown>): void {
    queued += 1
    tail = tail
      .then(write)
      .catch((error: unknown) => {
        // The Event could not be created, or no longer exists. If it occurs again, a new Event is created.
        memory.lastSeen = -Infinity
        logger.warn(`an event could not be written: ${messageOf(error)}`)
      })
      .finally(() => (queued -= 1))
  }

  function record(object: DeepReadonly<KubernetesObject>, type: EventType, reason: string, message: string): void {
    const now = clock.now()
    const identity = [object.apiVersion, object.kind, object.metadata.namespace ?? '', object.metadata.name, object.metadata.uid].join('\0')
    if (queued >= maxQueued || !takeToken(allowances, identity, now)) {
      logger.debug({ reason, message }, 'an event was dropped: too many')
      return
    }
    const text = message.length > maxMessage ? `${message.slice(0, maxMessage - 1)}…` : message
    const memory = [identity, type, reason, text].join('\0')
    const before = remembered.get(memory)
    if (before !== undefined && now - before.lastSeen <= windowMs) {
      before.count += 1
      before.lastSeen = now
      countUp(before, now)
    } else {
      const key = keyFor(object, now, sequence++)
      const entry = { key, count: 1, lastSeen: now }
      remember(remembered, memory, entry)
      enqueue(entry, () => client.create(eventType, newEvent(object, key, type, reason, text, now)))
    }
  }

  function countUp(memory: Remembered, now: number): void {
    const patch = { count: memory.count, lastTimestamp: formatTime(now) }
    enqueue(memory, () => client.patch(eventType, memory.key, patch))
  }

  function newEvent(
    object: DeepReadonly<KubernetesObject>,
    key: ObjectKey,
    type: EventType,
    reason: string,
    message: string,
    now: number,
  ): ObjectInput<Event> {
    const { apiVersion, kind, metadata } = object
    const { name, namespace, uid, resourceVersion } = metadata
    return {
      metadata: { name: key.name, namespace: key.namespace ?? 'default' },
      involvedObject: { apiVersion, kind, name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: formatTime(now),
      lastTimestamp: formatTime(now),
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    }
  }

  return {
    event(object, type, reason, message) {
      try {
        record(object, type, reason, message)
      } catch (error) {
        logger.warn({ err: error }, 'an event could not be recorded')
      }
    },
    async flush() {
      await tail
    },
  }
}

/** Returns the namespace and name of a new Event. The namespace is that of the object, or `default` for a cluster-scoped object. */
function keyFor(object: DeepReadonly<KubernetesObject>, now: number, sequence: number): ObjectKey {
  // The name must be unique. As in client-go, it consists of the object's name and the time in nanoseconds. The clock returns milliseconds,
  // so a sequence number provides the other digits.
  const suffix = (BigInt(now) * 1_000_000n + BigInt(sequence % 1_000_000)).toString(16)
  return { namespace: object.metadata.namespace ?? 'default', name: `${object.metadata.name.slice(0, 253 - suffix.length - 1)}.${suffix}` }
}

function remember(remembered: Map<string, Remembered>, key: string, memory: Remembered): void {
  remembered.delete(key)
  remembered.set(key, memory)
  evictOldest(remembered)
}

function takeToken(allowances: Map<string, Allowance>, identity: string, now: number): boolean {
  const { tokens, refilledAt } = allowances.get(identity) ?? { tokens: burst, refilledAt: now }
  const refilled = Math.max(0, Math.floor((now - refilledAt) / refillMs))
  const available = Math.min(burst, tokens + refilled)
  allowances.delete(identity)
  allowances.set(identity, { tokens: Math.max(0, available - 1), refilledAt: refilledAt + refilled * refillMs })
  evictOldest(allowances)
  return available > 0
}

/** A `Map` keeps the order of insertion, so its first key is the oldest. */
function evictOldest(map: Map<string, unknown>): void {
  if (map.size <= maxRemembered) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
