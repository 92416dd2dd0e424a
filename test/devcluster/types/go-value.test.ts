import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { conversionError } from '../../../src/devcluster/types/go-convert.ts'
import { fieldNames, kindType } from '../../../src/devcluster/types/go-types.ts'
import { asDecoded, asGo } from '../../../src/devcluster/types/go-value.ts'
import { fc } from '../../support/property.ts'

const typeOf = (group: string, kind: string, version = 'v1') => kindType({ group, version, kind })!

type Case = readonly [name: string, group: string, kind: string, object: JsonObject, expected: JsonObject]

const cases: readonly Case[] = [
  [
    'leaves out what the type does not have and what is empty',
    '',
    'ConfigMap',
    { metadata: { name: 'a', labels: {}, other: 1 }, data: {}, immutable: false, extra: true },
    { metadata: { name: 'a' }, immutable: false },
  ],
  ['makes nulls the zero of their type', '', 'ConfigMap', { metadata: null, data: { a: null } }, { metadata: {}, data: { a: '' } }],
  [
    'makes nulls the zero of their type, beside other values',
    '',
    'ConfigMap',
    { metadata: { finalizers: ['x', null] }, data: { a: null, b: 'c' } },
    { metadata: { finalizers: ['x', ''] }, data: { a: '', b: 'c' } },
  ],
  [
    'adds what Go always writes',
    'apps',
    'StatefulSet',
    {},
    {
      metadata: {},
      spec: { selector: null, serviceName: '', template: { metadata: {}, spec: { containers: null } }, updateStrategy: {} },
      status: { replicas: 0, availableReplicas: 0 },
    },
  ],
  [
    'writes times that are not set as null',
    'apps',
    'Deployment',
    {
      metadata: {},
      spec: { selector: {}, template: { spec: { containers: [] } } },
      status: { conditions: [{ type: 'A', status: 'True' }] },
    },
    {
      metadata: {},
      spec: { selector: {}, strategy: {}, template: { metadata: {}, spec: { containers: [] } } },
      status: { conditions: [{ type: 'A', status: 'True', lastTransitionTime: null, lastUpdateTime: null }] },
    },
  ],
  [
    'looks into schemas, and not into what is any value',
    'apiextensions.k8s.io',
    'CustomResourceDefinition',
    {
      spec: {
        versions: [
          { name: 'v1', schema: { openAPIV3Schema: { default: { a: null }, items: { enum: [], odd: 1 }, additionalProperties: true } } },
        ],
      },
    },
    {
      metadata: {},
      spec: {
        group: '',
        names: { kind: '', plural: '' },
        scope: '',
        versions: [
          {
            name: 'v1',
            served: false,
            storage: false,
            schema: { openAPIV3Schema: { default: { a: null }, items: {}, additionalProperties: true } },
          },
        ],
      },
      status: { acceptedNames: { kind: '', plural: '' }, conditions: null, storedVersions: null },
    },
  ],
]

for (const [name, group, kind, object, expected] of cases) {
  t.test(`a decoded and encoded object: ${name}`, async (t) => {
    const given = deepFreeze(object)
    const known = asGo(typeOf(group, kind), given)
    t.strictSame(known, expected)
    t.equal(asGo(typeOf(group, kind), known), known, 'a second conversion changes nothing')
  })
}

t.test('a schema keeps lists of schemas and of names', async (t) => {
  const openAPIV3Schema = { items: [{ type: 'string' }], dependencies: { a: ['b'], c: { type: 'object' } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  t.match(asGo(typeOf('apiextensions.k8s.io', 'CustomResourceDefinition'), deepFreeze({ spec: { versions } })), { spec: { versions } })
})

t.test('a decoded object keeps empty lists and maps, and no other empty fields', async (t) => {
  const configMap = typeOf('', 'ConfigMap')
  const object = deepFreeze({
    metadata: { name: '', generation: 0, labels: {}, finalizers: [], ownerReferences: null },
    data: {},
    binaryData: null,
    immutable: false,
  })
  t.strictSame(asDecoded(configMap, object), { metadata: { labels: {}, finalizers: [] }, data: {}, immutable: false })
  t.strictSame(asGo(configMap, object), { metadata: {}, immutable: false })
})

t.test('decoding and encoding arbitrary JSON is idempotent', async () => {
  const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>
  const field = fc.constantFrom(...fieldNames(typeOf('', 'Pod'), 'spec'), 'bogus')
  fc.assert(
    fc.property(fc.dictionary(field, json), (spec) => {
      const known = asGo(typeOf('', 'Pod'), deepFreeze({ spec } as JsonObject))
      return asGo(typeOf('', 'Pod'), known) === known
    }),
  )
})

t.test('every built-in type has a Go type', async (t) => {
  for (const { kind, goType } of builtinResources) t.equal(goType?.name, kind)
})

t.test('the result of a strategic merge patch is converted with the errors of Go', async (t) => {
  const errors: readonly (readonly [spec: JsonObject, error: string | undefined])[] = [
    [{ replicas: 1, paused: true }, undefined],
    [{ replicas: 'many' }, 'unrecognized type: int32'],
    [{ replicas: 2.0 }, undefined],
    [{ replicas: 2.5 }, 'cannot convert float64 to int32'],
    [{ paused: 'yes' }, 'unrecognized type: bool'],
    [{ template: 'x' }, 'cannot restore struct from: string'],
    [{ template: { metadata: { labels: ['a'] } } }, 'cannot restore map from slice'],
    [{ template: { metadata: { labels: { a: 1 } } } }, 'cannot convert int64 to string'],
    [{ template: { spec: { containers: { a: 'b' } } } }, 'cannot restore slice from map'],
    [{ strategy: { rollingUpdate: { maxSurge: '25%' } } }, undefined],
    [{ replicas: true }, 'unrecognized type: int32'],
    [{ paused: 1 }, 'unrecognized type: bool'],
    [{ paused: 1.5 }, 'unrecognized type: bool'],
    [{ strategy: { type: 1.5 } }, 'unrecognized type: string'],
    [{ strategy: { type: true } }, 'unrecognized type: string'],
    [{ strategy: { type: [] } }, 'unrecognized type: string'],
    [{ replicas: null, template: { spec: { containers: null } } }, undefined],
    [{ template: { spec: { containers: [{ name: 'a' }, { name: 1 }] } } }, 'cannot convert int64 to string'],
    [{ template: { metadata: { labels: { a: 'b', c: 1 } } } }, 'cannot convert int64 to string'],
  ]
  for (const [spec, error] of errors) t.equal(conversionError(typeOf('apps', 'Deployment'), { spec }), error, JSON.stringify(spec))
})
