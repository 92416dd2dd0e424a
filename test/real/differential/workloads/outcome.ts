/**
 * Describes the changes that a step of a life has made to the objects. A life is a list of steps that create, change and delete a workload.
 * Values that differ between two executions of the same life are replaced or removed.
 */
import { canonicalJson, isObject, setOwn } from '../../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import { valueAt } from '../path.ts'
import { GivenNames } from './names.ts'
import type { ObjectHistory } from './recorder.ts'
import { momentaryValues } from './states.ts'

/** The kinds whose states during a step are compared. Pods are not among them, because the test itself writes their status. */
const watchedKinds: ReadonlySet<string> = new Set([
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
  'HorizontalPodAutoscaler',
  'PersistentVolumeClaim',
  'PersistentVolume',
])

/**
 * The kinds whose counters in the status are not compared during a step. In one reconcile, kube-controller-manager first writes objects,
 * and then calculates these counters from its cache. Whether the cache already contains the written objects depends on timing.
 */
const countersByTiming: ReadonlySet<unknown> = new Set(['Deployment', 'DaemonSet'])

/** kube-controller-manager repeats these Events on a timer. The repetitions are not compared. */
const repeatedReasons: ReadonlySet<unknown> = new Set(['FailedBinding', 'ProvisioningFailed'])

export class Outcomes {
  readonly #names: GivenNames
  /** For each object, the number of its states at the end of the previous step. */
  #seen: ReadonlyMap<ObjectHistory, number> = new Map()

  constructor(namespace: string) {
    this.#names = new GivenNames(namespace)
  }

  /** Returns the changes of the current step so far. */
  of(histories: readonly ObjectHistory[]): JsonObject {
    for (const { states } of histories) this.#names.learn(states[0]!)
    const objects = histories.filter(({ kind }) => kind !== 'Event')
    const isRemovedNow = (history: ObjectHistory): boolean => history.isDeleted && this.#seenOf(history) < history.states.length
    return {
      objects: this.#objects(objects.filter(({ isDeleted }) => !isDeleted)),
      created: this.#counts(objects.filter((history) => this.#seenOf(history) === 0)),
      deleted: this.#counts(objects.filter(isRemovedNow)),
      moments: this.#moments(objects.filter(({ kind }) => watchedKinds.has(kind))),
      events: this.#events(histories.filter((history) => history.kind === 'Event' && this.#isNewEvent(history))),
    }
  }

  endStep(histories: readonly ObjectHistory[]): void {
    this.#seen = new Map(histories.map((history) => [history, history.states.length]))
  }

  #seenOf(history: ObjectHistory): number {
    return this.#seen.get(history) ?? 0
  }

  #isNewEvent(event: ObjectHistory): boolean {
    const seen = this.#seenOf(event)
    return seen === 0 || (seen < event.states.length && !repeatedReasons.has(event.states[0]!.reason))
  }

  #keyOf({ states }: ObjectHistory): string {
    return this.#names.keyOf(states[0]!)
  }

  /** Returns the objects by kind and name. Objects whose names differ only in the random suffix are returned as one sorted list. */
  #objects(histories: readonly ObjectHistory[]): JsonObject {
    const result: JsonObject = {}
    for (const [key, group] of Map.groupBy(histories, (history) => this.#keyOf(history))) {
      const values = group.map(({ states }) => sortedEndpoints(this.#names.value(states.at(-1)!)))
      setOwn(result, key, values.length === 1 ? values[0]! : values.sort(byText))
    }
    return result
  }

  #counts(histories: readonly ObjectHistory[]): JsonObject {
    const groups = Map.groupBy(histories, (history) => this.#keyOf(history))
    return Object.fromEntries([...groups].map(([key, group]) => [key, group.length]))
  }

  #moments(histories: readonly ObjectHistory[]): JsonObject {
    const result: JsonObject = {}
    for (const history of histories) {
      const seen = this.#seenOf(history)
      const states = history.states.slice(Math.max(0, seen - 1)).map((state) => this.#stateOf(state))
      const [before, onTheWay] = seen === 0 ? [{}, states.slice(0, -1)] : [states[0]!, states.slice(1, -1)]
      const parts = momentaryValues(before, onTheWay, states.at(-1)!)
      if (parts.length > 0) setOwn(result, this.#keyOf(history), parts)
    }
    return result
  }

  /** Returns the number of replicas and the status of an object. Controllers write these fields. */
  #stateOf(object: JsonObject): JsonObject {
    const { status = {} } = object
    const conditions = valueAt(status, 'conditions') ?? []
    const replicas = valueAt(object, 'spec.replicas')
    const compared = countersByTiming.has(object.kind) ? { conditions } : status
    return this.#names.value({ status: compared, ...(replicas !== undefined && { replicas }) }) as JsonObject
  }

  #events(histories: readonly ObjectHistory[]): JsonValue {
    const lines = histories.map(({ states }) => {
      const event = states.at(-1)!
      const { type, reason, involvedObject } = event
      const object = this.#names.keyOf({
        kind: valueAt(involvedObject, 'kind') ?? '',
        metadata: { name: valueAt(involvedObject, 'name') ?? '' },
      })
      const component = valueAt(event, 'source.component') ?? valueAt(event, 'reportingComponent')
      return `${object}: ${String(type)} ${String(reason)} (${String(component)})`
    })
    return [...new Set(lines)].sort()
  }
}

/** Sorts the addresses of Endpoints and EndpointSlices. The order of the addresses depends on the random names of Pods. */
function sortedEndpoints(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedEndpoints)
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    const inner = sortedEndpoints(item ?? null)
    setOwn(result, key, /^(?:endpoints|addresses|notReadyAddresses)$/.test(key) && Array.isArray(inner) ? inner.sort(byText) : inner)
  }
  return result
}

function byText(a: JsonValue, b: JsonValue): number {
  return canonicalJson(a) < canonicalJson(b) ? -1 : 1
}
