/** Records Kubernetes Events about objects. `kubectl describe` shows the Events of an object. */
import type { Clock } from '../runtime/clock.ts'
import { newUuid, systemRandom } from '../runtime/random.ts'
import { formatTime } from '../api/conditions.ts'
import type { DeepReadonly } from '../api/json.ts'
import { dns1123Subdomain } from '../api/name-syntax.ts'
import type { KubernetesObject } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isMapOf, isText, refuseOptions } from '../api/option-checks.ts'
import { EventCorrelator } from './event-correlator.ts'
import type { EventSeries, EventWriter } from './event-writes.ts'
import { EventWrites } from './event-writes.ts'
import { maxIdentity, maxMessage, maxReason, shortened } from './event-text.ts'
import type { Logger } from './logger.ts'

export type EventType = 'Normal' | 'Warning'

/** Further fields of an Event. */
export interface EventOptions {
  readonly annotations?: Readonly<Record<string, string>>
  /** A second object that the Event is about, e.g. the object that was created. */
  readonly related?: DeepReadonly<KubernetesObject>
  /** The action that was taken or has failed. This is a name in CamelCase that programs can read, e.g. `CreateDatabase`. */
  readonly action?: string
  /** The part of the object that the Event is about, e.g. `spec.containers{main}` of a Pod. */
  readonly fieldPath?: string
}

const checkOptions = hasOptions({
  annotations: isMapOf(isText),
  related: isAnObject,
  action: isText,
  fieldPath: isText,
} satisfies Record<keyof EventOptions, OptionCheck>)

/**
 * Records Kubernetes Events about objects. `event` returns immediately and never throws.
 *
 * As in client-go, repeated Events are counted, similar Events are combined, and the number of Events about one object is limited. After a
 * temporary failure, a write is retried for about two minutes. An Event that cannot be written is logged and dropped.
 */
export interface EventRecorder {
  event(object: DeepReadonly<KubernetesObject>, type: EventType, reason: string, message: string, options?: EventOptions): void
}

export interface EventRecorderOptions {
  /** The `source.component` and `reportingComponent` of the Events, e.g. `proreus`. */
  readonly component: string
  /** The `reportingInstance` of the Events, e.g. the name of the Pod. */
  readonly instance: string
  /** The `source.host` of the Events: the node on which the component runs. Default: absent. */
  readonly host?: string
  readonly logger: Logger
  readonly clock: Clock
  /**
   * Returns a different number at each call. If several Events are recorded about one object in the same millisecond, the number makes
   * their names different. Recorders for the same objects must therefore share this function. Default: a counter of this recorder.
   */
  readonly nextNumber?: () => number
  /**
   * Returns a random number in [0, 1). The recorder uses such numbers for the delays of retries, and for the UUIDs that are the names of
   * some Events. Default: `Math.random`.
   */
  readonly random?: () => number
}

/** The maximum length of an object's name. */
const maxName = 253

/** Creates a recorder. `flush` resolves when all Events recorded so far have been written or dropped. */
export function createEventRecorder(client: EventWriter, options: EventRecorderOptions): EventRecorder & { flush(): Promise<void> } {
  const { component, instance, host, logger, clock, random = systemRandom } = options
  const correlator = new EventCorrelator<EventSeries>(clock)
  const nextNumber = options.nextNumber ?? counter()
  const nameFor = (name: string): string => {
    // As in client-go, the name consists of the object's name and the time in nanoseconds. The clock returns milliseconds. A sequence
    // number replaces the missing digits.
    const suffix = (BigInt(Math.trunc(clock.now())) * 1_000_000n + BigInt(nextNumber() % 1_000_000)).toString(16)
    const full = `${name.slice(0, maxName - suffix.length - 1)}.${suffix}`
    // The name of an RBAC role, such as `system:node`, is not valid in the name of an Event. The Event about such an object has a UUID as
    // its name.
    return dns1123Subdomain(full).length === 0 ? full : newUuid(random)
  }
  const newName = ({ event }: EventSeries): string => nameFor(event.involvedObject.name ?? '')
  const writes = new EventWrites({ client, logger, clock, random, newName })

  function record(
    object: DeepReadonly<KubernetesObject>,
    type: EventType,
    longReason: string,
    longMessage: string,
    options: EventOptions = {},
  ): void {
    refuseOptions('event', checkOptions(options, ''))
    const { annotations } = options
    // The texts are shortened first, because the recorder keeps thousands of Events in memory.
    const [reason, message] = [shortened(longReason, maxReason), shortened(longMessage, maxMessage)]
    const action = options.action === undefined ? undefined : shortened(options.action, maxReason)
    const fieldPath = options.fieldPath === undefined ? undefined : shortened(options.fieldPath, maxIdentity)
    const involvedObject = { ...identityOf(object), ...(fieldPath === undefined ? {} : { fieldPath }) }
    const related = options.related && identityOf(options.related)
    const { apiVersion, kind, name = '', namespace, uid } = involvedObject
    const now = clock.now()
    const newSeries = (): EventSeries => ({
      namespace: namespace ?? 'default',
      name: nameFor(name),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      event: {
        involvedObject,
        ...(related === undefined ? {} : { related }),
        ...(action === undefined ? {} : { action }),
        type,
        reason,
        firstTimestamp: formatTime(now),
        source: { component, ...(host === undefined ? {} : { host }) },
        reportingComponent: component,
        reportingInstance: instance,
      },
      message,
      count: 0,
      lastSeen: now,
      stored: false,
    })
    const about = [apiVersion, kind, namespace ?? '', name, uid, fieldPath ?? ''].join('\0')
    // Events that differ in their action or related object are not counted together.
    const group = [reason, action ?? '', related?.uid ?? ''].join('\0')
    const series = correlator.observe({ object: about, type, reason: group, message }, newSeries)
    if (series === undefined) {
      logger.debug({ reason, message }, 'an event was dropped: too many')
      return
    }
    series.lastSeen = now
    writes.write(series)
  }

  return {
    event(object, type, reason, message, options) {
      try {
        record(object, type, reason, message, options)
      } catch (error) {
        logger.warn({ err: error }, 'an event could not be recorded')
      }
    },
    flush: () => writes.flush(),
  }
}

/** Returns a function that counts its calls, beginning with 0. */
export function counter(): () => number {
  let next = 0
  return () => next++
}

type Identity = Partial<Record<'apiVersion' | 'kind' | 'name' | 'namespace' | 'uid' | 'resourceVersion', string>>

/**
 * Returns the fields that identify an object. Each field has a limited length. Some fields may be missing. For example, a cluster-scoped
 * object has no namespace, and an object that has not been created yet has no uid.
 */
function identityOf({ apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>): Identity {
  const { name, namespace, uid, resourceVersion } = metadata
  const fields = Object.entries({ apiVersion, kind, name, namespace, uid, resourceVersion })
  return Object.fromEntries(fields.filter(([, text]) => text !== undefined).map(([key, text]) => [key, shortened(text!, maxIdentity)]))
}
