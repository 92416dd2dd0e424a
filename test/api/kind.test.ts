import t from 'tap'
import { defineKind, type Infer, type InferInput, Conditions } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { pod } from '../../src/api/builtin.ts'
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
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: { size: 3, image: 'x', mode: 'Wolf', ports: [{ name: 'a', port: 1 }] },
  }
  const size: number = object.spec.size
  const input: InferInput<typeof memcached> = {
    apiVersion: 'cache.example.com/v1alpha1',
    kind: 'Memcached',
    metadata: { name: 'a' },
    spec: { image: 'x', ports: [{ name: 'a' }], note: null },
  }
  // @ts-expect-error what has a default may be left out when writing, never when reading
  const missing: Infer<typeof memcached>['spec'] = { image: 'x', mode: 'Wolf' }
  // @ts-expect-error a value outside the enum
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

t.test('a definition that the API server would refuse is an error where it stands', async (t) => {
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
  t.throws(() => defineKind({ group: 'a.b', kind: 'A', versions: [{ name: 'one', spec }] }), { message: /"one" is no version name/ })
})
