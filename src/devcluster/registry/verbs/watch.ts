/** Handles WATCH requests for the objects of one type. A watch sends an event for each change after a given revision. */
import { sleep } from '../../../runtime/waiting.ts'
import { apiVersionOf } from '../../../api/group-version-kind.ts'
import type { JsonObject } from '../../../api/json.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { inGoOrder } from '../../types/go-order.ts'
import { Watcher } from '../../storage/watcher.ts'
import type { Environment } from '../environment.ts'
import { parseResourceVersion } from './list.ts'
import { selectionOf } from '../selection.ts'
import { StatusError } from '../../apimachinery/status-error.ts'

/** Time in milliseconds after which a failed conversion is retried. */
const retryMs = 500

export interface WatchOptions {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  /** If defined, the watch sends only the events of the object with this name. The authorization of the request has checked this name. */
  readonly name?: string | undefined
  /**
   * The watch sends the changes after this revision. If `resourceVersion` is undefined or `0`, the watch first sends ADDED events for all
   * existing objects.
   */
  readonly resourceVersion?: string | undefined
  readonly allowWatchBookmarks?: boolean | undefined
  /**
   * True if the watch first sends an ADDED event for each existing object. With `allowWatchBookmarks`, a bookmark marks the end of these
   * events. False if the watch sends only changes. Default: true if `resourceVersion` is undefined or `0`, otherwise false.
   */
  readonly sendInitialEvents?: boolean | undefined
  readonly timeoutSeconds?: number | undefined
}

export function watchObjects(environment: Environment, info: ResourceInfo, options: WatchOptions, signal: AbortSignal): Watcher {
  const { store, clock, catalog, representation } = environment
  const selection = selectionOf(info, options)
  const present = (object: JsonObject): JsonObject => representation.present(info, object)
  const stop = new AbortController()
  const until = AbortSignal.any([signal, stop.signal])
  const watcher = new Watcher(
    {
      store,
      clock,
      storageKey: info.storageKey,
      namespace: options.namespace,
      since: sinceOf(store.revision, options),
      matches: (object) => selection.everything || selection.matches(present(object)),
      present,
      prepare: info.converter && ((objects) => prepared(environment, info, objects, until)),
      bookmark:
        options.allowWatchBookmarks === true ? (revision, initialEventsEnd) => bookmarkOf(info, revision, initialEventsEnd) : undefined,
      timeoutMs: options.timeoutSeconds === undefined || options.timeoutSeconds <= 0 ? undefined : options.timeoutSeconds * 1000,
    },
    until,
  )
  // If the server stops serving the type, the watch sends the events that are already queued, and then ends. If the conversion of the type
  // changes, the watch ends immediately, because the watch uses the old conversion. The client then starts a new watch.
  const unlisten = catalog.onChange(() => {
    const now = catalog.find(info.group, info.version, info.plural)
    if (now === undefined) watcher.end()
    else if (now.converter !== info.converter) stop.abort()
  })
  watcher.onEnd(unlisten)
  return watcher
}

/** Converts the objects with the conversion webhook. Retries until the conversion succeeds, because a watch must not skip an event. */
async function prepared(
  { representation, clock }: Environment,
  info: ResourceInfo,
  objects: readonly JsonObject[],
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await representation.prepare(info, objects)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      await sleep(clock, retryMs, signal)
    }
  }
}

function sinceOf(current: number, options: WatchOptions): number | undefined {
  const requested = parseResourceVersion(options.resourceVersion)
  if (options.sendInitialEvents === true) return undefined
  if (requested !== undefined && requested !== 0) return requested
  return options.sendInitialEvents === false ? current : undefined
}

function bookmarkOf(info: ResourceInfo, revision: number, initialEventsEnd: boolean): JsonObject {
  const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  const bookmark = { kind: info.kind, apiVersion: apiVersionOf(info), metadata: { resourceVersion: String(revision), ...annotations } }
  return inGoOrder(bookmark, info.goType)
}
