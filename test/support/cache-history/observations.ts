/**
 * `Observations`: the objects that a view of a cache has shown in its events and its reads, and the states that the view must not show any
 * more.
 */
import { isDeepStrictEqual } from 'node:util'
import type { DeepReadonly } from '../../../src/api/json.ts'
import type { KubernetesObject, ObjectKey } from '../../../src/api/object.ts'
import { formatKey } from '../../../src/api/object.ts'
import type { EventHandler, Informer } from '../../../src/cache/informer.ts'
import { compareResourceVersions } from '../../../src/api/resource-version.ts'
import type { State } from './server-history.ts'
import type { ConfigMap, TestedView } from './views.ts'

type Shown = DeepReadonly<KubernetesObject>

/**
 * An entry in the record of one object key. The field `what` has one of these values:
 *
 * - `shows`: The view has shown the object.
 * - `lacks`: The view has shown that it contains no object with the key.
 * - `at least`: A write of this process has succeeded. From now on, the view must not show states of the object that are older than
 *   `resourceVersion`.
 * - `gone`: A write of this process has deleted the objects whose uids are in `uids`, or has found that these objects no longer exist. From
 *   now on, the view must not show these objects.
 */
type Observation =
  | { readonly what: 'shows'; readonly object: Shown; readonly by: string }
  | { readonly what: 'lacks'; readonly by: string }
  | { readonly what: 'at least'; readonly resourceVersion: string }
  | { readonly what: 'gone'; readonly uids: readonly string[] }

/** Records the observations of one view, and the contradictions between its events. */
export class Observations {
  readonly view: TestedView
  readonly contradictions: string[] = []
  readonly #informer: Informer
  readonly #ofKeys = new Map<string, { readonly key: ObjectKey; readonly all: Observation[] }>()
  /** The objects that the view contains according to the events of the informer, keyed by namespace and name. */
  readonly #announced = new Map<string, Shown>()
  events = 0

  constructor(view: TestedView, informer: Informer) {
    this.view = view
    this.#informer = informer
    informer.addHandler(this.#handler())
  }

  /** Records what the cache returns for a key. */
  read(key: ObjectKey, object: Shown | undefined, by: string): void {
    this.#add(key, object === undefined ? { what: 'lacks', by } : { what: 'shows', object, by })
    if (this.#announced.get(formatKey(key)) !== object) this.#contradict(key, `${by} returns an object that no event has announced`)
  }

  /**
   * Records that a write of this process has succeeded. From now on, the view must not show states of the object that are older than
   * `resourceVersion`.
   */
  wrote(key: ObjectKey, resourceVersion: string): void {
    this.#add(key, { what: 'at least', resourceVersion })
  }

  /**
   * Records that a write of this process has deleted the objects with these uids, or has found that these objects no longer exist. From now
   * on, the view must not show these objects.
   */
  deleted(key: ObjectKey, uids: readonly string[]): void {
    this.#add(key, { what: 'gone', uids })
  }

  /**
   * Compares the objects that the view lists with the objects that exist according to the events of the view. Each difference is added to
   * `contradictions`.
   */
  checkList(objects: readonly Shown[]): void {
    for (const object of objects)
      if (this.#announced.get(formatKey(object.metadata)) !== object) this.#contradict(object.metadata, 'is listed without an event')
    if (objects.length !== this.#announced.size)
      this.contradictions.push(
        `${this.view.name}: ${objects.length} objects are listed, and the events have announced ${this.#announced.size}`,
      )
  }

  /** Compares the observations with the history of the server. Returns a line for each contradiction. */
  check(historyOf: (key: ObjectKey) => readonly State[]): string[] {
    const found = [...this.contradictions]
    for (const { key, all } of this.#ofKeys.values()) {
      const contradiction = contradictionIn(all, timelineOf(this.view, historyOf(key)))
      if (contradiction !== undefined) found.push(`${this.view.name}, ${formatKey(key)}: ${contradiction}`)
    }
    return found
  }

  #handler(): EventHandler {
    return {
      added: (object, initial) => {
        const key = formatKey(object.metadata)
        if (this.#announced.has(key)) this.#contradict(object.metadata, 'was added twice')
        if (initial && this.#informer.synced) this.#contradict(object.metadata, 'was added as an initial object after the cache had synced')
        this.#announced.set(key, object)
        this.#event('added', object)
      },
      updated: (object, old) => {
        const key = formatKey(object.metadata)
        if (this.#announced.get(key) !== old) this.#contradict(object.metadata, 'was updated from an object that no event had announced')
        if (object.metadata.uid !== old.metadata.uid) this.#contradict(object.metadata, 'became another object')
        this.#announced.set(key, object)
        this.#event('updated', object)
      },
      deleted: (object) => {
        const key = formatKey(object.metadata)
        const last = this.#announced.get(key)
        if (last === undefined) this.#contradict(object.metadata, 'was deleted without having been added')
        else if (last.metadata.uid !== object.metadata.uid) this.#contradict(object.metadata, 'was deleted instead of another object')
        else if (isOlder(object, last)) this.#contradict(object.metadata, 'was deleted in an older state than the last one')
        this.#announced.delete(key)
        this.events += 1
        if (this.#informer.store.get(object.metadata) !== undefined) this.#contradict(object.metadata, 'is in the store after its deletion')
        this.#add(object.metadata, { what: 'lacks', by: 'deleted' })
      },
      overtaken: (object, old) => {
        if (this.#announced.get(formatKey(object.metadata)) !== object)
          this.#contradict(object.metadata, 'was overtaken, but is not current')
        if (old !== undefined && !isOlder(old, object)) this.#contradict(object.metadata, 'was overtaken since a newer state')
      },
    }
  }

  #event(by: string, object: Shown): void {
    this.events += 1
    if (this.#informer.store.get(object.metadata) !== object) this.#contradict(object.metadata, `was ${by}, but is not in the store`)
    this.#add(object.metadata, { what: 'shows', object, by })
  }

  #add({ namespace, name }: ObjectKey, observation: Observation): void {
    const id = formatKey({ namespace, name })
    const ofKey = this.#ofKeys.get(id)
    if (ofKey === undefined) this.#ofKeys.set(id, { key: { namespace, name }, all: [observation] })
    else ofKey.all.push(observation)
  }

  #contradict({ namespace, name }: ObjectKey, text: string): void {
    this.contradictions.push(`${this.view.name}, ${formatKey({ namespace, name })}: ${text}`)
  }
}

/**
 * An entry in the history of one object key: the object that exists at a resourceVersion, and the form in which a view shows the object.
 */
interface Moment {
  readonly resourceVersion: string
  /** The uid of the object, even if the object is outside of the view. */
  readonly uid: string | undefined
  /** The object in the form in which the view shows it; undefined when the object does not exist or does not belong to the view. */
  readonly shown: KubernetesObject | undefined
}

function timelineOf({ contains, form }: TestedView, states: readonly State[]): readonly Moment[] {
  return states.map(({ resourceVersion, object }) => {
    const configMap = object as ConfigMap | undefined
    const shown = configMap !== undefined && contains(configMap) ? form(configMap) : undefined
    return { resourceVersion, uid: configMap?.metadata.uid, shown }
  })
}

/**
 * Returns the first observation that contradicts the timeline; undefined when there is none. Each observation must show the same moment of
 * the timeline as the previous observation, or a later moment. Moments may be skipped.
 */
function contradictionIn(observations: readonly Observation[], timeline: readonly Moment[]): string | undefined {
  const moments = new Map(timeline.map(({ resourceVersion }, index) => [resourceVersion, index]))
  const gone = new Set<string>()
  let now = 0
  for (const [index, observation] of observations.entries()) {
    const problem = ((): string | undefined => {
      switch (observation.what) {
        case 'at least': {
          const moment = timeline.findIndex(
            (each) => (compareResourceVersions(each.resourceVersion, observation.resourceVersion) ?? 0) >= 0,
          )
          now = Math.max(now, moment)
          return moment < 0 ? 'the response of an own write is newer than the history' : undefined
        }
        case 'gone':
          for (const uid of observation.uids) gone.add(uid)
          return undefined
        case 'lacks': {
          const moment = timeline.findIndex(({ shown }, at) => at >= now && shown === undefined)
          if (moment < 0) return `${observation.by}: the view lacks an object that it must have had since ${timeline[now]!.resourceVersion}`
          now = moment
          return undefined
        }
        case 'shows': {
          const { resourceVersion, uid } = observation.object.metadata
          if (gone.has(uid)) return `${observation.by}: the view shows ${resourceVersion} of ${uid}, which an own write has removed`
          const moment = moments.get(resourceVersion)
          if (moment === undefined) return `${observation.by}: the view shows ${resourceVersion}, a state that the server never had`
          const { shown } = timeline[moment]!
          if (shown === undefined) return `${observation.by}: the view shows ${resourceVersion}, a state that does not belong to it`
          if (!isDeepStrictEqual(observation.object, shown))
            return `${observation.by}: the view shows ${resourceVersion} with another content`
          if (moment < now) return `${observation.by}: the view shows ${resourceVersion}, after it was at ${timeline[now]!.resourceVersion}`
          now = moment
          return undefined
        }
      }
    })()
    if (problem !== undefined) return `${problem}${excerpt(observations.slice(Math.max(0, index - 6), index + 1), timeline, now)}`
  }
  return undefined
}

function excerpt(observations: readonly Observation[], timeline: readonly Moment[], now: number): string {
  const seen = observations.map((each) => {
    if (each.what === 'shows') return `${each.by} ${each.object.metadata.resourceVersion}`
    if (each.what === 'lacks') return each.by
    return each.what === 'gone' ? `own deletion of ${each.uids.join(' and ')}` : `own write ${each.resourceVersion}`
  })
  const history = timeline
    .slice(Math.max(0, now - 4), now + 5)
    .map(
      ({ resourceVersion, uid, shown }) =>
        `${resourceVersion} ${uid ?? 'no object'}${uid !== undefined && shown === undefined ? ' outside' : ''}`,
    )
  return `\n    observations: …, ${seen.join(', ')}\n    history: …, ${history.join(', ')}, …`
}

function isOlder(object: Shown, than: Shown): boolean {
  return (compareResourceVersions(object.metadata.resourceVersion, than.metadata.resourceVersion) ?? 0) < 0
}
