/**
 * Maintains an APIService for each served version of each group. kube-apiserver does so for its built-in groups and for the groups of CRDs
 * (k8s.io/kube-aggregator/pkg/controllers/autoregister, k8s.io/kubernetes/pkg/controlplane/controller/crdregistration).
 */
import { messageOf } from '../api/errors.ts'
import type { JsonObject } from '../api/json.ts'
import type { Clock, Timer } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import { textAt } from './apimachinery/unstructured.ts'
import { systemContext } from './crd/system-context.ts'
import type { Registry } from './registry/registry.ts'
import { apiServices } from './resources/builtin/api-services.ts'
import type { Catalog } from './resources/catalog.ts'
import { builtinPriorities, customPriorities, registrationGroup } from './resources/group-priorities.ts'
import { watchType } from './storage/watch-type.ts'

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'
/** Time in milliseconds before failed writes are tried again. */
const retryMs = 500

export interface ApiServicesOptions {
  readonly registry: Registry
  readonly catalog: Catalog
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Starts to maintain the APIServices, and continues in the background until the signal aborts. Resolves after the first attempt to write
 * the APIServices of the currently served types, even if this attempt fails. When an attempt fails, the error is logged, and the next
 * attempt begins after `retryMs`.
 */
export async function keepApiServices(options: ApiServicesOptions, signal: AbortSignal): Promise<void> {
  const { registry, catalog, clock, logger } = options
  let running: Promise<void> | undefined
  let isStale = false
  let retry: Timer | undefined
  const sync = (): Promise<void> => {
    isStale = true
    running ??= run().finally(() => (running = undefined))
    return running
  }
  async function run(): Promise<void> {
    try {
      while (isStale && !signal.aborted) {
        isStale = false
        await synchronize(options, signal)
      }
    } catch (error) {
      if (signal.aborted) return
      logger.warn({ error: messageOf(error) }, 'the APIServices cannot be written')
      retry = clock.after(retryMs, () => void sync())
    }
  }
  const stops = [
    catalog.onChange(() => void sync()),
    // If an APIService of a served group is deleted, it is created again.
    watchType(registry.store, apiServices.storageKey, ({ type }) => {
      if (type === 'DELETED') void sync()
    }),
  ]
  signal.addEventListener(
    'abort',
    () => {
      retry?.cancel()
      for (const stop of stops) stop()
    },
    { once: true },
  )
  await sync()
}

/**
 * Creates the missing APIServices. If an APIService has the label `managedLabel`, and its group or version is no longer served, the
 * APIService is deleted.
 */
async function synchronize({ registry, catalog }: ApiServicesOptions, signal: AbortSignal): Promise<void> {
  const context = systemContext(signal)
  const wanted = wantedServices(catalog)
  for (const [name, object] of wanted) {
    if (registry.store.get(apiServices.storageKey, { name }) === undefined)
      await registry.create(apiServices, undefined, { object, duplicates: [] }, context)
  }
  const { keys, get } = registry.store.snapshot(apiServices.storageKey)
  for (const object of keys.map((key) => get(key)!)) {
    const name = textAt(object, 'metadata', 'name')
    const isManaged = textAt(object, 'metadata', 'labels', managedLabel) !== ''
    if (isManaged && !wanted.has(name)) await registry.delete(apiServices, { name }, {}, context)
  }
}

/** Returns the APIServices of the served groups and versions, keyed by name. */
function wantedServices(catalog: Catalog): Map<string, JsonObject> {
  const wanted = new Map<string, JsonObject>()
  for (const { name: group, versions } of catalog.groups()) {
    if (group === registrationGroup) continue
    for (const version of versions) {
      const isCustom = catalog.ofGroupVersion(group, version).every(({ custom }) => custom)
      const priorities = isCustom ? customPriorities : builtinPriorities(group, version)
      const name = `${version}.${group}`
      wanted.set(name, {
        kind: 'APIService',
        apiVersion: 'apiregistration.k8s.io/v1',
        metadata: { name, labels: { [managedLabel]: isCustom ? 'true' : 'onstart' } },
        spec: { ...(group !== '' && { group }), version, ...priorities },
      })
    }
  }
  return wanted
}
