/** Tests of the options of a webhook server: its kinds, its port and its cache. */
import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import { forbidden } from '../../src/api/field-error.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { Kind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import type { ProcessCache } from '../../src/webhook/handlers/admission-cache.ts'
import { fixture, widgetObject } from '../support/webhook/fixture.ts'

t.test('the schemas are compiled before the server listens', async (t) => {
  const fields = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, Type.Object({ a: Type.String() })]))
  const widgetOf = (): Kind =>
    defineKind({ group: 'apps.example.com', kind: 'Widget', versions: [{ name: 'v1', spec: Type.Object(fields) }] })
  const [first, cold, warm] = [widgetOf(), widgetOf(), widgetOf()]
  const msOf = (kind: Kind): number => {
    const began = performance.now()
    schemaOf(kind, 'v1').validate({})
    return performance.now() - began
  }
  msOf(first)
  const coldMs = msOf(cold)
  const { server } = await fixture(t, {}, { webhooks: [defineWebhook(warm)] })
  await server.start()
  const warmMs = msOf(warm)
  t.ok(warmMs < coldMs / 4, `${warmMs.toFixed(2)} ms instead of ${coldMs.toFixed(2)} ms`)
})

t.test('the default port is 9443', async (t) => {
  const { server } = await fixture(t, {}, { port: undefined as never })
  const ports: unknown[] = []
  server.app.server.listen = ((options: { readonly port: number }) => {
    ports.push(options.port)
    queueMicrotask(() => server.app.server.emit('error', new Error('not in a test')))
  }) as never
  await t.rejects(server.start(), { message: /not in a test/ })
  t.strictSame(ports, [9443])
})

t.test('handlers read from the cache of the process', async (t) => {
  const cached = { metadata: { namespace: 'ns', name: 'c' }, data: { allowed: 'no' } }
  const cache = {
    informer: () => ({ synced: true, whenSynced: async () => undefined }),
    namespaces: [],
    get: (_type: unknown, { name }: { readonly name: string }) => (name === 'c' ? cached : undefined),
    list: () => [],
  } as unknown as ProcessCache
  const { ask } = await fixture(
    t,
    {
      reads: [configMap],
      validateInCluster: (_object, _old, context) =>
        context.cache.get(configMap, { namespace: 'ns', name: 'c' })?.data?.['allowed'] === 'no'
          ? [forbidden('spec', 'says the cache')]
          : [],
    },
    { cache },
  )
  t.match(await ask('validate', { object: widgetObject({ size: 3, image: 'i' }) }), {
    allowed: false,
    status: { message: /says the cache/ },
  })
})
