import t from 'tap'
import { defineKind, kindOf, versionOf, type Infer, type InferInput, Conditions } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { pod } from '../../src/api/builtin.ts'
import type { ObjectOf } from '../../src/api/group-version-kind.ts'

const memcached = defineKind({
  group: 'cache.example.com',
  kind: 'Memcached',
  versions: [
    {
      name: 'v1alpha1',
      spec: Type.Object({
        size: Type.Integer({ minimum: 1, default: 3 }),
        image: Type.String(),
        mode: Type.Enum(['Lion', 'Wolf'], { default: 'Lion' }),
        labels: Type.Optional(Type.Record(Type.String())),
        ports: Type.Optional(
          Type.Array(Type.Object({ name: Type.String(), port: Type.Integer({ default: 1 }) }), { listType: 'map', listMapKeys: ['name'] }),
        ),
        note: Type.Optional(Type.Nullable(Type.String())),
      }),
      status: Type.Object({ nodes: Type.Array(Type.String()), conditions: Conditions }),
    },
  ],
})

t.test('a kind carries the static types of its objects', async (t) => {
  const object: Infer<typeof memcached> = {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { namespace: 'b', name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: { size: 3, image: 'x', mode: 'Wolf', ports: [{ name: 'a', port: 1 }] },
  }
  const size: number = object.spec.size
  const input: InferInput<typeof memcached> = {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { name: 'a' },
    spec: { image: 'x', ports: [{ name: 'a' }], note: null },
  }
  // @ts-expect-error a field with a default may be absent in writes, but not in reads
  const missing: Infer<typeof memcached>['spec'] = { image: 'x', mode: 'Wolf' }
  // @ts-expect-error Dragon is not in the enum
  const wrong: Infer<typeof memcached>['spec']['mode'] = 'Dragon'
  const nodes: string[] | undefined = object.status?.nodes
  const podObject: ObjectOf<typeof pod> | undefined = undefined
  t.ok([size, input, missing, wrong, nodes, podObject])
})

t.test('the schema is a structural one', async (t) => {
  t.strictSame(memcached.plural, 'memcacheds')
  t.strictSame(memcached.versions[0]!.schema.properties!.spec, {
    type: 'object',
    required: ['image'],
    properties: {
      size: { type: 'integer', minimum: 1, default: 3 },
      image: { type: 'string' },
      mode: { type: 'string', enum: ['Lion', 'Wolf'], default: 'Lion' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      ports: {
        type: 'array',
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, port: { type: 'integer', default: 1 } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      note: { type: 'string', nullable: true },
    },
  })
})

t.test('a definition that the API server would refuse is an error at once', async (t) => {
  const spec = Type.Object({})
  t.throws(() => defineKind({ group: 'Bad_Group', kind: 'A', versions: [{ name: 'v1', spec }] }), {
    code: 'PRO_KIND_INVALID',
    message: /group: a lowercase RFC 1123/,
  })
  t.throws(
    () =>
      defineKind({
        group: 'a.b',
        kind: 'A',
        versions: [
          { name: 'v1', spec },
          { name: 'v2', spec },
        ],
      }),
    { message: /exactly one must have storage: true, found 0/ },
  )
  t.throws(() => defineKind({ group: 'a.b', kind: 'A', versions: [{ name: 'one', spec }] }), { message: /"one" is not a version name/ })
})

t.test('all mistakes of a definition are reported at once', async (t) => {
  const spec = Type.Object({})
  const wrong = (definition: object, ...problems: string[]): void => {
    const { versions = [{ name: 'v1', spec }], ...rest } = definition as { versions?: unknown }
    const whole = { group: 'example.com', kind: 'Thing', ...rest, versions }
    t.throws(() => defineKind(whole as never), {
      code: 'PRO_KIND_INVALID',
      message: `The kind ${whole.kind}.${whole.group} is invalid: ${problems.join('; ')}.`,
    })
  }
  const label = (value: string): string =>
    `${value}: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`
  wrong({ plural: 'My_things' }, label('plural'))
  wrong({ kind: '7Thing', plural: 'things' }, label('kind'))
  wrong({ kind: '7Thing' }, label('plural'), label('kind'))
  wrong(
    {
      versions: [
        { name: 'v1', storage: true, spec },
        { name: 'v1', storage: true, spec },
      ],
    },
    'versions: exactly one must have storage: true, found 2',
    'versions: names must be unique',
  )
  wrong({ group: undefined }, 'group: is missing')
  wrong({ kind: undefined }, 'kind: is missing')
  wrong({ versions: [{}] }, 'versions[0].name: is missing', 'versions[0].spec: is missing')
  wrong(
    { versions: [{ name: 'v1', spec, printerColumns: [{}], scale: {} }] },
    'versions[0].printerColumns[0].name: is missing',
    'versions[0].printerColumns[0].jsonPath: is missing',
    'versions[0].scale.specReplicasPath: is missing',
    'versions[0].scale.statusReplicasPath: is missing',
  )
  wrong({ versions: [] }, 'versions: exactly one must have storage: true, found 0')
  wrong({ versions: [{ name: 'v1', spec, storage: false }] }, 'versions: exactly one must have storage: true, found 0')
  for (const name of ['v0', 'v01', 'V1', 'v1.0', 'v1gamma1', 'v1alpha', 'v1alpha0', 'v1beta1x', '1'])
    wrong({ versions: [{ name, spec }] }, `versions: "${name}" is not a version name such as v1, v1beta1 or v2alpha1`)
  wrong(
    {
      plural: 1,
      singular: 2,
      shortNames: 'x',
      categories: [3],
      scope: 'Global',
      versions: [
        {
          name: 'v1',
          spec,
          served: 1,
          storage: 'x',
          deprecationWarning: 1,
          specRequired: 1,
          printerColumns: [{ name: 'a', jsonPath: '.a', priority: -1, format: 1, description: 2 }],
          scale: { specReplicasPath: 1, labelSelectorPath: 2 },
          rules: [{}],
        },
      ],
    },
    'plural: must be a string, found 1',
    'singular: must be a string, found 2',
    'shortNames: must be a list, found "x"',
    'categories[0]: must be a string, found 3',
    'scope: must be one of "Namespaced", "Cluster", found "Global"',
    'versions[0].served: must be true or false, found 1',
    'versions[0].storage: must be true or false, found "x"',
    'versions[0].deprecationWarning: must be a string, found 1',
    'versions[0].specRequired: must be true or false, found 1',
    'versions[0].printerColumns[0].priority: must be a whole number of at least 0, found -1',
    'versions[0].printerColumns[0].format: must be a string, found 1',
    'versions[0].printerColumns[0].description: must be a string, found 2',
    'versions[0].scale.statusReplicasPath: is missing',
    'versions[0].scale.specReplicasPath: must be a string, found 1',
    'versions[0].scale.labelSelectorPath: must be a string, found 2',
    'versions[0].rules[0].rule: is missing',
  )
})

t.test('version names are validated like in Kubernetes', async (t) => {
  for (const name of ['v1', 'v10', 'v2alpha1', 'v1beta12'])
    t.equal(defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name, spec: Type.Object({}) }] }).version, name)
})

t.test('omitted settings have defaults', async (t) => {
  const spec = Type.Object({})
  const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec }] })
  t.strictSame(kind, {
    group: 'example.com',
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    singular: 'thing',
    namespaced: true,
    shortNames: [],
    categories: [],
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          type: 'object',
          properties: {
            apiVersion: { type: 'string' },
            kind: { type: 'string' },
            metadata: { type: 'object' },
            spec: { type: 'object', properties: {} },
          },
          required: ['spec'],
        },
        hasStatus: false,
        printerColumns: [],
      },
    ],
  })
  t.ok(Object.isFrozen(kind))
})

t.test('a printer column has one of the types of Kubernetes', async (t) => {
  const columns = (type: unknown): unknown =>
    defineKind({
      group: 'example.com',
      kind: 'Thing',
      versions: [{ name: 'v1', spec: Type.Object({}), printerColumns: [{ name: 'A', jsonPath: '.spec.a', type: type as 'string' }] }],
    }).versions[0]!.printerColumns
  for (const type of ['string', 'integer', 'number', 'boolean', 'date'])
    t.strictSame(columns(type), [{ name: 'A', jsonPath: '.spec.a', type }])
  for (const type of ['object', 'array', 'String', '']) t.throws(() => columns(type), { code: 'PRO_KIND_INVALID' }, type)
})

t.test('explicit settings are kept', async (t) => {
  const printerColumns = [{ name: 'A', jsonPath: '.spec.a' }]
  const scale = { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' }
  const rules = [{ rule: 'self.spec.a > 0' }]
  const kind = defineKind({
    group: 'example.com',
    kind: 'Zoo',
    plural: 'zoological',
    singular: 'zo',
    shortNames: ['z'],
    categories: ['all'],
    scope: 'Cluster',
    versions: [
      { name: 'v1', served: false, deprecationWarning: 'old', spec: Type.Object({ a: Type.Integer() }), specRequired: false },
      {
        name: 'v2',
        storage: true,
        spec: Type.Object({ a: Type.Integer() }),
        status: Type.Object({ a: Type.Integer(), list: Type.Array(Type.Object({ b: Type.String() })) }),
        printerColumns,
        scale,
        rules,
      },
    ],
  })
  const { versions, ...rest } = kind
  t.strictSame(rest, {
    group: 'example.com',
    version: 'v2',
    kind: 'Zoo',
    plural: 'zoological',
    singular: 'zo',
    namespaced: false,
    shortNames: ['z'],
    categories: ['all'],
  })
  const properties = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } }
  const spec = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }
  t.strictSame(versions, [
    {
      name: 'v1',
      served: false,
      storage: false,
      schema: { type: 'object', properties: { ...properties, spec } },
      hasStatus: false,
      printerColumns: [],
      deprecationWarning: 'old',
    },
    {
      name: 'v2',
      served: true,
      storage: true,
      schema: {
        type: 'object',
        properties: {
          ...properties,
          spec,
          status: {
            type: 'object',
            properties: {
              a: { type: 'integer' },
              list: { type: 'array', items: { type: 'object', required: ['b'], properties: { b: { type: 'string' } } } },
            },
          },
        },
        required: ['spec'],
        'x-kubernetes-validations': rules,
      },
      hasStatus: true,
      printerColumns,
      scale,
    },
  ])
})

t.test('a spec is required in the CRD and in the static type, unless specRequired is false', (t) => {
  const spec = Type.Object({ a: Type.Optional(Type.String()) })
  const kindOf = <Required extends boolean>(specRequired: Required) =>
    defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec, specRequired }] })
  const [without, explicit, optional] = [
    defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec }] }),
    kindOf(true as const),
    kindOf(false as const),
  ]
  t.strictSame(
    [without, explicit, optional].map(({ versions }) => versions[0]!.schema.required),
    [['spec'], ['spec'], undefined],
  )
  type SpecOf<K extends typeof without | typeof optional> = Infer<K>['spec']
  // @ts-expect-error a kind whose spec is required has no object without a spec
  const missing: SpecOf<typeof without> = undefined
  const absent: SpecOf<typeof optional> = undefined
  t.equal(missing, absent)
  t.end()
})

t.test('plurals are English', async (t) => {
  for (const [kind, plural] of [
    ['Site', 'sites'],
    ['Bus', 'buses'],
    ['Box', 'boxes'],
    ['Waltz', 'waltzes'],
    ['Switch', 'switches'],
    ['Mesh', 'meshes'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
    ['Graph', 'graphs'],
  ] as const)
    t.equal(defineKind({ group: 'example.com', kind, versions: [{ name: 'v1', spec: Type.Object({}) }] }).plural, plural)
})

t.test('a handle of another version is a type with its own version', async (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Thing',
    scope: 'Cluster',
    versions: [
      { name: 'v1', storage: true, spec: Type.Object({}) },
      { name: 'v2', spec: Type.Object({}) },
    ],
  })
  const second = versionOf(kind, 'v2')
  t.strictSame({ ...second }, { ...second, group: 'example.com', version: 'v2', kind: 'Thing', plural: 'things', namespaced: false })
  t.strictSame(Object.keys(second), ['group', 'version', 'kind', 'plural', 'namespaced'])
  t.ok(Object.isFrozen(second))
  t.equal(kindOf(second), kind)
  t.equal(kindOf(kind), kind)
  t.equal(kindOf(pod), undefined)
  t.throws(() => versionOf(kind, 'v3' as never), {
    code: 'PRO_KIND_INVALID',
    message: 'Thing.example.com has no version v3; it has v1, v2.',
  })
})

t.test('conditions are those of Kubernetes', async (t) => {
  const withoutDescription = (key: string, value: unknown): unknown => (key === 'description' ? undefined : value)
  t.strictSame(JSON.parse(JSON.stringify(Conditions, withoutDescription)), {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        type: { type: 'string', maxLength: 316 },
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
        message: { type: 'string', maxLength: 32768 },
        lastTransitionTime: { type: 'string', format: 'date-time' },
        observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      },
      required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  })
})

t.test('a schema has only JSON values, and fields may have any name', async (t) => {
  const properties = JSON.parse('{"__proto__":{"type":"string"}}') as Record<string, never>
  const spec = { type: 'object', properties: { ...properties, ['__proto__']: { type: 'string' }, gone: undefined } }
  const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: spec as never }] })
  t.equal(JSON.stringify(kind.versions[0]!.schema.properties!.spec), '{"type":"object","properties":{"__proto__":{"type":"string"}}}')
})
