import { core, defineCacheIndex, defineController, defineKind, defineOperator, defineWebhook, duplicate, keyOf, Type } from 'proreus'

export const page = defineKind({
  group: 'example.com',
  kind: 'Page',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        host: Type.String({ minLength: 1 }),
        theme: Type.String({ description: 'Name of a ConfigMap.' }),
        closesAt: Type.Optional(Type.String({ format: 'date-time' })),
      }),
      status: Type.Object({ colour: Type.String(), open: Type.Boolean() }),
    },
  ],
})

const pagesByTheme = defineCacheIndex(page, 'theme', ({ spec }) => spec.theme)
const pagesByHost = defineCacheIndex(page, 'host', ({ spec }) => spec.host)

export const operator = defineOperator({
  name: 'page',
  kinds: [page],
  controllers: [
    defineController(page, {
      indexes: [pagesByTheme],
      watches: [
        {
          type: core.configMap,
          map: ({ metadata: { namespace, name } }, { cache }) => cache.list(page, { namespace, index: [pagesByTheme, name] }).map(keyOf),
        },
      ],
      async reconcile(object, { cache, client, clock }) {
        const { namespace } = object.metadata
        const { theme, closesAt } = object.spec
        const left = closesAt === undefined ? Infinity : Date.parse(closesAt) - clock.now()
        const status = { colour: cache.get(core.configMap, { namespace, name: theme })?.data?.['colour'] ?? 'grey', open: left > 0 }
        if (object.status?.colour !== status.colour || object.status.open !== status.open)
          await client.patchStatus(page, keyOf(object), { status })
        return left > 0 && left < Infinity ? { requeueAfterMs: left } : undefined
      },
    }),
  ],
  webhooks: [
    defineWebhook(page, {
      reads: [page],
      indexes: [pagesByHost],
      validateInCluster({ metadata, spec }, _old, { cache, namespace }) {
        const sameHost = cache.list(page, { index: [pagesByHost, spec.host] })
        const others = sameHost.filter((other) => other.metadata.namespace !== namespace || other.metadata.name !== metadata.name)
        return others.length === 0 ? [] : [duplicate('spec.host', spec.host)]
      },
    }),
  ],
})
