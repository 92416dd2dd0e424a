import t from 'tap'
import { decodeObjectMeta } from '../../src/api/object-meta-json.ts'

t.test('what is empty or no field is left out', async (t) => {
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

t.test('references to owners have all their names', async (t) => {
  t.strictSame(decodeObjectMeta({ ownerReferences: [{ name: 'a', controller: false, x: 1 }] }), {
    metadata: { ownerReferences: [{ apiVersion: '', kind: '', name: 'a', uid: '', controller: false }] },
    unknown: ['ownerReferences[0].x'],
  })
})

t.test('the first wrong type, by the order of the keys', async (t) => {
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
  t.match(decodeObjectMeta({ annotations: 'x', creationTimestamp: 'now' }).error, /^parsing time/, 'but times come first')
  t.strictSame(decodeObjectMeta({ creationTimestamp: '2020-01-01T01:00:00.5+01:00' }).metadata, {
    creationTimestamp: '2020-01-01T00:00:00Z',
  })
})
