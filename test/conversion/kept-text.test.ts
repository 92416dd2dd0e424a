import t from 'tap'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { readKeptFields, restoreWhatFits, writeKeptFields } from '../../src/conversion/kept-text.ts'
import { compileSchema } from '../../src/schema/compile.ts'

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 3 },
        b: { type: 'integer', maximum: 5 },
        c: { type: 'object', properties: { d: { type: 'integer', default: 7 }, e: { type: 'integer' } } },
        list: {
          type: 'array',
          maxItems: 2,
          items: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, x: { type: 'integer', maximum: 5 } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
        },
      },
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
}
const target = compileSchema(schema)
const envelope = { apiVersion: 'example.com/v1', kind: 'A' }

t.test('only spec and status are kept', async (t) => {
  const original = { ...envelope, metadata: { name: 'a' }, spec: { a: 'x' }, status: { n: 9007199254740993n }, data: 1 }
  t.equal(
    writeKeptFields({ ...envelope, spec: {}, status: {} }, original, schema),
    '{"fields":{"spec":{"fields":{"a":{"value":"x"}}},"status":{"fields":{"n":{"value":9007199254740993}}}}}',
  )
  t.equal(writeKeptFields({ ...original, data: 2 }, original, schema), undefined)
  t.equal(
    writeKeptFields({ ...original, status: {} }, original, schema),
    '{"fields":{"status":{"fields":{"n":{"value":9007199254740993}}}}}',
  )
  t.equal(writeKeptFields({ ...original, spec: {} }, original, schema), '{"fields":{"spec":{"fields":{"a":{"value":"x"}}}}}')
  const list = { spec: { list: [{ id: 'a', x: 1 }] } }
  t.equal(
    writeKeptFields({ spec: { list: [{ id: 'a' }] } }, list, schema),
    '{"fields":{"spec":{"fields":{"list":{"items":[[["a"],{"fields":{"x":{"value":1}}}]]}}}}}',
    'matched by the schema of the field',
  )
})

t.test('only valid kept texts up to 64 KiB are read', async (t) => {
  t.strictSame(readKeptFields('{"fields":{"spec":{"value":9007199254740993},"status":{}}}'), {
    fields: { spec: { value: 9007199254740993n }, status: {} },
  })
  t.strictSame(readKeptFields('{"fields":{}}'), { fields: {} })
  for (const text of ['', '{', '7', '[]', '{}', '{"fields":[]}', '{"fields":{"spec":{},"metadata":{}}}'])
    t.equal(readKeptFields(text), undefined)
  const padded = (length: number): string => `{"fields":{}${' '.repeat(length - 13)}}`
  t.strictSame(readKeptFields(padded(65_536)), { fields: {} })
  t.equal(readKeptFields(padded(65_537)), undefined)
})

t.test('accepted fields are restored with defaults, refused ones are named', async (t) => {
  const fit = (spec: object, fields: object) =>
    restoreWhatFits({ ...envelope, spec } as never, { fields: { spec: { fields } } } as never, target)
  const restored = (spec: object): object => ({ ...envelope, spec })
  t.strictSame(fit({}, { a: { value: 'x' }, b: { value: 5 } }), { restored: restored({ a: 'x', b: 5 }), refused: [] })
  t.strictSame(fit({}, { a: { value: 'long' }, b: { value: 5 } }), { restored: restored({ b: 5 }), refused: ['spec.a'] })
  t.strictSame(fit({}, { a: { value: 'long' }, b: { value: 6 } }), { restored: restored({}), refused: ['spec.a', 'spec.b'] })
  t.strictSame(fit({}, { c: { value: { e: 1 } } }), { restored: restored({ c: { e: 1, d: 7 } }), refused: [] })
  t.strictSame(fit({}, { unknown: { value: 1 } }), { restored: restored({}), refused: [] })
  t.strictSame(fit({ b: 9 }, { a: { value: 'x' } }), { restored: restored({ b: 9, a: 'x' }), refused: [] }, 'invalid before')
  const unchanged = { ...envelope, spec: { a: 'x' } }
  t.equal(restoreWhatFits(unchanged, { fields: {} }, target).restored, unchanged)
  const list = [{ id: 'a' }, { id: 'b' }]
  const items = (a: number, b: number): object => ({
    list: {
      items: [
        [['a'], { fields: { x: { value: a } } }],
        [['b'], { fields: { x: { value: b } } }],
      ],
    },
  })
  t.strictSame(fit({ list }, items(1, 6)), { restored: restored({ list: [{ id: 'a', x: 1 }, { id: 'b' }] }), refused: ['spec.list[1].x'] })
})

t.test('a restored field is refused if the field was invalid before for another reason', async (t) => {
  const text = writeKeptFields({ spec: { b: 6.5 } }, { spec: { b: 6 } }, schema)!
  const object = { ...envelope, spec: { b: 6.5 } }
  t.strictSame(restoreWhatFits(object, readKeptFields(text)!, target), { restored: object, refused: ['spec.b'] })
})

t.test('no field is restored if the accepted ones violate a rule that was not evaluated before', async (t) => {
  const ruled = compileSchema({
    ...schema,
    properties: { ...schema.properties, spec: { ...schema.properties!.spec, 'x-kubernetes-validations': [{ rule: '!has(self.b)' }] } },
  })
  const object = { ...envelope, spec: {} }
  const kept = { fields: { spec: { fields: { a: { value: 5 }, b: { value: 1 } } } } }
  // `restoreWhatFits` makes two attempts:
  // - The first attempt restores `a` and `b`. `a` has the wrong type, so the rule is not evaluated. There are two errors: the type of `a`,
  //   and an error with the path `<nil>`, which says that rules were not evaluated.
  // - The second attempt restores only `b`. The rule is evaluated, and the object violates the rule. Therefore, nothing is restored.
  t.strictSame(restoreWhatFits(object, kept, ruled), { restored: object, refused: ['spec.a', '<nil>'] })
})
