import t from 'tap'
import { changeItems, changeObjectField, equalExcept, withDefaults } from '../../../src/devcluster/resources/defaulting.ts'

t.test('missing and null fields are defaulted in a copy', (t) => {
  const object = { a: 1, b: null, c: false, d: '' }
  t.strictSame(withDefaults(object, { a: 2, b: 3, c: true, d: 'x', e: 4, f: undefined }), { a: 1, b: 3, c: false, d: '', e: 4 })
  t.strictSame(object, { a: 1, b: null, c: false, d: '' })
  t.equal(withDefaults(object, { a: 2, z: undefined }), object, 'a complete object is returned unchanged')
  t.strictSame(withDefaults({}, { constructor: 1 }), { constructor: 1 }, 'an inherited property counts as missing')
  t.end()
})

t.test('one field is changed in a copy, and an unchanged object is returned itself', (t) => {
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
    'a value that is not a list',
  )
  t.strictSame(object, { a: { b: 1 }, c: 'text', d: null, list: [{ e: 1 }, 'text', { e: 2 }] })
  t.end()
})

t.test('objects are compared without the named fields', (t) => {
  t.equal(equalExcept({ a: 1, b: { c: 2 } }, { a: 1, b: { c: 2 } }), true)
  t.equal(equalExcept({ a: 1, b: 2 }, { a: 1, b: 3 }, 'b'), true)
  t.equal(equalExcept({ a: 1, b: 2 }, { a: 1 }, 'b'), true)
  t.equal(equalExcept({ a: 1, b: 2 }, { a: 2, b: 2 }, 'b'), false)
  t.equal(equalExcept({ a: 1 }, { a: 1, b: 3 }), false)
  t.end()
})
