import t from 'tap'
import { decodeObjectMeta } from '../../src/api/object-meta-json.ts'

t.test('empty and unknown fields are omitted', async (t) => {
  t.strictSame(
    decodeObjectMeta({
      name: 'a',
      generateName: '',
      labels: {},
      annotations: { a: null },
      finalizers: null,
      generation: 0,
      other: { b: 1 },
    }),
    {
      metadata: { name: 'a', annotations: { a: '' } },
      unknown: ['other'],
    },
  )
  t.strictSame(decodeObjectMeta({ deletionGracePeriodSeconds: 0, creationTimestamp: null }).metadata, { deletionGracePeriodSeconds: 0 })
  t.strictSame(decodeObjectMeta(null).metadata, {})
})

t.test('owner references have all required fields', async (t) => {
  t.strictSame(decodeObjectMeta({ ownerReferences: [{ name: 'a', controller: false, x: 1 }] }), {
    metadata: { ownerReferences: [{ apiVersion: '', kind: '', name: 'a', uid: '', controller: false }] },
    unknown: ['ownerReferences[0].x'],
  })
})

t.test('a null item of a list is an empty one', async (t) => {
  t.strictSame(decodeObjectMeta({ ownerReferences: [null], managedFields: [null], finalizers: [null] }), {
    metadata: { finalizers: [''], managedFields: [{}], ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
    unknown: [],
  })
})

t.test('the first wrong type by key order is reported', async (t) => {
  const cases: readonly (readonly [value: unknown, error: string])[] = [
    ['text', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [{ uid: 1, labels: { a: true } }, 'json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string'],
    [{ uid: 1 }, 'json: cannot unmarshal number into Go struct field ObjectMeta.uid of type types.UID'],
    [{ generation: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64'],
    [{ finalizers: 'a' }, 'json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string'],
    [
      { ownerReferences: [{ controller: 1 }] },
      'json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.controller of type bool',
    ],
    [{ deletionTimestamp: 1 }, 'json: cannot unmarshal number into Go struct field ObjectMeta.deletionTimestamp of type string'],
    [{ creationTimestamp: 'now' }, 'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"'],
  ]
  for (const [value, error] of cases) t.equal(decodeObjectMeta(value as never).error, error)
  t.match(decodeObjectMeta({ annotations: 'x', creationTimestamp: 'now' }).error, /^parsing time/, 'but times are decoded first')
  t.match(decodeObjectMeta({ annotations: 'x', creationTimestamp: 1 }).error, /creationTimestamp of type string$/, 'also of another type')
  t.strictSame(decodeObjectMeta({ creationTimestamp: '2020-01-01T01:00:00.5+01:00' }).metadata, {
    creationTimestamp: '2020-01-01T00:00:00Z',
  })
})

t.test('metadata with all fields is unchanged', async (t) => {
  const metadata = {
    name: 'a',
    generateName: 'a-',
    namespace: 'ns',
    selfLink: '/x',
    uid: 'u',
    resourceVersion: '1',
    generation: 9007199254740993n,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-02T00:00:00Z',
    deletionGracePeriodSeconds: 30,
    labels: { a: 'b' },
    annotations: { c: '' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'v', controller: true, blockOwnerDeletion: false }],
    finalizers: ['x/y', ''],
    managedFields: [
      {
        manager: 'm',
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:a': {} },
        subresource: 'status',
      },
    ],
  }
  t.strictSame(decodeObjectMeta(metadata), { metadata, unknown: [] })
})

t.test('empty values are omitted, except for pointers', async (t) => {
  const empty = {
    name: '',
    uid: '',
    generation: 0,
    labels: {},
    annotations: {},
    ownerReferences: [],
    finalizers: [],
    managedFields: [{ manager: '', fieldsV1: {}, time: null }],
    deletionGracePeriodSeconds: 0,
  }
  t.strictSame(decodeObjectMeta(empty), { metadata: { managedFields: [{ fieldsV1: {} }], deletionGracePeriodSeconds: 0 }, unknown: [] })
  t.strictSame(
    decodeObjectMeta({ ownerReferences: [null, { blockOwnerDeletion: false }], finalizers: ['a', null], labels: { b: null } }).metadata,
    {
      ownerReferences: [
        { apiVersion: '', kind: '', name: '', uid: '' },
        { apiVersion: '', kind: '', name: '', uid: '', blockOwnerDeletion: false },
      ],
      finalizers: ['a', ''],
      labels: { b: '' },
    },
  )
})

t.test('unknown fields are reported with paths, in order', async (t) => {
  const { unknown, metadata } = decodeObjectMeta({
    z: 1,
    a: undefined,
    ownerReferences: [{ y: 1, x: 1 }, {}, { w: null }],
    managedFields: [{ v: 1 }],
    constructor: 1,
  } as never)
  t.strictSame(unknown, ['constructor', 'managedFields[0].v', 'ownerReferences[0].x', 'ownerReferences[0].y', 'ownerReferences[2].w', 'z'])
  t.notOk('z' in metadata)
})

t.test('each wrong type has the error message of Go', async (t) => {
  const cases: readonly (readonly [unknown, string])[] = [
    [[], 'array into Go value of type v1.ObjectMeta'],
    [7, 'number into Go value of type v1.ObjectMeta'],
    [9007199254740993n, 'number into Go value of type v1.ObjectMeta'],
    [true, 'bool into Go value of type v1.ObjectMeta'],
    [{ name: 9007199254740993n }, 'number into Go struct field ObjectMeta.name of type string'],
    [{ name: {} }, 'object into Go struct field ObjectMeta.name of type string'],
    [{ generation: 'x' }, 'string into Go struct field ObjectMeta.generation of type int64'],
    [{ generation: 1e300 }, 'number 1e+300 into Go struct field ObjectMeta.generation of type int64'],
    [{ deletionGracePeriodSeconds: true }, 'bool into Go struct field ObjectMeta.deletionGracePeriodSeconds of type int64'],
    [{ labels: [] }, 'array into Go struct field ObjectMeta.labels of type map[string]string'],
    [{ labels: { a: 1 } }, 'number into Go struct field ObjectMeta.labels of type string'],
    [{ finalizers: [1] }, 'number into Go struct field ObjectMeta.finalizers of type string'],
    [{ ownerReferences: {} }, 'object into Go struct field ObjectMeta.ownerReferences of type []v1.OwnerReference'],
    [{ ownerReferences: ['x'] }, 'string into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference'],
    [{ ownerReferences: [{ uid: 1 }] }, 'number into Go struct field OwnerReference.ownerReferences.uid of type types.UID'],
    [{ managedFields: [{ operation: 1 }] }, 'number into Go struct field ManagedFieldsEntry.managedFields.operation of type string'],
    [{ managedFields: [{ time: 1 }] }, 'number into Go struct field ManagedFieldsEntry.managedFields.time of type string'],
    [{ name: 1, uid: 1 }, 'number into Go struct field ObjectMeta.name of type string'],
  ]
  for (const [value, text] of cases) t.equal(decodeObjectMeta(value as never).error, `json: cannot unmarshal ${text}`)
  t.strictSame(decodeObjectMeta({ name: 1, namespace: 'ns', labels: { a: 1, b: 'c' } } as never).metadata, {
    namespace: 'ns',
    labels: { a: '', b: 'c' },
  })
})

t.test('times are written in UTC without a fraction, others fail the decoding', async (t) => {
  const read = (time: string): unknown => {
    const { metadata, error } = decodeObjectMeta({ creationTimestamp: time })
    return error ?? metadata.creationTimestamp
  }
  t.equal(read('2026-01-01T00:00:00.999999999-01:30'), '2026-01-01T01:30:00Z')
  t.equal(read('2026-02-30T00:00:00Z'), 'parsing time "2026-02-30T00:00:00Z": day out of range')
  t.match(decodeObjectMeta({ creationTimestamp: 'x', deletionTimestamp: 'y' }).error, /"x"/, 'the first of them')
})

t.test('a float without a fraction is an integer, unless it is beyond int64', async (t) => {
  const read = (generation: number): unknown => {
    const { metadata, error } = decodeObjectMeta({ generation })
    return error ?? metadata.generation
  }
  t.equal(read(1e5), 100_000)
  t.equal(read(1e16), 10_000_000_000_000_000n)
  // Go encodes the float 2^62 as the shortest decimal number that identifies the float. The decoded integer is this decimal number, which
  // is not exactly 2^62.
  t.equal(read(2 ** 62), 4_611_686_018_427_388_000n)
  t.equal(read(2 ** 63), 'json: cannot unmarshal number 9223372036854776000 into Go struct field ObjectMeta.generation of type int64')
  t.equal(read(1e30), 'json: cannot unmarshal number 1e+30 into Go struct field ObjectMeta.generation of type int64')
})

t.test('a key may have the name of an inherited property', async (t) => {
  const labels = JSON.parse('{"__proto__":"a","b":"c"}') as Record<string, string>
  t.equal(JSON.stringify(decodeObjectMeta({ labels }).metadata), '{"labels":{"__proto__":"a","b":"c"}}')
})

t.test('labels and annotations are sorted by key', async (t) => {
  t.equal(JSON.stringify(decodeObjectMeta({ labels: { b: '1', a: '2' }, name: 'x' }).metadata), '{"labels":{"a":"2","b":"1"},"name":"x"}')
})
