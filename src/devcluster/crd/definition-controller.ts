/**
 * Reconciles the stored CustomResourceDefinitions: accepts their names, establishes them, serves their versions, and deletes the custom
 * resources of terminating CRDs. The controller uses the store and the registry directly, without a client.
 */
import type { Clock } from '../../runtime/clock.ts'
import { sleep } from '../../runtime/waiting.ts'
import { messageOf } from '../../api/errors.ts'
import type { JsonObject } from '../../api/json.ts'
import { jsonEqual } from '../../api/json.ts'
import type { ObjectMeta } from '../../api/object.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Converter } from '../rest/converter.ts'
import type { WebhookConverterOptions } from '../conversion-webhooks/converter.ts'
import { webhookConverter } from '../conversion-webhooks/converter.ts'
import { watchType } from '../storage/watch-type.ts'
import type { Registry } from '../registry/registry.ts'
import { StatusError } from '../apimachinery/status-error.ts'
import type { Catalog } from '../resources/catalog.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { acceptNames } from './accepted-names.ts'
import { customResources, storageKeyOf, storedResource } from './custom-resource.ts'
import { definitionsKey } from './custom-resource-definitions.ts'
import type { Definition } from './definition.ts'
import { asDefinition, cleanupFinalizer, isConditionTrue, withCondition } from './definition.ts'
import { systemContext } from './system-context.ts'

export interface DefinitionControllerOptions extends WebhookConverterOptions {
  readonly store: ObjectStore
  readonly registry: Registry
  readonly catalog: Catalog
  readonly clock: Clock
  readonly logger: Logger
}

export interface DefinitionController {
  /** Resolves after the signal is aborted and the last reconcile has ended. */
  readonly ended: Promise<void>
  /**
   * Resolves when no CRD waits for a reconcile. The catalog then corresponds to the stored CRDs, except for CRDs whose reconcile has
   * failed.
   */
  settled(): Promise<void>
}

/** Time in milliseconds before a failed reconcile is retried. */
const retryMs = 500

/**
 * Starts the controller, which then runs until the signal aborts. When this function returns, the catalog already serves the established
 * CRDs in the store.
 */
export function startDefinitionController(options: DefinitionControllerOptions, signal: AbortSignal): DefinitionController {
  const { store, clock, logger } = options
  const waiting = new Set<string>(store.snapshot(definitionsKey).keys)
  /** Functions that stop the watch of a terminating CRD's custom resources, keyed by the name of the CRD. */
  const cleanups = new Map<string, () => void>()
  /** The error of the last reconcile, keyed by the name of the CRD. If the next error is the same, it is not logged again. */
  const problems = new Map<string, string>()
  let wake = Promise.withResolvers<void>()
  /** Resolves when no CRD waits for its reconcile. */
  let idle = Promise.withResolvers<void>()
  let isIdle = false
  const enqueue = (name: string): void => {
    if (isIdle) idle = Promise.withResolvers()
    isIdle = false
    waiting.add(name)
    wake.resolve()
  }
  const stopListening = watchType(store, definitionsKey, ({ key }) => enqueue(key))
  const onAbort = (): void => wake.resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  const served = new ServedRows(options.catalog, (definition) => webhookConverter(definition, options, signal))
  // After a restart, the stored CRDs must be served as soon as the server accepts requests. A response with 404 would mean to a client that
  // the type does not exist.
  for (const name of waiting) {
    try {
      served.show(asDefinition(store.get(definitionsKey, { name })!))
    } catch {
      // The first reconcile of the CRD throws this error again, and logs it.
    }
  }

  const watchInstances = (definition: Definition): void => {
    const { name } = definition.metadata
    if (!cleanups.has(name))
      cleanups.set(
        name,
        watchType(store, storageKeyOf(definition), () => enqueue(name)),
      )
  }

  async function step(name: string): Promise<void> {
    const object = store.get(definitionsKey, { name })
    if (object === undefined) {
      served.remove(name)
      cleanups.get(name)?.()
      cleanups.delete(name)
      // The deletion frees the names of the CRD. Other CRDs that requested these names can then be accepted.
      for (const other of store.snapshot(definitionsKey).keys) enqueue(other)
      return
    }
    const definition = await updateStatus(options, object, signal)
    served.show(definition)
    if (!isCleanedUp(definition)) return
    watchInstances(definition)
    await cleanUp(options, definition, signal)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      for (const name of waiting) {
        waiting.delete(name)
        try {
          await step(name)
          problems.delete(name)
        } catch (error) {
          if (signal.aborted) break
          // A conflict means that another client has changed the CRD. This change has already queued the CRD again.
          if (error instanceof StatusError && error.status.reason === 'Conflict') continue
          const problem = messageOf(error)
          if (problems.get(name) !== problem)
            logger.error({ err: error }, `CustomResourceDefinition ${name} could not be reconciled, retrying: ${problem}`)
          problems.set(name, problem)
          void sleep(clock, retryMs, signal).then(
            () => enqueue(name),
            () => undefined,
          )
        }
        if (signal.aborted) break
      }
      isIdle = true
      idle.resolve()
      await wake.promise
      wake = Promise.withResolvers()
    }
  }

  const ended = run().finally(() => {
    idle.resolve()
    signal.removeEventListener('abort', onAbort)
    stopListening()
    for (const stop of cleanups.values()) stop()
  })
  return { ended, settled: () => idle.promise }
}

/** Updates the resource catalog when a CRD changes. The catalog contains one row for each served version of an established CRD. */
class ServedRows {
  readonly #catalog: Catalog
  /**
   * The catalog rows of each CRD, keyed by the name of the CRD. `from` contains the properties of the CRD from which the rows are built.
   */
  readonly #shown = new Map<string, { readonly from: string; readonly rows: readonly ResourceInfo[] }>()

  readonly #converterOf: (definition: Definition) => Converter | undefined

  constructor(catalog: Catalog, converterOf: (definition: Definition) => Converter | undefined) {
    this.#catalog = catalog
    this.#converterOf = converterOf
  }

  show(definition: Definition): void {
    const { name, uid, generation } = definition.metadata
    const from = [uid, generation, isConditionTrue(definition, 'Established'), isConditionTrue(definition, 'Terminating')].join()
    const before = this.#shown.get(name)
    if (before?.from === from) return
    const rows = customResources(definition, this.#converterOf(definition))
    for (const row of rows) this.#catalog.add(row)
    for (const { group, plural, version } of before?.rows ?? []) {
      if (!rows.some((row) => row.version === version)) this.#catalog.remove(group, plural, version)
    }
    this.#shown.set(name, { from, rows })
  }

  remove(name: string): void {
    const [row] = this.#shown.get(name)?.rows ?? []
    this.#shown.delete(name)
    if (row !== undefined) this.#catalog.remove(row.group, row.plural)
  }
}

/** True for a terminating CRD whose custom resources must be deleted before the CRD itself is deleted. */
function isCleanedUp({ metadata }: Definition): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(cleanupFinalizer) === true
}

const deletionInProgress = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
} as const

/** Updates the accepted names of a CRD, and its conditions NamesAccepted, Established and Terminating. Returns the updated CRD. */
async function updateStatus(
  { store, registry, catalog, clock }: DefinitionControllerOptions,
  object: JsonObject,
  signal: AbortSignal,
): Promise<Definition> {
  const definition = asDefinition(object)
  const snapshot = store.snapshot(definitionsKey)
  const others = snapshot.keys.map((key) => asDefinition(snapshot.get(key)!))
  const { names, conflict } = acceptNames(definition, others)
  const now = clock.now()
  const before = definition.status?.conditions ?? []
  let conditions = withCondition(
    before,
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict },
    now,
  )
  // An established CRD stays established even if its names conflict, because clients must still reach its custom resources.
  if (!isConditionTrue(definition, 'Established')) {
    const message = conflict === undefined ? 'the initial names have been accepted' : 'not all names are accepted'
    const [status, reason] = conflict === undefined ? (['True', 'InitialNamesAccepted'] as const) : (['False', 'NotAccepted'] as const)
    conditions = withCondition(conditions, { type: 'Established', status, reason, message }, now)
  }
  if (isCleanedUp(definition)) conditions = withCondition(conditions, deletionInProgress, now)
  const acceptedNames = names as unknown as JsonObject
  if (conditions === before && jsonEqual(acceptedNames, definition.status?.acceptedNames)) return definition
  const status = { ...(object.status as JsonObject), conditions: conditions as unknown as JsonObject[], acceptedNames }
  const info = catalog.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')!
  const updated = await registry.update(
    info,
    { name: definition.metadata.name },
    { object: { ...object, status }, duplicates: [] },
    systemContext(signal),
    'status',
  )
  return asDefinition(updated)
}

/** Deletes the custom resources of a terminating CRD. Removes the finalizer of the CRD when no custom resource remains. */
async function cleanUp(options: DefinitionControllerOptions, definition: Definition, signal: AbortSignal): Promise<void> {
  const { store, registry, catalog } = options
  const context = systemContext(signal)
  const row = storedResource(definition, webhookConverter(definition, options, signal))
  const { keys, get } = store.snapshot(row.storageKey)
  for (const key of keys) {
    const { name, namespace, deletionTimestamp } = (get(key) as { metadata: ObjectMeta } | undefined)?.metadata ?? {}
    if (name === undefined || deletionTimestamp !== undefined) continue
    await registry.delete(row, namespace === undefined ? { name } : { namespace, name }, {}, context).catch((error: unknown) => {
      if (!(error instanceof StatusError && error.status.reason === 'NotFound')) throw error
    })
  }
  if (store.snapshot(row.storageKey).keys.length > 0) return
  const { name } = definition.metadata
  const latest = store.get(definitionsKey, { name })
  if (latest === undefined) return
  const finalizers = (asDefinition(latest).metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
  const info = catalog.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')!
  await registry.update(
    info,
    { name },
    { object: { ...latest, metadata: { ...(latest.metadata as JsonObject), finalizers } }, duplicates: [] },
    context,
  )
}
