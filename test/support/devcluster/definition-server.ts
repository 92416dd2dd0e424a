/** Starts the controller for CustomResourceDefinitions in tests, together with a registry and a store. */
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { ObjectKey } from '../../../src/api/object.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { ruleAuthorizer } from '../../../src/devcluster/access/authorizer.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { customResourceDefinitions } from '../../../src/devcluster/crd/custom-resource-definitions.ts'
import type { WebhookCaller } from '../../../src/devcluster/admission/caller.ts'
import { startDefinitionController } from '../../../src/devcluster/crd/definition-controller.ts'
import { systemContext } from '../../../src/devcluster/crd/system-context.ts'
import { Registry } from '../../../src/devcluster/registry/registry.ts'
import { namespaces } from '../../../src/devcluster/resources/builtin/namespaces.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import type { Subscriber } from '../../../src/devcluster/storage/object-store.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import type { Logger } from '../../../src/telemetry/logger.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'

export const context = systemContext(new AbortController().signal)
export const body = (object: JsonObject): { object: JsonObject; duplicates: [] } => ({ object, duplicates: [] })

export interface DefinitionServer {
  readonly catalog: Catalog
  readonly registry: Registry
  readonly definitions: ResourceInfo
  /** The storage keys of the current subscriptions to the store. A subscriber receives the changes of all objects of one storage key. */
  readonly subscriptions: readonly string[]
  /** Stops the controller. */
  stop(): Promise<void>
  create(definition: JsonObject): Promise<JsonObject>
  get(name?: string): JsonObject
  /** Returns the versions in which widgets are served. */
  served(): string[]
}

interface StartOptions {
  readonly logger?: Logger
  readonly clock?: FakeClock
  readonly beforeUpdate?: () => void
  readonly beforeDelete?: (key: ObjectKey) => void | Promise<void>
}

/** A webhook caller that no test calls: the types in this file have no conversion webhook. */
const noCaller: WebhookCaller = { call: () => Promise.reject(new Error('nobody is to be called')), close: () => Promise.resolve() }

/**
 * Starts a controller for CustomResourceDefinitions. `beforeUpdate` and `beforeDelete` run before the registry updates or deletes an
 * object; if they throw, the operation fails with their error.
 */
export function startDefinitionServer(
  t: Test,
  {
    logger = silentLogger(),
    clock = new FakeClock(),
    beforeUpdate = (): void => undefined,
    beforeDelete = (): void => undefined,
  }: StartOptions = {},
): DefinitionServer {
  const definitions = customResourceDefinitions(clock)
  const catalog = new Catalog([definitions, namespaces])
  const store = new ObjectStore()
  const registry = new Registry({ store, catalog, admission: admitAll, authorizer: ruleAuthorizer(), clock })
  const stop = new AbortController()
  const subscriptions: string[] = []
  t.intercept(store, 'subscribe', {
    value: (storageKey: string, subscriber: Subscriber) => {
      const unsubscribe = ObjectStore.prototype.subscribe.call(store, storageKey, subscriber)
      subscriptions.push(storageKey)
      return () => {
        subscriptions.splice(subscriptions.indexOf(storageKey), 1)
        unsubscribe()
      }
    },
  })
  const own = {
    async delete(...request: Parameters<Registry['delete']>) {
      const [, key, , { signal }] = request
      t.equal(signal, stop.signal)
      await beforeDelete(key)
      return registry.delete(...request)
    },
    async update(...request: Parameters<Registry['update']>) {
      const [, , , { signal }] = request
      t.equal(signal, stop.signal)
      await Promise.resolve()
      beforeUpdate()
      return registry.update(...request)
    },
  } as unknown as Registry
  const { ended: running } = startDefinitionController(
    { store, registry: own, catalog, caller: noCaller, clock, random: Math.random, logger },
    stop.signal,
  )
  t.teardown(() => {
    stop.abort()
    return running
  })
  return {
    catalog,
    registry,
    definitions,
    subscriptions,
    async stop() {
      stop.abort()
      await running
    },
    create: (definition) => registry.create(definitions, undefined, body(definition), context),
    get: (name = 'widgets.example.com') => registry.get(definitions, { name }),
    served: () =>
      catalog
        .all()
        .filter(({ plural }) => plural === 'widgets')
        .map(({ version }) => version),
  }
}

/** Returns the conditions of a CustomResourceDefinition as `TYPE=STATUS REASON`. */
export const conditionsOf = (definition: JsonObject): string[] =>
  ((definition.status as { conditions?: { type: string; status: string; reason: string }[] }).conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  )

/** Replaces `spec.names` of a CustomResourceDefinition. */
export async function rename(server: DefinitionServer, name: string, names: JsonObject): Promise<void> {
  const definition = server.get(name)
  const spec = definition.spec as JsonObject & { names: JsonObject }
  const changed = { ...definition, spec: { ...spec, names: { ...spec.names, ...names } } }
  await server.registry.update(server.definitions, { name }, body(changed), context)
}
