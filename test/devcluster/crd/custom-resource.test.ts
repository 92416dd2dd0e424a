import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { customResources, storedResource } from '../../../src/devcluster/crd/custom-resource.ts'
import type { Definition } from '../../../src/devcluster/crd/definition.ts'
import { asDefinition } from '../../../src/devcluster/crd/definition.ts'
import { widgetDefinition, widgetVersion } from '../../support/devcluster/definitions.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const acceptedNames = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
function definition(
  versions: readonly JsonObject[],
  names: JsonObject = acceptedNames,
  conditions: readonly string[] = ['Established'],
): Definition {
  return asDefinition({
    ...widgetDefinition({ versions: versions.map((version) => ({ ...widgetVersion, ...version })) }),
    status: { acceptedNames: names, conditions: conditions.map((type) => ({ type, status: 'True' })) },
  })
}
const deprecated = { deprecated: true, storage: false }

t.test('only an established definition is served, in its served versions', async (t) => {
  const versions = [{}, { name: 'v2', storage: false }, { name: 'v3', served: false, storage: false }]
  t.strictSame(
    customResources(definition(versions)).map(({ version, storageVersion, storageKey }) => [version, storageVersion, storageKey]),
    [
      ['v1', 'v1', 'example.com/widgets'],
      ['v2', 'v1', 'example.com/widgets'],
    ],
  )
  t.strictSame(customResources(definition(versions, acceptedNames, ['NamesAccepted'])), [])
  const stored = definition([
    { served: false, storage: false },
    { name: 'v2', served: false },
  ])
  t.equal(storedResource(stored).version, 'v2', 'the storage version is available even when it is not served')
  t.equal(storedResource(definition([{ name: 'v9', storage: false }])).version, 'v9')
})

t.test('a resource has the accepted names, with defaults derived from the kind', async (t) => {
  const [row] = customResources(definition([{}], { plural: 'widgets', kind: 'Widget' }))
  t.match(row, { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget', custom: true, namespaced: true })
  t.strictSame([row!.shortNames, row!.categories], [[], []])
  t.strictSame(row!.verbs, ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'])
  t.strictSame(row!.subresources.status, { kind: 'Widget', verbs: ['get', 'patch', 'update'] })
  t.strictSame(row!.subresources.scale!.verbs, ['get', 'patch', 'update'])
  t.match(row!.subresources.scale, { kind: 'Scale', group: 'autoscaling', version: 'v1' })
  const [plain] = customResources(definition([{ subresources: {} }]))
  t.strictSame(plain!.subresources, {})
})

t.test('the warning of a deprecated version names its replacement', async (t) => {
  const warnings = (versions: readonly JsonObject[]): (string | undefined)[] =>
    customResources(definition(versions)).map(({ deprecationWarning }) => deprecationWarning)
  t.strictSame(warnings([{ ...deprecated, name: 'v1beta1' }, { name: 'v1' }, { name: 'v2', storage: false }]), [
    'example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget',
    undefined,
    undefined,
  ])
  t.strictSame(warnings([{ ...deprecated, deprecationWarning: 'use another one' }, { name: 'v2' }]), ['use another one', undefined])
  t.strictSame(
    warnings([{ deprecated: true }, { name: 'v1alpha1', storage: false }]),
    ['example.com/v1 Widget is deprecated', undefined],
    'an older version is no replacement',
  )
  t.strictSame(
    warnings([{ deprecated: true }, { name: 'v2', ...deprecated }]),
    ['example.com/v1 Widget is deprecated', 'example.com/v2 Widget is deprecated'],
    'a deprecated version is no replacement',
  )
  t.strictSame(warnings([{ deprecated: true }, { name: 'v2', served: false, storage: false }]), ['example.com/v1 Widget is deprecated'])
})

t.test('a create is refused while the definition is terminating', async (t) => {
  const [row] = customResources(definition([{}], acceptedNames, ['Established', 'Terminating']))
  const create = row!.strategy.prepareForCreate as (object: JsonObject) => JsonObject
  t.match(await refusal(() => create({ metadata: { name: 'a' } })), {
    code: 403,
    reason: 'Forbidden',
    message: 'widgets.example.com "a" is forbidden: create not allowed while custom resource definition is terminating',
  })
  t.equal((await refusal(() => create({}))).code, 403)
  t.equal(customResources(definition([{}]))[0]!.strategy.prepareForCreate, undefined)
})

t.test('the schema of every version is available', async (t) => {
  const [row] = customResources(
    definition([
      {},
      { name: 'v2', storage: false, served: false, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v3', storage: false, served: false, schema: {} },
    ]),
  )
  t.equal(row!.schemaOf!('v1'), row!.schema)
  t.strictSame(row!.schemaOf!('v2')!.schema, { type: 'object' })
  t.equal(row!.schemaOf!('v3'), undefined)
  t.equal(row!.schemaOf!('v4'), undefined)
  t.equal(row!.openapi, row!.schema!.schema)
})

t.test('a table cell is empty when the value does not match the type of its column', async (t) => {
  const values: JsonObject = {
    s: 'x',
    i: 7,
    f: 7.9,
    n: -7.9,
    big: 2n ** 60n,
    b: false,
    o: { b: 1, a: [2] },
    l: [1, 'x'],
    z: null,
    d: '2026-01-01T00:00:00Z',
  }
  const now = Date.parse('2026-01-01T00:00:30Z')
  const row = (type: string): JsonValue[] => {
    const columns = Object.keys(values).map((key) => ({ name: key, type, jsonPath: `.spec.${key}` }))
    const [resource] = customResources(
      definition([{ additionalPrinterColumns: [...columns, { name: 'none', type, jsonPath: '.spec.none' }] }]),
    )
    return resource!.columns.slice(1).map(({ cell }) => cell({ spec: values }, now))
  }
  t.strictSame(row('string'), [
    'x',
    '7',
    '7.9',
    '-7.9',
    '1152921504606846976',
    'false',
    '{"b":1,"a":[2]}',
    '[1,"x"]',
    null,
    '2026-01-01T00:00:00Z',
    null,
  ])
  t.strictSame(row('integer'), [null, 7, 7, -7, 2n ** 60n, null, null, null, null, null, null])
  t.strictSame(row('number'), [null, 7, 7.9, -7.9, 2n ** 60n, null, null, null, null, null, null])
  t.strictSame(row('boolean'), [null, null, null, null, null, false, null, null, null, null, null])
  t.strictSame(row('date').at(-2), '30s')
  t.strictSame(row('date').slice(1, 9), [null, null, null, null, null, null, null, null])
})

t.test('a column has the format, description and priority of its definition', async (t) => {
  const told = (column: JsonObject): unknown => {
    const [resource] = customResources(
      definition([{ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a', ...column }] }]),
    )
    const [, { cell, ...rest }] = resource!.columns as unknown as [unknown, { cell: (object: JsonObject) => JsonValue }]
    return [rest, cell({ spec: { a: 'x' } })]
  }
  t.strictSame(told({}), [
    { name: 'A', type: 'string', format: '', description: 'Custom resource definition column (in JSONPath format): .spec.a', priority: 0 },
    'x',
  ])
  t.strictSame(told({ format: 'password', description: 'What it is', priority: 2 }), [
    { name: 'A', type: 'string', format: 'password', description: 'What it is', priority: 2 },
    'x',
  ])
  t.strictSame((told({ jsonPath: '.spec[' }) as unknown[])[1], null, 'an invalid JSONPath yields null')
})

t.test('selectable fields are strings', async (t) => {
  const selectableFields = ['.spec.s', '.spec.i', '.spec.b', '.spec.none', '.spec.z', '.spec.o'].map((jsonPath) => ({ jsonPath }))
  const [row] = customResources(definition([{ selectableFields }]))
  t.strictSame(row!.selectableFields({ spec: { s: 'x', i: 5, b: false, z: null, o: {} } }), {
    'spec.s': 'x',
    'spec.i': '5',
    'spec.b': 'false',
    'spec.none': '',
    'spec.z': '',
    'spec.o': '',
  })
  for (const none of [[], undefined])
    t.strictSame(customResources(definition([{ selectableFields: none } as JsonObject]))[0]!.selectableFields({}), {})
})

const scaleOf = (change: JsonObject = {}): ReturnType<typeof customResources>[number] =>
  customResources(
    definition([
      {
        subresources: {
          scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', labelSelectorPath: '.status.sel', ...change },
        },
      },
    ]),
  )[0]!

t.test('a Scale has the replicas and the selector of the object, and reduced metadata', async (t) => {
  const { scale } = scaleOf().subresources
  const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '5', creationTimestamp: 'c', labels: { x: 'y' } }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const shown = (spec: JsonObject, status: JsonObject): unknown => scale!.read!({ metadata, spec, status })
  const scaled = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name, namespace, uid, resourceVersion, creationTimestamp } }
  t.strictSame(shown({ r: 3 }, { r: 2, sel: 'a=b' }), { ...scaled, spec: { replicas: 3 }, status: { replicas: 2, selector: 'a=b' } })
  t.strictSame(shown({ r: 0 }, { r: '2', sel: 5 }), { ...scaled, spec: {}, status: { replicas: 0 } })
  t.match(await refusal(() => shown({}, {})), {
    code: 500,
    message: 'Internal error occurred: the spec replicas field ".spec.r" does not exist',
  })
  t.equal((await refusal(() => shown({ r: 'x' }, {}))).code, 500)
  t.strictSame(scale!.read!({ metadata: { name: 'a' }, spec: {} }, { writing: true }), {
    ...scaled,
    metadata: { name: 'a', uid: undefined, resourceVersion: undefined, creationTimestamp: undefined },
    spec: {},
    status: { replicas: 0 },
  })
})

t.test('a write of a Scale changes spec.replicas only', async (t) => {
  const write = (object: JsonObject, scale: JsonObject, path = '.spec.a.r'): unknown =>
    scaleOf({ specReplicasPath: path }).subresources.scale!.write!(object, scale, { now: 0, cluster: undefined as never })
  t.strictSame(write({ spec: { b: 1, a: { c: 2 } } }, { spec: { replicas: 5 } }), { spec: { b: 1, a: { c: 2, r: 5 } } })
  t.strictSame(write({}, { spec: { replicas: 5 } }), { spec: { a: { r: 5 } } })
  t.strictSame(write({ spec: { a: { r: 5 } } }, { spec: {} }), { spec: { a: { r: 0 } } })
  t.strictSame(write({ spec: { a: { r: 5 } } }, {}), { spec: { a: { r: 0 } } })
  t.throws(() => write({ spec: { a: 5 } }, { spec: { replicas: 5 } }), {
    message: 'value cannot be set because .spec.a is not a map[string]interface{}',
  })
  t.throws(() => write({ spec: null }, { spec: { replicas: 5 } }), {
    message: 'value cannot be set because .spec is not a map[string]interface{}',
  })
})

t.test('the path of spec.replicas is known for each version', async (t) => {
  const [row] = customResources(
    definition([
      { subresources: { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.r' } } },
      { name: 'v2', storage: false, subresources: { scale: { specReplicasPath: '.spec.b.c', statusReplicasPath: '.status.r' } } },
      { name: 'v3', storage: false, subresources: {} },
      { name: 'v4', storage: false, subresources: { scale: { specReplicasPath: '.spec.l[0]', statusReplicasPath: '.status.r' } } },
    ]),
  )
  const { replicasPath } = row!.subresources.scale!
  t.strictSame(
    ['example.com/v1', 'example.com/v2', 'example.com/v3', 'example.com/v4', 'example.com/v5', 'other.com/v1'].map((version) =>
      replicasPath!(version),
    ),
    [['spec', 'a'], ['spec', 'b', 'c'], null, null, undefined, undefined],
  )
})

t.test('the replicas and the selector of a type with a scale are validated', async (t) => {
  const told = (object: JsonObject, subresource?: string): string[] =>
    scaleOf().strategy.validate!(object, undefined, subresource).map(({ path, message }) => `${path}: ${message}`)
  const negative = (path: string): string => `${path}: Invalid value: -1: should be a non-negative integer`
  const large = (path: string): string => `${path}: Invalid value: 2147483648: should be less than or equal to 2147483647`
  t.strictSame(told({}), [])
  t.strictSame(told({ spec: { r: 0 }, status: { r: 2147483647, sel: '' } }), [])
  t.strictSame(told({ spec: { r: -1 }, status: { r: -1 } }), [negative('.spec.r'), negative('.status.r')])
  t.strictSame(told({ spec: { r: 2147483648 }, status: { r: 2147483648 } }), [large('.spec.r'), large('.status.r')])
  t.strictSame(told({ spec: { r: -1 }, status: { r: -1 } }, 'status'), [negative('.status.r')])
  t.strictSame(told({ spec: { r: 'x' }, status: { r: 1.5, sel: 5 } }), [
    '.spec.r: Invalid value: 0: .spec.r accessor error: x is of the type string, expected int64',
    '.status.r: Invalid value: 0: .status.r accessor error: 1.5 is of the type float64, expected int64',
    '.status.sel: Invalid value: "": .status.sel accessor error: 5 is of the type int64, expected string',
  ])
  t.strictSame(told({ spec: 'x', status: null }), [
    '.spec.r: Invalid value: 0: .spec.r accessor error: x is of the type string, expected map[string]interface{}',
  ])
  t.equal(customResources(definition([{ subresources: { status: {} } }]))[0]!.strategy.validate, undefined)
})
