import { EventEmitter, on } from 'node:events'
import { defineController, defineKind, defineOperator, keyOf, patchStatusIfChanged, resourceType, source, Type } from 'proreus'
import type { CacheLease } from 'proreus'

/** A Census counts the objects of the type in its spec. */
export const census = defineKind({
  group: 'example.com',
  kind: 'Census',
  plural: 'censuses',
  versions: [
    {
      name: 'v1',
      spec: Type.Object(
        { group: Type.String(), version: Type.String(), kind: Type.String(), plural: Type.String() },
        { rules: [{ rule: 'self == oldSelf', message: 'the type cannot be changed' }] },
      ),
      status: Type.Object({ count: Type.Integer() }),
    },
  ],
})

const leases = new Map<string, CacheLease>()
const changes = new EventEmitter()

export const operator = defineOperator({
  name: 'census',
  kinds: [census],
  controllers: [
    defineController(census, {
      // RBAC rules are not generated for types that are known only at run time.
      rbac: [{ apiGroups: ['', 'apps', 'example.org'], resources: ['*'], verbs: ['list', 'watch'] }],
      sources: [
        source.from(
          ({ signal }) => on(changes, 'change', { signal }),
          ([key]) => [key],
        ),
      ],
      reconciliationTimeoutMs: 10_000,
      async reconcile(object, { cache, client, signal }) {
        const type = resourceType(object.spec)
        const { uid } = object.metadata
        let lease = leases.get(uid)
        if (lease === undefined) {
          lease = cache.acquire(type)
          leases.set(uid, lease)
          lease.onChange(() => changes.emit('change', keyOf(object)))
        }
        await lease.whenSynced(signal)
        await patchStatusIfChanged(client, census, object, { count: cache.list(type).length })
      },
      finalizer: {
        name: 'example.com/census',
        async finalize({ metadata: { uid } }) {
          leases.get(uid)?.release()
          leases.delete(uid)
        },
      },
    }),
  ],
})
