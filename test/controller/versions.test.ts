import t from 'tap'
import { defineController, defineKind, keyOf, predicates, source, Type, versionOf } from '../../src/index.ts'
import { runController } from '../../src/controller/run-controller.ts'
import { controllerWorld } from '../support/controller/fakes.ts'
import type { KubernetesObject } from '../../src/api/object.ts'

const lamp = defineKind({
  group: 'example.com',
  kind: 'Lamp',
  versions: [
    { name: 'v1', spec: Type.Object({ watts: Type.Integer() }), status: Type.Object({ on: Type.Boolean() }) },
    { name: 'v2', storage: true, spec: Type.Object({ power: Type.Object({ watts: Type.Integer() }) }) },
  ],
})
const room = defineKind({ group: 'example.com', kind: 'Room', versions: [{ name: 'v1', spec: Type.Object({ lamp: Type.String() }) }] })
const lampV1 = versionOf(lamp, 'v1')

t.test('a controller of another version gets the objects of its own version, with their types', async (t) => {
  const seen: unknown[] = []
  const old = defineController(lampV1, {
    name: 'lamp-v1',
    resyncPeriodMs: 0,
    predicates: [predicates.funcs({ updated: ({ object, old: before }) => object.spec.watts !== before.spec.watts })],
    async reconcile(object, { cache, client }) {
      const watts: number = object.spec.watts
      const on: boolean | undefined = object.status?.on
      // @ts-expect-error the field is one of v2
      const wrong: unknown = object.spec.power
      const cached: number | undefined = cache.get(lampV1, keyOf(object))?.spec.watts
      seen.push([object.apiVersion, watts, on, wrong, cached])
      if (watts < 0) {
        const read: number = (await client.get(lampV1, keyOf(object))).spec.watts
        await client.patch(lampV1, keyOf(object), { spec: { watts: read } })
        // @ts-expect-error a write in v1 has the fields of v1
        await client.patch(lampV1, keyOf(object), { spec: { power: { watts: read } } })
      }
    },
  })
  t.equal(old.type.version, 'v1')
  t.strictSame(old.rbac, [{ apiGroups: ['example.com'], resources: ['lamps'], verbs: ['get', 'list', 'watch'] }])
  const { cache, clock, environment, stop } = controllerWorld()
  const done = runController(old, environment, stop.signal)
  const metadata = { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' }
  const object = { apiVersion: 'example.com/v1', kind: 'Lamp', metadata, spec: { watts: 5 } }
  cache.of(lampV1).set(object as KubernetesObject)
  cache.of(lampV1).sync()
  await clock.advance(0)
  t.strictSame(seen, [['example.com/v1', 5, undefined, undefined, 5]])
  stop.abort()
  await done
})

t.test('owned and watched types may be versions of a kind, and the hub keeps its own', async (t) => {
  const definition = defineController(lamp, {
    owns: [room],
    watches: [
      {
        type: lampV1,
        predicates: [predicates.funcs({ added: ({ object }) => object.spec.watts > 0 })],
        map: (object) => (object.spec.watts > 1 ? [keyOf(object)] : []),
      },
      {
        type: room,
        map: async ({ metadata: { namespace }, spec }, { signal }) => (signal.aborted ? [] : [{ namespace, name: spec.lamp }]),
      },
    ],
    sources: [source.interval(1000, ({ cache }) => cache.list(lampV1).map(keyOf))],
    async reconcile(object, { cache }) {
      const watts: number = object.spec.power.watts
      const old: number | undefined = cache.get(lampV1, keyOf(object))?.spec.watts
      // @ts-expect-error the field is one of v1
      const wrong: unknown = object.spec.watts
      void [watts, old, wrong]
    },
  })
  t.strictSame(
    definition.types.map(({ kind, version }) => `${kind} ${version}`),
    ['Lamp v2', 'Room v1', 'Lamp v1'],
  )
  const owner = defineController(room, { owns: [lampV1, { type: lamp, everyOwner: true }], reconcile: async () => undefined })
  t.strictSame(
    owner.types.map(({ kind, version }) => `${kind} ${version}`),
    ['Room v1', 'Lamp v1', 'Lamp v2'],
  )
  const wrongField = { type: lampV1, map: ({ spec }: { readonly spec: { readonly power: object } }) => (spec.power ? [] : []) }
  // @ts-expect-error the map function gets the objects of the watched version
  void (() => defineController(lamp, { watches: [wrongField], reconcile: async () => undefined }))
})
