import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { customResourceDefinitions } from '../../../src/devcluster/crd/custom-resource-definitions.ts'
import type { WebhookCaller } from '../../../src/devcluster/admission/caller.ts'
import { runDefinitionController } from '../../../src/devcluster/crd/definition-controller.ts'
import { systemContext } from '../../../src/devcluster/crd/system-context.ts'
import { Registry } from '../../../src/devcluster/registry/registry.ts'
import { conflict } from '../../../src/devcluster/apimachinery/status-error.ts'
import { namespaces } from '../../../src/devcluster/resources/builtin/namespaces.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import type { Logger } from '../../../src/telemetry/logger.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { widget, widgetDefinition, widgetVersion } from '../../support/devcluster-definitions.ts'
import { rejectionOf } from '../../support/devcluster-errors.ts'
import { until } from '../../support/process.ts'

const context = systemContext(new AbortController().signal)
const body = (object: JsonObject): { object: JsonObject; duplicates: [] } => ({ object, duplicates: [] })

interface Server {
  readonly catalog: Catalog
  readonly registry: Registry
  readonly definitions: ResourceInfo
  /** Ends the controller. */
  stop(): Promise<void>
  create(definition: JsonObject): Promise<JsonObject>
  get(name?: string): JsonObject
  /** The versions of widgets that are served. */
  served(): string[]
}

interface StartOptions {
  readonly logger?: Logger
  readonly clock?: FakeClock
  readonly beforeUpdate?: () => void
}

/** No type of these tests has a conversion webhook. */
const noCaller: WebhookCaller = { call: () => Promise.reject(new Error('nobody is to be called')), close: () => Promise.resolve() }

/** `update` of the registry, before it is called: what is thrown there comes instead. */
function start(
  t: Test,
  { logger = silentLogger(), clock = new FakeClock(), beforeUpdate = (): void => undefined }: StartOptions = {},
): Server {
  const definitions = customResourceDefinitions(clock)
  const catalog = new Catalog([definitions, namespaces])
  const store = new ObjectStore()
  const registry = new Registry({ store, catalog, admission: admitAll, clock })
  const stop = new AbortController()
  const own = {
    delete: (...request: Parameters<Registry['delete']>) => registry.delete(...request),
    update: (...request: Parameters<Registry['update']>) =>
      Promise.resolve(request).then((given) => (beforeUpdate(), registry.update(...given))),
  } as unknown as Registry
  const running = runDefinitionController({ store, registry: own, catalog, caller: noCaller, clock, logger }, stop.signal)
  t.teardown(() => {
    stop.abort()
    return running
  })
  return {
    catalog,
    registry,
    definitions,
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

const conditionsOf = (definition: JsonObject): string[] =>
  ((definition.status as { conditions?: { type: string; status: string; reason: string }[] }).conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  )

t.test('a definition is established, and then served', async (t) => {
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

t.test('a definition may say that a map has any values, without a schema for them', async (t) => {
  const server = start(t)
  const free: JsonObject = { type: 'object', additionalProperties: true }
  const openAPIV3Schema: JsonObject = { type: 'object', properties: { spec: free } }
  await server.create(widgetDefinition({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] }))
  t.match(server.get(), { spec: { versions: [{ schema: { openAPIV3Schema: { properties: { spec: free } } } }] } })
})

t.test('columns, selectable fields and scale come from the definition', async (t) => {
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
  t.match(scale.write?.(object, { spec: { replicas: 5 } }, { now }), { spec: { size: 5, color: 'blue' } })
  t.throws(() => scale.read?.({ metadata: {} }), {
    message: 'Internal error occurred: the spec replicas field ".spec.size" does not exist',
  })
})

t.test('without columns there is an Age', async (t) => {
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

t.test('an update changes what is served', async (t) => {
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

t.test('names that another definition has are not accepted', async (t) => {
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

t.test('a deleted definition takes its custom resources with it, and waits for them', async (t) => {
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

t.test('what fails is tried again after half a second, and said once', async (t) => {
  const clock = new FakeClock()
  const said: unknown[] = []
  const logger = { error: (fields: { err: Error }, text: string) => said.push([fields.err.message, text]) } as unknown as Logger
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
  t.strictSame(said, [
    ['no room', 'CustomResourceDefinition widgets.example.com could not be reconciled, retrying: no room'],
    ['no power', 'CustomResourceDefinition widgets.example.com could not be reconciled, retrying: no power'],
  ])
})

t.test('a write that came too late is no failure: the newer state comes by itself', async (t) => {
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
  t.equal(clock.pending, 0, 'no second try is waited for')
  const definition = server.get()
  await server.registry.update(
    server.definitions,
    { name: 'widgets.example.com' },
    body({ ...definition, metadata: { ...(definition.metadata as JsonObject), labels: { a: 'b' } } }),
    context,
  )
  await until('served', () => server.served().length > 0)
})

t.test('a controller that has ended serves nothing more', async (t) => {
  const server = start(t)
  await server.create(widgetDefinition())
  await until('served', () => server.served().length > 0)
  await server.stop()
  await server.create(widgetDefinition({ names: { plural: 'gadgets', kind: 'Gadget' } }, { name: 'gadgets.example.com' }))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(conditionsOf(server.get('gadgets.example.com')), [])
})
