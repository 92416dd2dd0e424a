/** Tests of the creation, update and deletion of CustomResourceDefinitions, and of the API that serves their kinds. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  create,
  custom,
  define,
  definition,
  definitionPath,
  definitions,
  group,
  jsonPatch,
  mergePatch,
  namespace,
  object,
  objects,
  string,
  table,
} from '../support/conformance/definitions.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const sound = object({ spec: object({ a: string }) })
t.test('CustomResourceDefinitions', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, controlPlane.connection)
  const read = async (plural: string) => (await api('GET', definitionPath(plural))).body as { spec: JsonObject; status: JsonObject; metadata: JsonObject } // prettier-ignore
  const conditions = async (plural: string): Promise<Record<string, string>> => {
    const list = ((await read(plural)).status['conditions'] ?? []) as { type: string; status: string; reason: string; message: string }[]
    return Object.fromEntries(list.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]))
  }
  const change = (plural: string, contentType: string, body: unknown) => api('PATCH', definitionPath(plural), { contentType, body })

  t.test('get names, conditions and stored versions, and keep their group, names and scope', async (t) => {
    const { body } = await api('POST', definitions, { body: definition('lives', 'Life', sound) })
    t.teardown(() => api('DELETE', definitionPath('lives')))
    t.strictSame((body.spec as JsonObject).names, { plural: 'lives', singular: 'life', kind: 'Life', listKind: 'LifeList' })
    t.strictSame((body.spec as JsonObject).conversion, { strategy: 'None' })
    t.strictSame(body.status, { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] })
    await until('it is established', async () => (await conditions('lives'))['Established']?.startsWith('True'))
    t.strictSame(await conditions('lives'), {
      NamesAccepted: 'True NoConflicts: no conflicts found',
      Established: 'True InitialNamesAccepted: the initial names have been accepted',
    })
    t.strictSame((await read('lives')).status['acceptedNames'], { plural: 'lives', singular: 'life', kind: 'Life', listKind: 'LifeList' })
    const { body: refused } = await change('lives', mergePatch, { spec: { scope: 'Cluster', names: { kind: 'Alive', plural: 'xx' } } })
    t.match(
      (refused.details as { causes: JsonObject[] }).causes.map(({ field, message }) => `${String(field)}: ${String(message)}`).sort(),
      [
        'spec.names.kind: Invalid value: "Alive": field is immutable',
        'spec.names.plural: Invalid value: "xx": field is immutable',
        'spec.scope: Invalid value: "Cluster": field is immutable',
      ],
    )
  })

  t.test('are not accepted with the names of others', async (t) => {
    await define(t, api, definition('firsts', 'First', sound, {}, { names: { plural: 'firsts', kind: 'First', shortNames: ['fst'] } }))
    const body = definition('seconds', 'First', sound, {}, { names: { plural: 'seconds', kind: 'First', shortNames: ['fst'] } })
    t.equal((await api('POST', definitions, { body })).status, 201)
    t.teardown(() => api('DELETE', definitionPath('seconds')))
    await until('it is judged', async () => (await conditions('seconds'))['NamesAccepted']?.startsWith('False'))
    t.strictSame(await conditions('seconds'), {
      NamesAccepted: 'False ListKindConflict: "FirstList" is already in use',
      Established: 'False NotAccepted: not all names are accepted',
    })
    t.strictSame((await read('seconds')).status['acceptedNames'], { plural: 'seconds', kind: '' })
    t.equal((await api('GET', objects('seconds'))).status, 404)
    await change('seconds', mergePatch, {
      spec: { names: { kind: 'Second', listKind: 'SecondList', singular: 'second', shortNames: null } },
    })
    await until('it is served', async () => (await api('GET', objects('seconds'))).status === 200)
    await change('seconds', mergePatch, { spec: { names: { shortNames: ['fst'] } } })
    await until('the new name is judged', async () => (await conditions('seconds'))['NamesAccepted']?.startsWith('False'))
    t.strictSame(await conditions('seconds'), {
      NamesAccepted: 'False ShortNamesConflict: "fst" is already in use',
      Established: 'True InitialNamesAccepted: the initial names have been accepted',
    })
    await until('what was established is served on', async () => (await api('GET', objects('seconds'))).status === 200)
  })

  t.test('with several versions store one, serve all and convert the apiVersion only', async (t) => {
    const version = (name: string, rest: JsonObject = {}, schema = sound): JsonObject => ({
      name,
      served: true,
      storage: false,
      schema: { openAPIV3Schema: schema },
      ...rest,
    })
    const richer = object({ spec: object({ a: string, b: { type: 'string', default: 'two' } }) })
    const versions = [
      version('v1', { storage: true }),
      version('v2', { deprecated: true }, richer),
      version('v1alpha1', { deprecated: true, deprecationWarning: 'do not use it' }),
      version('v3', { served: false }),
    ]
    await define(t, api, definition('manies', 'Many', sound, {}, { names: { plural: 'manies', kind: 'Many' }, versions }))
    const { body: stored } = await create(api, 'manies', custom('Many', 'a', { spec: { a: 'x' } }))
    const second = await api('GET', objects('manies', 'a', 'v2'))
    t.strictSame(second.body, { ...stored, apiVersion: `${group}/v2` }, 'the object has the defaults of the stored version')
    t.strictSame(second.warnings, [`${group}/v2 Many is deprecated`])
    t.strictSame((await api('GET', objects('manies', 'a', 'v1alpha1'))).warnings, ['do not use it'])
    t.equal((await api('GET', objects('manies', 'a', 'v3'))).status, 404)
    t.equal((await api('GET', objects('manies', 'a', 'v9'))).status, 404)
    const written = await api('POST', objects('manies', '', 'v2'), { body: custom('Many', 'b', { spec: { a: 'x', b: 'y' } }, {}, 'v2') })
    t.match(written.body, { apiVersion: `${group}/v2`, spec: { a: 'x', b: undefined } }, 'a field that the stored version lacks is pruned')
    const flip = ['v1', 'v2'].map((name, index) => ({ op: 'replace', path: `/spec/versions/${index}/storage`, value: name === 'v2' }))
    t.strictSame(((await change('manies', jsonPatch, flip)).body.status as JsonObject).storedVersions, ['v1', 'v2'])
    const { body: refused } = await change('manies', jsonPatch, [{ op: 'remove', path: '/spec/versions/0' }])
    t.match(refused.details, { causes: [{ field: 'status.storedVersions[0]', message: /^Invalid value: "v1": missing from spec.versions; v1 was previously a storage version/ }] }) // prettier-ignore
    await until('new objects are stored as v2', async () => {
      const name = `c${Date.now()}`
      const { body } = await api('POST', objects('manies', '', 'v2'), { body: custom('Many', name, { spec: { b: 'kept' } }, {}, 'v2') })
      return (body.spec as JsonObject).b === 'kept'
    })
    const withdrawn = [{ op: 'replace', path: '/spec/versions/0/served', value: false }]
    t.equal((await change('manies', jsonPatch, withdrawn)).status, 200)
    await until('v1 is no longer served', async () => (await api('GET', objects('manies'))).status === 404)
    t.equal((await api('GET', objects('manies', 'a', 'v2'))).status, 200)
  })

  t.test('add columns and selectable fields to their kinds', async (t) => {
    const column = (name: string, type: string, jsonPath: string, rest: JsonObject = {}): JsonObject => ({ name, type, jsonPath, ...rest })
    const columns = [
      column('Size', 'integer', '.spec.size', { description: 'How big' }),
      column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
      column('Names', 'string', '.spec.list[*].a', { priority: 1 }),
      column('List', 'string', '.spec.list'),
      column('Object', 'string', '.spec.inner'),
      column('Wrong', 'integer', '.spec.color'),
      column('Number', 'number', '.spec.size', { format: 'double' }),
      column('Bool', 'boolean', '.spec.size'),
      column('Last', 'string', '.spec.list[-1].a'),
      column('Label', 'string', '.metadata.labels.example\\.com/x'),
      column('Quoted', 'string', ".metadata.labels['example\\.com/x']"),
      column('Dotted', 'string', ".spec['inner.a']"),
      column('Since', 'date', '.spec.since'),
      column('Missing', 'date', '.spec.never'),
    ]
    const list = { type: 'array', items: object({ a: string }) }
    const spec = object({ size: { type: 'integer' }, color: string, since: string, inner: object({ a: string }), list })
    const selectableFields = [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }]
    await define(t, api, definition('shows', 'Show', object({ spec }), { additionalPrinterColumns: columns, selectableFields }))
    const value = { size: 2, color: 'red', since: '2000-01-01T00:00:00Z', inner: { a: 'x' }, list: [{ a: '1' }, { a: '2' }] }
    await create(api, 'shows', custom('Show', 'a', { spec: value }, { labels: { 'example.com/x': 'labelled' } }))
    await create(api, 'shows', custom('Show', 'b'))
    const { body } = await api('GET', objects('shows'), { accept: table })
    const { columnDefinitions, rows } = body as unknown as {
      columnDefinitions: JsonObject[]
      rows: { cells: JsonValue[]; object: JsonObject }[]
    }
    t.strictSame(columnDefinitions[1], { name: 'Size', type: 'integer', format: '', description: 'How big', priority: 0 })
    t.match(columnDefinitions[2], { description: 'Custom resource definition column (in JSONPath format): .status.conditions[?(@.type=="Ready")].status' }) // prettier-ignore
    const [age] = rows[0]!.cells.splice(13, 1)
    t.match(age, /^2\dy$/)
    t.strictSame(rows[0]!.cells, [
      'a',
      2,
      null,
      '1',
      '[{"a":"1"},{"a":"2"}]',
      '{"a":"x"}',
      null,
      2,
      null,
      '2',
      'labelled',
      'labelled',
      'x',
      null,
    ])
    t.strictSame(rows[1]!.cells, ['b', ...columns.map(() => null)])
    t.match(rows[0]!.object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' }, spec: undefined })
    const names = async (selector: string): Promise<unknown> => {
      const { body } = await api('GET', `${objects('shows')}?fieldSelector=${encodeURIComponent(selector)}`)
      return (body.items as { metadata: { name: string } }[] | undefined)?.map(({ metadata }) => metadata.name) ?? body.message
    }
    t.strictSame(await names('spec.color=red,spec.size=2'), ['a'])
    t.strictSame(await names('spec.color!=red'), ['b'])
    t.equal(await names('spec.inner=x'), 'field label not supported: spec.inner')

    await define(t, api, definition('plains', 'Plain', sound))
    await create(api, 'plains', custom('Plain', 'a'))
    const plain = (await api('GET', `${objects('plains')}?includeObject=None`, { accept: table })).body as unknown as { columnDefinitions: JsonObject[]; rows: JsonObject[] } // prettier-ignore
    t.strictSame(plain.columnDefinitions.map(({ name, type }) => [name, type]), [['Name', 'string'], ['Age', 'date']]) // prettier-ignore
    t.match(plain.rows, [{ cells: ['a', /^\d+s$/] }])
    t.strictSame(
      plain.rows.map(({ object }) => object),
      [null],
    )
  })

  t.test('appear in discovery and OpenAPI', async (t) => {
    const subresources = { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } }
    const schema = object({ spec: object({ n: { type: 'integer', minimum: 1 } }), status: { type: 'object' } }, { description: 'Told.' })
    const names = { plural: 'tolds', kind: 'Told', shortNames: ['tl'], categories: ['all'] }
    await define(t, api, definition('tolds', 'Told', schema, { subresources }, { names }))
    const resources = (await api('GET', `/apis/${group}/v1`)).body.resources as JsonObject[]
    const stored = resources.find(({ name }) => name === 'tolds')!
    t.match(stored, { singularName: 'told', namespaced: true, kind: 'Told', shortNames: ['tl'], categories: ['all'] })
    t.strictSame(stored.verbs, ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'])
    t.match(resources.find(({ name }) => name === 'tolds/scale'), { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] }) // prettier-ignore
    t.match(
      resources.find(({ name }) => name === 'tolds/status'),
      { kind: 'Told', verbs: ['get', 'patch', 'update'] },
    )
    const component = `com.example.conformance.custom-resources.v1.Told`
    const { schemas } = await until('OpenAPI shows it', async () => {
      const { components } = (await api('GET', `/openapi/v3/apis/${group}/v1`)).body as {
        components?: { schemas: Record<string, JsonObject> }
      }
      return components?.schemas[component] !== undefined && components
    })
    const { properties, ...rest } = schemas[component] as { properties: JsonObject }
    t.strictSame(rest, {
      type: 'object',
      description: 'Told.',
      'x-kubernetes-group-version-kind': [{ group, kind: 'Told', version: 'v1' }],
    })
    t.strictSame(properties.spec, { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } })
    t.match(properties, { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] } }) // prettier-ignore
  })

  t.test('are deleted with their objects, after the finalizers of these', async (t) => {
    await define(t, api, definition('ends', 'End', sound))
    await create(api, 'ends', custom('End', 'a'))
    await create(api, 'ends', custom('End', 'held', {}, { finalizers: ['conformance.example.com/hold'] }))
    const { status, body } = await api('DELETE', definitionPath('ends'))
    t.equal(status, 200)
    t.match(body.metadata, { generation: 1, finalizers: ['customresourcecleanup.apiextensions.k8s.io'], deletionGracePeriodSeconds: undefined }) // prettier-ignore
    t.match(
      (body.status as { conditions: JsonObject[] }).conditions.find(({ type }) => type === 'Terminating'),
      {
        status: 'True',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      },
    )
    await until('the free one is gone', async () => (await api('GET', objects('ends', 'a'))).status === 404)
    t.strictSame((await api('POST', objects('ends'), { body: custom('End', 'late') })).body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `ends.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
      reason: 'Forbidden',
      details: { name: 'late', group, kind: 'ends' },
      code: 403,
    })
    t.equal((await conditions('ends'))['Terminating'], 'True InstanceDeletionInProgress: CustomResource deletion is in progress')
    t.equal((await api('GET', objects('ends', 'held'))).status, 200)
    await api('PATCH', objects('ends', 'held'), { contentType: mergePatch, body: { metadata: { finalizers: null } } })
    await until('the definition is gone', async () => (await api('GET', definitionPath('ends'))).status === 404)
    await until('its kind is served no more', async () => (await api('GET', objects('ends'))).status === 404)
  })
})
