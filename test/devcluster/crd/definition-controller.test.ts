/** Tests of the controller for CustomResourceDefinitions: acceptance, serving, retries. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { badRequest, conflict } from '../../../src/devcluster/apimachinery/status-error.ts'
import type { Logger } from '../../../src/telemetry/logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { body, conditionsOf, context, rename, startDefinitionServer as start } from '../../support/devcluster/definition-server.ts'
import { widget, widgetDefinition, widgetVersion } from '../../support/devcluster/definitions.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { until } from '../../../src/testing/until.ts'

t.test('a definition is established and then served', async (t) => {
  const server = start(t)
  const created = await server.create(widgetDefinition())
  t.match(created, { status: { storedVersions: ['v1'], acceptedNames: { kind: '', plural: '' } } })
  t.strictSame(server.served(), [])
  await until('served', () => server.served().length > 0)
  const definition = server.get()
  t.strictSame(conditionsOf(definition), ['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted'])
  t.match(definition, {
    status: {
      acceptedNames: {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        listKind: 'WidgetList',
        shortNames: ['wd'],
        categories: ['all'],
      },
    },
  })
  const info = server.catalog.find('example.com', 'v1', 'widgets')!
  t.match(info, {
    kind: 'Widget',
    listKind: 'WidgetList',
    singular: 'widget',
    shortNames: ['wd'],
    categories: ['all'],
    namespaced: true,
    custom: true,
  })
  t.strictSame(Object.keys(info.subresources), ['status', 'scale'])
})

t.test('additionalProperties: true is served as a map with any values', async (t) => {
  const server = start(t)
  const free: JsonObject = { type: 'object', additionalProperties: true }
  const openAPIV3Schema: JsonObject = { type: 'object', properties: { spec: free } }
  await server.create(widgetDefinition({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] }))
  t.match(server.get(), { spec: { versions: [{ schema: { openAPIV3Schema: { properties: { spec: free } } } }] } })
})

t.test('a custom resource has the columns, selectable fields and scale of its definition', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('served', () => server.served().length > 0)
  const info = server.catalog.find('example.com', 'v1', 'widgets')!
  const object = { ...widget('a', { size: 3, color: 'blue' }), metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' } }
  const now = Date.parse('2026-01-01T00:01:30Z')
  t.strictSame(
    info.columns.map((column) => [column.name, column.priority, column.cell(object, now)]),
    [
      ['Name', 0, 'a'],
      ['Size', 0, 3],
      ['Phase', 0, null],
      ['Color', 1, 'blue'],
      ['Age', 0, '90s'],
    ],
  )
  t.strictSame(info.selectableFields(object), { 'spec.color': 'blue' })
  const scale = info.subresources.scale!
  t.match(scale.read?.(object), { kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 0 } })
  t.match(scale.write?.(object, { spec: { replicas: 5 } }, { now, cluster: undefined as never }), { spec: { size: 5, color: 'blue' } })
  t.throws(() => scale.read?.({ metadata: {} }), {
    message: 'Internal error occurred: the spec replicas field ".spec.size" does not exist',
  })
})

t.test('a definition without columns has an Age column', async (t) => {
  const server = start(t)
  const { additionalPrinterColumns, ...version } = widgetVersion
  t.ok(additionalPrinterColumns)
  await server.create(widgetDefinition({ versions: [version] }))
  await until('served', () => server.served().length > 0)
  t.strictSame(
    server.catalog.find('example.com', 'v1', 'widgets')?.columns.map(({ name }) => name),
    ['Name', 'Age'],
  )
})

t.test('an update of a definition changes the served versions', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('v1', () => server.served().join() === 'v1')
  const v2 = { ...widgetVersion, name: 'v2', storage: false }
  const definition = server.get()
  await server.registry.update(
    server.definitions,
    { name: 'widgets.example.com' },
    body({ ...definition, spec: { ...(definition.spec as JsonObject), versions: [widgetVersion, v2] } }),
    context,
  )
  await until('both', () => server.served().join() === 'v2,v1')
  const moved = server.get()
  await server.registry.update(
    server.definitions,
    { name: 'widgets.example.com' },
    body({
      ...moved,
      spec: {
        ...(moved.spec as JsonObject),
        versions: [
          { ...widgetVersion, served: false, storage: false },
          { ...v2, storage: true },
        ],
      },
    }),
    context,
  )
  await until('v2', () => server.served().join() === 'v2')
  t.strictSame((server.get().status as { storedVersions: string[] }).storedVersions, ['v1', 'v2'])
})

t.test('an object is served in every version', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition({ versions: [widgetVersion, { ...widgetVersion, name: 'v2', storage: false }], scope: 'Cluster' }))
  await until('both', () => server.served().length === 2)
  const [v1, v2] = ['v1', 'v2'].map((version) => server.catalog.find('example.com', version, 'widgets')!)
  await server.registry.create(v2!, undefined, body({ ...widget('a'), apiVersion: 'example.com/v2' }), context)
  t.match(server.registry.get(v1!, { name: 'a' }), { apiVersion: 'example.com/v1', spec: { size: 1, color: 'red' } })
  t.match(server.registry.get(v2!, { name: 'a' }), { apiVersion: 'example.com/v2' })
})

t.test('a definition with the names of another one is not accepted', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('served', () => server.served().length > 0)
  await server.create(
    widgetDefinition({ names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['wd'] } }, { name: 'gadgets.example.com' }),
  )
  await until('judged', () => conditionsOf(server.get('gadgets.example.com')).length > 0)
  t.strictSame(conditionsOf(server.get('gadgets.example.com')), ['NamesAccepted=False ShortNamesConflict', 'Established=False NotAccepted'])
  t.equal(server.catalog.find('example.com', 'v1', 'gadgets'), undefined)
  await server.registry.delete(server.definitions, { name: 'widgets.example.com' }, {}, context)
  await until('the names are free', () => server.catalog.find('example.com', 'v1', 'gadgets'))
})

t.test('changed names of an established definition are accepted', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('served', () => server.served().length > 0)
  const before = conditionsOf(server.get())
  await rename(server, 'widgets.example.com', { shortNames: ['wx'], categories: null })
  await until('the names are served', () => server.catalog.find('example.com', 'v1', 'widgets')!.shortNames.includes('wx'))
  const { acceptedNames } = server.get().status as { acceptedNames: JsonObject }
  t.strictSame([acceptedNames.shortNames, acceptedNames.plural], [['wx'], 'widgets'])
  t.strictSame(conditionsOf(server.get()), before)
})

t.test('an established definition remains established when its changed names conflict', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('served', () => server.served().length > 0)
  const name = 'gadgets.example.com'
  await server.create(widgetDefinition({ names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'] } }, { name }))
  await until('served', () => server.catalog.find('example.com', 'v1', 'gadgets'))
  await rename(server, name, { shortNames: ['wd'] })
  await until('the conflict is found', () => conditionsOf(server.get(name))[0]?.startsWith('NamesAccepted=False'))
  t.strictSame(conditionsOf(server.get(name)), ['NamesAccepted=False ShortNamesConflict', 'Established=True InitialNamesAccepted'])
  t.ok(server.catalog.find('example.com', 'v1', 'gadgets'))
})

t.test('a refused deletion of a custom resource is retried', async (t) => {
  const clock = new FakeClock()
  const logged: string[] = []
  const logger = { error: (_fields: unknown, text: string) => logged.push(text) } as unknown as Logger
  let refusals = 1
  const server = start(t, {
    clock,
    logger,
    beforeDelete: () => {
      if (refusals > 0) {
        refusals -= 1
        throw badRequest('not now')
      }
    },
  })
  await server.create(widgetDefinition({ scope: 'Cluster' }))
  await until('served', () => server.served().length > 0)
  await server.registry.create(server.catalog.find('example.com', 'v1', 'widgets')!, undefined, body(widget('a')), context)
  await server.registry.delete(server.definitions, { name: 'widgets.example.com' }, {}, context)
  await until('it waits', () => clock.pending === 1)
  t.strictSame(logged, ['CustomResourceDefinition widgets.example.com could not be reconciled, retrying: not now'])
  await clock.advance(500)
  await until('gone', () => server.served().length === 0)
})

t.test('a deleted definition deletes its custom resources and waits for them', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition({ scope: 'Cluster' }))
  await until('served', () => server.served().length > 0)
  const info = (): ResourceInfo => server.catalog.find('example.com', 'v1', 'widgets')!
  await server.registry.create(info(), undefined, body(widget('a')), context)
  await server.registry.create(info(), undefined, body(widget('held', { size: 1 }, { finalizers: ['example.com/wait'] })), context)
  const answer = await server.registry.delete(server.definitions, { name: 'widgets.example.com' }, {}, context)
  t.match(answer, { accepted: true, object: { metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] } } })
  t.match(conditionsOf(answer.object), [
    'NamesAccepted=True NoConflicts',
    'Established=True InitialNamesAccepted',
    'Terminating=True InstanceDeletionPending',
  ])
  await until('only the held one is left', () => server.registry.list(info(), {}).items.length === 1)
  t.strictSame(conditionsOf(server.get()), [
    'NamesAccepted=True NoConflicts',
    'Established=True InitialNamesAccepted',
    'Terminating=True InstanceDeletionInProgress',
  ])
  t.match(await rejectionOf(server.registry.create(info(), undefined, body(widget('late')), context)), {
    status: { code: 403, reason: 'Forbidden', message: /create not allowed while custom resource definition is terminating$/ },
  })
  const held = server.registry.get(info(), { name: 'held' })
  await server.registry.update(
    info(),
    { name: 'held' },
    body({ ...held, metadata: { ...(held.metadata as JsonObject), finalizers: [] } }),
    context,
  )
  await until('gone', () => server.served().length === 0)
  t.throws(() => server.get(), { message: 'customresourcedefinitions.apiextensions.k8s.io "widgets.example.com" not found' })
  await server.create(widgetDefinition())
  await until('served again', () => server.served().length > 0)
})

t.test('a failed update is retried after half a second and logged once', async (t) => {
  const clock = new FakeClock()
  const logged: unknown[] = []
  const logger = { error: (fields: { err: Error }, text: string) => logged.push([fields.err.message, text]) } as unknown as Logger
  const failures = ['no room', 'no room', 'no power']
  let tries = 0
  const server = start(t, {
    clock,
    logger,
    beforeUpdate: () => {
      const message = failures[tries]
      tries += 1
      if (message !== undefined) throw new Error(message)
    },
  })
  await server.create(widgetDefinition())
  for (const [index] of failures.entries()) {
    await until('it is waited for', () => tries === index + 1 && clock.pending === 1)
    await clock.advance(499)
    t.equal(tries, index + 1)
    await clock.advance(1)
  }
  await until('served', () => server.served().length > 0)
  t.strictSame(logged, [
    ['no room', 'CustomResourceDefinition widgets.example.com could not be reconciled, retrying: no room'],
    ['no power', 'CustomResourceDefinition widgets.example.com could not be reconciled, retrying: no power'],
  ])
})

t.test('an error that occurs again after a successful reconcile is logged again', async (t) => {
  const clock = new FakeClock()
  const logged: string[] = []
  const logger = { error: (_fields: unknown, text: string) => logged.push(text) } as unknown as Logger
  let failures = 1
  const server = start(t, {
    clock,
    logger,
    beforeUpdate: () => {
      if (failures === 0) return
      failures -= 1
      throw new Error('no room')
    },
  })
  const line = 'CustomResourceDefinition widgets.example.com could not be reconciled, retrying: no room'
  await server.create(widgetDefinition())
  await until('the retry is scheduled', () => clock.pending === 1)
  t.strictSame(logged, [line])
  await clock.advance(500)
  await until('served', () => server.served().length > 0)
  failures = 1
  await rename(server, 'widgets.example.com', { shortNames: ['wx'] })
  await until('the retry is scheduled', () => clock.pending === 1)
  t.strictSame(logged, [line, line])
  await clock.advance(500)
  await until('the names are served', () => server.catalog.find('example.com', 'v1', 'widgets')!.shortNames.includes('wx'))
  t.equal(logged.length, 2)
})

t.test('a conflict is not logged and not retried: the newer state triggers another sync', async (t) => {
  const clock = new FakeClock()
  const logger = { error: () => t.fail('nothing is said') } as unknown as Logger
  let tries = 0
  const server = start(t, {
    clock,
    logger,
    beforeUpdate: () => {
      tries += 1
      if (tries === 1)
        throw conflict(
          { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', plural: 'customresourcedefinitions' },
          'a',
          'too late',
        )
    },
  })
  await server.create(widgetDefinition())
  await until('it was tried', () => tries === 1)
  t.equal(clock.pending, 0, 'no retry is scheduled')
  const definition = server.get()
  await server.registry.update(
    server.definitions,
    { name: 'widgets.example.com' },
    body({ ...definition, metadata: { ...(definition.metadata as JsonObject), labels: { a: 'b' } } }),
    context,
  )
  await until('served', () => server.served().length > 0)
})

t.test('a stopped controller serves no further definitions', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('served', () => server.served().length > 0)
  await server.stop()
  await server.create(widgetDefinition({ names: { plural: 'gadgets', kind: 'Gadget' } }, { name: 'gadgets.example.com' }))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(conditionsOf(server.get('gadgets.example.com')), [])
})
