/** Tests of the controller for CustomResourceDefinitions: the deletion of definitions, and the end of the controller. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import type { DefinitionServer } from '../../support/devcluster/definition-server.ts'
import { body, context, startDefinitionServer } from '../../support/devcluster/definition-server.ts'
import { widget, widgetDefinition } from '../../support/devcluster/definitions.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { until } from '../../../src/testing/until.ts'

const definitions = 'apiextensions.k8s.io/customresourcedefinitions'
const name = 'widgets.example.com'

async function serve(server: DefinitionServer): Promise<ResourceInfo> {
  await server.create(widgetDefinition({ scope: 'Cluster' }))
  return until('served', () => server.catalog.find('example.com', 'v1', 'widgets'))
}

/** Resolves when the controller has done all work that does not wait for a timer. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

t.test('the custom resources of a definition are observed from its deletion until they are gone', async (t) => {
  const deleted: string[] = []
  const server = startDefinitionServer(t, { beforeDelete: (key) => void deleted.push(key.name) })
  const info = await serve(server)
  t.strictSame(server.subscriptions, [definitions])
  for (const one of ['a', 'b'])
    await server.registry.create(info, undefined, body(widget(one, { size: 1 }, { finalizers: ['example.com/wait'] })), context)
  await server.registry.delete(server.definitions, { name }, {}, context)
  await until('both are being deleted', () => deleted.length === 2)
  await quiet()
  const release = async (one: string): Promise<void> => {
    const held = server.registry.get(info, { name: one })
    const metadata = { ...(held.metadata as JsonObject), finalizers: [] }
    await server.registry.update(info, { name: one }, body({ ...held, metadata }), context)
  }
  await release('a')
  await quiet()
  t.strictSame(server.subscriptions, [definitions, 'example.com/widgets'], 'once')
  t.strictSame(deleted, ['a', 'b'], 'an object that is being deleted is not deleted again')
  await release('b')
  await until('gone', () => server.served().length === 0)
  t.strictSame(server.subscriptions, [definitions])
})

t.test('a custom resource that somebody else deletes at the same time is ignored', async (t) => {
  const { logger, lines } = recordingLogger()
  const clock = new FakeClock()
  const server: DefinitionServer = startDefinitionServer(t, {
    logger,
    clock,
    beforeDelete: async (key) => void (await server.registry.delete(info, key, {}, context)),
  })
  const info = await serve(server)
  for (const one of ['a', 'b']) await server.registry.create(info, undefined, body(widget(one)), context)
  await server.registry.delete(server.definitions, { name }, {}, context)
  await until('gone', () => server.served().length === 0)
  t.strictSame([lines, clock.pending], [[], 0])
})

t.test('the end of the controller ends its subscriptions and its retries', async (t) => {
  const clock = new FakeClock()
  let isFull = false
  const server = startDefinitionServer(t, {
    clock,
    beforeDelete: () => {
      if (isFull) throw new Error('no room')
    },
  })
  const info = await serve(server)
  await server.registry.create(info, undefined, body(widget('a')), context)
  isFull = true
  await server.registry.delete(server.definitions, { name }, {}, context)
  await until('it waits', () => clock.pending > 0)
  t.equal(server.subscriptions.length, 2)
  await server.stop()
  t.strictSame([server.subscriptions, clock.pending], [[], 0])
})

t.test('a failure during the end of the controller is not logged', async (t) => {
  const { logger, lines } = recordingLogger()
  const failing = Promise.withResolvers<void>()
  const deleting = Promise.withResolvers<void>()
  const server = startDefinitionServer(t, {
    logger,
    beforeDelete: () => {
      deleting.resolve()
      return failing.promise
    },
  })
  const info = await serve(server)
  await server.registry.create(info, undefined, body(widget('a')), context)
  await server.registry.delete(server.definitions, { name }, {}, context)
  await deleting.promise
  const stopped = server.stop()
  failing.reject(new Error('aborted'))
  await stopped
  t.strictSame(lines, [])
})

t.test('the conditions of a definition tell how it was accepted and what it waits for', async (t) => {
  const server = startDefinitionServer(t)
  const messagesOf = (one: string): string[] =>
    (server.get(one).status as unknown as { conditions: { message: string }[] }).conditions.map(({ message }) => message)
  const info = await serve(server)
  const other = 'gadgets.example.com'
  await server.create(widgetDefinition({ names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['wd'] } }, { name: other }))
  await quiet()
  t.strictSame(messagesOf(name), ['no conflicts found', 'the initial names have been accepted'])
  t.strictSame(messagesOf(other), ['"wd" is already in use', 'not all names are accepted'])
  await server.registry.create(info, undefined, body(widget('a', { size: 1 }, { finalizers: ['example.com/wait'] })), context)
  await server.registry.delete(server.definitions, { name }, {}, context)
  await quiet()
  t.strictSame(messagesOf(name), ['no conflicts found', 'the initial names have been accepted', 'CustomResource deletion is in progress'])
})
