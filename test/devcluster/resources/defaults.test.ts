import t from 'tap'
import { changeItems, changeObjectField, equalExcept, withDefaults } from '../../../src/devcluster/resources/defaults.ts'

t.test('fills in what is not said, or null, and leaves the object itself alone', (t) => {
  const object = { a: 1, b: null, c: false, d: '' }
  t.strictSame(withDefaults(object, { a: 2, b: 3, c: true, d: 'x', e: 4, f: undefined }), { a: 1, b: 3, c: false, d: '', e: 4 })
  t.strictSame(object, { a: 1, b: null, c: false, d: '' })
  t.equal(withDefaults(object, { a: 2, z: undefined }), object, 'nothing is missing')
  t.strictSame(withDefaults({}, { constructor: 1 }), { constructor: 1 }, 'what every object inherits is not given')
  t.end()
})

t.test('changes one field, and gives the same object where that changes nothing', (t) => {
  const object = { a: { b: 1 }, c: 'text', d: null, list: [{ e: 1 }, 'text', { e: 2 }] }
  t.strictSame(
    changeObjectField(object, 'a', (a) => ({ ...a, x: 2 })),
    { ...object, a: { b: 1, x: 2 } },
  )
  for (const key of ['c', 'd', 'none', 'list', 'toString'])
    t.equal(
      changeObjectField(object, key, () => ({ x: 1 })),
      object,
      key,
    )
  t.equal(
    changeObjectField(object, 'a', (a) => a),
    object,
  )
  t.strictSame(
    changeItems(object, 'list', (item) => (item.e === 2 ? { e: 3 } : item)),
    { ...object, list: [{ e: 1 }, 'text', { e: 3 }] },
  )
  t.equal(
    changeItems(object, 'list', (item) => item),
    object,
  )
  t.equal(
    changeItems(object, 'a', () => ({ x: 1 })),
    object,
    'no list',
  )
  t.strictSame(object, { a: { b: 1 }, c: 'text', d: null, list: [{ e: 1 }, 'text', { e: 2 }] })
  t.end()
})

t.test('compares all fields but those named', (t) => {
  t.equal(equalExcept({ a: 1, b: { c: 2 } }, { a: 1, b: { c: 2 } }), true)
  t.equal(equalExcept({ a: 1, b: 2 }, { a: 1, b: 3 }, 'b'), true)
  t.equal(equalExcept({ a: 1, b: 2 }, { a: 1 }, 'b'), true)
  t.equal(equalExcept({ a: 1, b: 2 }, { a: 2, b: 2 }, 'b'), false)
  t.equal(equalExcept({ a: 1 }, { a: 1, b: 3 }), false)
  t.end()
})
