/** A cache and a client of a control plane, like those that a reconciler receives. The client records its requests. */
import type { Test } from 'tap'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { ObjectKey } from '../../../src/api/object.ts'
import { Cache } from '../../../src/cache/cache.ts'
import { readYourWrites } from '../../../src/cache/read-your-writes.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import { until } from '../../../src/testing/until.ts'

export interface WritesWorld {
  readonly context: { readonly client: Client; readonly cache: Cache }
  /** The requests of `context.client`, each as `verb plural name`. */
  readonly calls: string[]
  /** Calls `action` once, immediately before the next request whose description in `calls` matches `call`. */
  meanwhile(call: RegExp, action: () => Promise<unknown>): void
  /** Returns the requests since the last call of this function. */
  taken(): string[]
  /** Resolves when the cache and the API server have the same version of the object. */
  cached(type: ResourceType, key: ObjectKey): Promise<void>
}

const methods = ['get', 'create', 'update', 'patch', 'apply', 'patchStatus', 'updateStatus', 'delete'] as const

function nameIn(argument: unknown): string {
  const { name, metadata } = argument as { name?: string; metadata?: { name?: string } }
  return name ?? metadata?.name ?? ''
}

/** Starts a cache of the types. The cache is stopped at the end of the test. */
export async function writesWorld(
  t: Test,
  controlPlane: ControlPlane,
  types: readonly ResourceType[],
  manager = 'writer',
): Promise<WritesWorld> {
  const own = createClient(controlPlane.connection, { fieldManager: manager })
  const cache = new Cache(own, { logger: silentLogger() })
  for (const type of types) cache.informer(type)
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  t.teardown(async () => {
    stop.abort()
    await running
    await own.close()
  })
  await cache.whenSynced()
  const calls: string[] = []
  const actions: { readonly call: RegExp; readonly action: () => Promise<unknown> }[] = []
  const written = readYourWrites(own, cache)
  const client = { ...written }
  for (const method of methods) {
    const send = written[method] as (type: ResourceType, argument: unknown, ...rest: unknown[]) => Promise<unknown>
    Object.assign(client, {
      async [method](type: ResourceType, argument: unknown, ...rest: unknown[]) {
        const call = `${method} ${type.plural} ${nameIn(argument)}`
        const index = actions.findIndex((each) => each.call.test(call))
        if (index >= 0) await actions.splice(index, 1)[0]!.action()
        calls.push(call)
        return send(type, argument, ...rest)
      },
    })
  }
  return {
    context: { client, cache },
    calls,
    meanwhile: (call, action) => void actions.push({ call, action }),
    taken: () => calls.splice(0),
    async cached(type, key) {
      const state = (object: { metadata: { uid: string; resourceVersion: string } } | undefined): string =>
        `${object?.metadata.uid} ${object?.metadata.resourceVersion}`
      await until('the cache is up to date', async () => {
        const live = await controlPlane.client.get(type, key).catch(() => undefined)
        return state(cache.get(type, key) as never) === state(live)
      })
    },
  }
}
