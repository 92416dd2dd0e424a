/** Tests of the representation of objects, lists and watch events in the negotiated form. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { JsonText } from '../../../src/devcluster/http/json-text.ts'
import type { Form } from '../../../src/devcluster/http/negotiate.ts'
import type { Presentation } from '../../../src/devcluster/http/present.ts'
import { presentEvent, presentList, presentObject } from '../../../src/devcluster/http/present.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { refusal } from '../../support/devcluster/registry.ts'
import { foo, rowOf, rows } from '../../support/devcluster/http-server.ts'

const foos = rows.find(({ kind, version }) => kind === 'Foo' && version === 'v1')!
const pods = rows.find(({ kind }) => kind === 'Pod')!
const deployments = rows.find(({ kind }) => kind === 'Deployment')!
const now = Date.parse('2026-01-02T00:00:00Z')
const object: Form = { as: 'object', encoding: 'json' }
const table: Form = { as: 'table', version: 'v1', encoding: 'json' }
const partial: Form = { as: 'partial', version: 'v1beta1', kind: 'PartialObjectMetadata', encoding: 'json' }
const partials: Form = { ...partial, kind: 'PartialObjectMetadataList' }

const shownAs = (form: Form, info: ResourceInfo = foos, includeObject: string | null = null): Presentation => ({
  info,
  form,
  includeObject,
  jsonText: new JsonText(),
  now,
})
const pod = (name: string): JsonObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', uid: 'u' },
  spec: {},
})
const metadata = { resourceVersion: '7', continue: 'abc', remainingItemCount: 3 }
const definitions = [
  { name: 'Name', type: 'string', format: 'name', description: 'Name must be unique within a namespace.', priority: 0 },
  { name: 'Size', type: 'integer', format: '', description: 'How many.', priority: 1 },
]

t.test('an object is presented as itself, as a Table or as PartialObjectMetadata', (t) => {
  const a = foo('a', { size: 3 }, '9')
  const metadataOnly = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata: a.metadata! }
  t.equal(presentObject(a, shownAs(object)), a)
  t.strictSame(presentObject(a, shownAs(partial)), metadataOnly)
  t.strictSame(presentObject(a, shownAs(table)), {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '9' },
    columnDefinitions: definitions,
    rows: [{ cells: ['a', 3], object: { ...metadataOnly, apiVersion: 'meta.k8s.io/v1' } }],
  })
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Success' }
  for (const form of [object, table, partial, partials]) t.equal(presentObject(status, shownAs(form)), status)
  t.end()
})

t.test('includeObject selects the part of the objects in a table', async (t) => {
  const a = foo('a', { size: 3 })
  const rowsOf = (includeObject: string | null): unknown => presentList({ items: [a], metadata }, shownAs(table, foos, includeObject)).rows
  const metadataOnly = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: a.metadata! }
  for (const asked of [null, '', 'Metadata']) t.strictSame(rowsOf(asked), [{ cells: ['a', 3], object: metadataOnly }])
  t.strictSame(rowsOf('None'), [{ cells: ['a', 3], object: null }])
  t.strictSame(rowsOf('Object'), [{ cells: ['a', 3], object: a }])
  t.match(await refusal(() => rowsOf('object')), {
    code: 400,
    message: `Unable to convert to Table as requested: includeObject: Invalid value: "object": must be 'Metadata', 'Object', 'None', or empty`,
  })
})

t.test('a list of a custom type has sorted keys and a continue token', (t) => {
  const items = [foo('a'), foo('b')]
  const list = presentList({ items, metadata }, shownAs(object))
  t.equal(
    JSON.stringify(list),
    `{"apiVersion":"a.example.com/v1","items":${JSON.stringify(items)},"kind":"FooList","metadata":{"continue":"abc","remainingItemCount":3,"resourceVersion":"7"}}`,
  )
  t.strictSame(presentList({ items: [], metadata: { resourceVersion: '7' } }, shownAs(object)), {
    apiVersion: 'a.example.com/v1',
    items: [],
    kind: 'FooList',
    metadata: { continue: '', resourceVersion: '7' },
  })
  t.end()
})

t.test('items in a list of a built-in type lack apiVersion and kind', (t) => {
  const { kind: _kind, apiVersion: _apiVersion, ...item } = pod('a')
  t.strictSame(presentList({ items: [pod('a')], metadata }, shownAs(object, pods)), {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata,
    items: [item],
  })
  t.end()
})

t.test('a list is presented as a Table or as PartialObjectMetadataList', (t) => {
  t.strictSame(
    presentList({ items: [foo('a', { size: 1 }), foo('b')], metadata }, shownAs({ ...table, version: 'v1beta1' }, foos, 'None')),
    {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1beta1',
      metadata,
      columnDefinitions: definitions,
      rows: [
        { cells: ['a', 1], object: null },
        { cells: ['b', null], object: null },
      ],
    },
  )
  const list = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1beta1' }
  const one = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1' }
  t.strictSame(presentList({ items: [pod('a')], metadata }, shownAs(partials, pods)), {
    ...list,
    metadata,
    items: [{ ...one, metadata: { name: 'a', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' } }],
  })
  t.strictSame(presentList({ items: [], metadata: { resourceVersion: '7' } }, shownAs(partials, pods)), {
    ...list,
    metadata: { resourceVersion: '7' },
    items: null,
  })
  t.end()
})

t.test('a type without columns has Name and Age, and a Scale has its own columns', (t) => {
  const shown = presentList({ items: [pod('a')], metadata }, shownAs(table, pods, 'None'))
  t.match(shown.columnDefinitions, [{ name: 'Name' }, { name: 'Age' }])
  t.strictSame(shown.rows, [{ cells: ['a', '24h'], object: null }])
  t.strictSame(presentList({ items: [], metadata }, shownAs(table, pods)).rows, [])
  const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: { replicas: 3 }, status: { replicas: 2 } }
  const names = (given: JsonObject): unknown =>
    (presentObject(given, shownAs(table)).columnDefinitions as JsonObject[]).map(({ name }) => name)
  t.strictSame(names(scale), ['Name', 'Desired', 'Available', 'Age'])
  t.strictSame(names({ ...scale, apiVersion: 'extensions/v1' }), ['Name', 'Size'])
  const created = { ...foos.columns[0]!, name: 'Created At' }
  const dated = rowOf({ ...foos, columns: [foos.columns[0]!, created] })
  t.equal(presentList({ items: [], metadata }, shownAs(table, dated)).rows, null)
  t.equal((presentList({ items: [foo('a')], metadata }, shownAs(table, dated)).rows as unknown[]).length, 1)
  t.end()
})

t.test('an object cannot be presented as a list, nor a list as an object', async (t) => {
  const text = async (show: () => unknown): Promise<string> => {
    const { code, reason, message } = await refusal(show)
    return `${code} ${reason}: ${message}`
  }
  t.equal(await text(() => presentObject(foo('a'), shownAs(partials))), '500 undefined: content is not a list')
  const asked = '406 NotAcceptable: you requested'
  t.equal(
    await text(() => presentObject(pod('a'), shownAs(partials, pods))),
    `${asked} PartialObjectMetadataList, but the requested object is not a list (*core.Pod)`,
  )
  t.equal(
    await text(() => presentObject(pod('a'), shownAs(partials, deployments))),
    `${asked} PartialObjectMetadataList, but the requested object is not a list (*apps.Deployment)`,
  )
  const list = { items: [], metadata }
  const kinds: [ResourceInfo, string][] = [
    [pods, '*core.PodList'],
    [deployments, '*apps.DeploymentList'],
    [
      rowOf({ ...pods, group: 'networking.k8s.io', kind: 'Ingress', plural: 'ingresses', listKind: 'IngressList', custom: false }),
      '*networking.IngressList',
    ],
    [foos, '*unstructured.UnstructuredList'],
  ]
  for (const [info, type] of kinds)
    t.equal(
      await text(() => presentList(list, shownAs(partial, info))),
      `${asked} PartialObjectMetadata, but the requested object is a list (${type})`,
    )
})

t.test('each event is presented in the negotiated form, and an ERROR event as a Status', (t) => {
  const a = foo('a', { size: 3 }, '9')
  const status = { kind: 'Status', apiVersion: 'v1', code: 410 }
  for (const form of [object, table, partial]) t.equal(presentEvent('ERROR', status, shownAs(form), true), status)
  t.equal(presentEvent('ADDED', a, shownAs(object), true), a)
  t.match(presentEvent('ADDED', a, shownAs(partials), true), { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1' })
  const rowsOf = [{ cells: ['a', 3], object: null }]
  const common = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '9' }, rows: rowsOf }
  t.strictSame(presentEvent('ADDED', a, shownAs(table, foos, 'None'), true), { ...common, columnDefinitions: definitions })
  t.strictSame(presentEvent('ADDED', a, shownAs(table, foos, 'None'), false), { ...common, columnDefinitions: null })
  t.strictSame(presentEvent('BOOKMARK', { kind: 'Foo', metadata: {}, spec: {} }, shownAs(table), false).metadata, {})
  t.end()
})

t.test('the JSON of a frozen object is cached, that of other objects is not', (t) => {
  const texts = new JsonText()
  const open: JsonObject = { kind: 'Foo', size: 1 }
  t.equal(texts.of(open), '{"kind":"Foo","size":1}')
  open.size = 2
  t.equal(texts.of(open), '{"kind":"Foo","size":2}')
  const frozen = foo('a')
  t.equal(texts.of(frozen), JSON.stringify(frozen))
  t.equal(texts.asItem(frozen), texts.asItem(frozen), 'an item is the same object each time, so that its JSON is cached')
  t.not(texts.asItem(open), texts.asItem(open))
  t.ok(Object.isFrozen(texts.asItem(frozen)))
  t.strictSame(texts.asItem(open), { size: 2 })
  t.end()
})

t.test('the JSON of a list is composed of that of its items', (t) => {
  const texts = new JsonText()
  const list = { kind: 'FooList', metadata: { continue: undefined }, more: undefined, items: [foo('a'), 1, null, foo('b')] } as never
  t.equal(texts.of(list), JSON.stringify(list))
  t.equal(texts.of({ kind: 'FooList', items: [] }), '{"kind":"FooList","items":[]}')
  for (const other of [{ kind: 'Foo', items: [1] }, { items: [1] }, { kind: 'FooList', items: 'x' }])
    t.equal(texts.of(other as JsonObject), JSON.stringify(other))
  t.equal(String(texts.event('ADDED', foo('a'))), `{"type":"ADDED","object":${JSON.stringify(foo('a'))}}\n`)
  t.end()
})
