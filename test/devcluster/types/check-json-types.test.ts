import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { Shape } from '../../../src/devcluster/types/check-json-types.ts'
import { checkShape } from '../../../src/devcluster/types/check-json-types.ts'

const holder = (field: Shape): Shape => ({ type: 'Holder', fields: { field } })
const errorOf = (shape: Shape, field: JsonValue): string | undefined => checkShape(holder(shape), { field }).error
const cannot = (what: string, type: string): string => `json: cannot unmarshal ${what} into Go struct field Holder.field of type ${type}`

t.test('every scalar shape accepts its values and refuses others with the message of Go', (t) => {
  const seconds = '2006-01-02T15:04:05Z07:00'
  const micro = '2006-01-02T15:04:05.000000Z07:00'
  const noTime = (text: string, layout: string, rest: string, part: string): string =>
    `parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${part}"`
  const base64 = (at: number): string => `illegal base64 data at input byte ${at}`
  const cases: readonly (readonly [Shape, JsonValue, string | undefined])[] = [
    ['string', 'a', undefined],
    ['string', 7, cannot('number', 'string')],
    ['string', 9_007_199_254_740_993n, cannot('number', 'string')],
    ['string', {}, cannot('object', 'string')],
    ['bool', false, undefined],
    ['bool', 'true', cannot('string', 'bool')],
    ['int32', 2 ** 31 - 1, undefined],
    ['int32', 2 ** 31, cannot('number 2147483648', 'int32')],
    ['int32', -(2 ** 31), undefined],
    ['int32', -(2 ** 31) - 1, cannot('number -2147483649', 'int32')],
    ['int32', 9_007_199_254_740_993n, cannot('number 9007199254740993', 'int32')],
    ['int32', 1.5, cannot('number 1.5', 'int32')],
    ['int32', '1', cannot('string', 'int32')],
    ['int64', 2 ** 31, undefined],
    ['int64', 9_007_199_254_740_993n, undefined],
    ['int64', 1.5, cannot('number 1.5', 'int64')],
    ['int64', true, cannot('bool', 'int64')],
    ['float64', 1.5, undefined],
    ['float64', 9_007_199_254_740_993n, undefined],
    ['float64', '1', cannot('string', 'float64')],
    ['intOrString', 1, undefined],
    ['intOrString', 'a', undefined],
    ['intOrString', true, cannot('bool', 'int32')],
    ['intOrString', 1.5, cannot('number 1.5', 'int32')],
    ['intOrString', 9_007_199_254_740_993n, cannot('number 9007199254740993', 'int32')],
    ['quantity', '1Gi', undefined],
    ['quantity', 1, undefined],
    ['quantity', 'much', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    ['bytes', '', undefined],
    ['bytes', 'eA==', undefined],
    ['bytes', 'eHg=', undefined],
    ['bytes', 'eHh4\r\neA==', undefined],
    ['bytes', '+/09', undefined],
    ['bytes', 'AZaz+Q==', undefined],
    ['bytes', '-_09', base64(0)],
    ['bytes', '+/0!', base64(3)],
    ['bytes', 'eHh4\n!', base64(5)],
    ['bytes', 7, cannot('number', '[]uint8')],
    ['bytes', '!', base64(0)],
    ['bytes', 'eHh4e!==', base64(5)],
    ['bytes', 'eA', base64(0)],
    ['bytes', 'eHh', base64(0)],
    ['bytes', 'eHh4e', base64(4)],
    ['bytes', 'eA==eA==', base64(4)],
    ['bytes', 'eHg=e', base64(4)],
    ['bytes', 'e===', base64(1)],
    ['time', '2020-01-01T00:00:00Z', undefined],
    ['time', '2020-01-01T00:00:00.5+01:00', undefined],
    ['time', 7, cannot('number', 'string')],
    ['time', '', noTime('', seconds, '', '2006')],
    ['time', 'now', noTime('now', seconds, 'now', '2006')],
    ['microTime', '2020-01-01T00:00:00.123456Z', undefined],
    ['microTime', '2020-01-01T00:00:00.123456-01:30', undefined],
    ['microTime', '2020-01-01T00:00:00Z', noTime('2020-01-01T00:00:00Z', micro, 'Z', '.000000')],
    ['microTime', '2020-01-01T00:00:00.12345Z', noTime('2020-01-01T00:00:00.12345Z', micro, '.12345Z', '.000000')],
    ['microTime', '2020-01-01T00:00:00.1234567Z', noTime('2020-01-01T00:00:00.1234567Z', micro, '7Z', 'Z07:00')],
    ['microTime', [], cannot('array', 'string')],
    ['any', { a: [1] }, undefined],
    [['string'], ['a', null], undefined],
    [['string'], 'a', cannot('string', '[]string')],
    [['bytes'], {}, cannot('object', '[][]uint8')],
    [{ mapOf: 'int32' }, { a: 1 }, undefined],
    [{ mapOf: 'int32' }, [], cannot('array', 'map[string]int32')],
    [{ mapOf: ['string'] }, 'a', cannot('string', 'map[string][]string')],
    [{ type: 'Inner', fields: {} }, 'a', cannot('string', 'v1.Inner')],
    [[{ type: 'Inner', fields: {} }], {}, cannot('object', '[]v1.Inner')],
    [[{ objectOr: { type: 'Inner', fields: {} } }], {}, cannot('object', '[]v1.Inner')],
  ]
  for (const [shape, value, error] of cases) {
    const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
    t.equal(errorOf(shape, value), error, `${JSON.stringify(shape)}: ${text}`)
    t.equal(errorOf(shape, null), undefined)
  }
  t.end()
})

t.test('a wrong type is reported with its Go struct and field names, an unknown field with its path', (t) => {
  const shape: Shape = {
    type: 'Outer',
    fields: {
      list: [{ type: 'Item', fields: { name: 'string', inner: { type: 'Inner', fields: { count: 'int32' } } } }],
      map: { mapOf: { type: 'Value', fields: { flag: 'bool' } } },
      either: { objectOr: { type: 'Either', fields: { flag: 'bool' } } },
    },
  }
  const check = (object: JsonObject): unknown => checkShape(shape, object)
  t.strictSame(check({ list: [{ name: 'a' }, { inner: { count: 'x' } }] }), {
    error: 'json: cannot unmarshal string into Go struct field Inner.list.inner.count of type int32',
    unknown: [],
  })
  t.strictSame(check({ map: { a: { flag: 1 } } }), {
    error: 'json: cannot unmarshal number into Go struct field Value.map.flag of type bool',
    unknown: [],
  })
  t.strictSame(check({ x: 1, list: [{}, { y: 2, inner: { z: 3 } }], map: { 'a.b': { w: 4 } }, toString: 5 }), {
    unknown: ['x', 'list[1].y', 'list[1].inner.z', 'map.a.b.w', 'toString'],
  })
  t.strictSame(check({ x: 1, list: [7] }), {
    error: 'json: cannot unmarshal number into Go struct field Outer.list of type v1.Item',
    unknown: ['x'],
  })
  t.strictSame(check({ either: 'text' }), { unknown: [] })
  t.strictSame(
    check({ either: { flag: true, other: 1 } }),
    { unknown: [] },
    'unknown fields of a separately decoded value are not reported',
  )
  t.strictSame(check({ either: { flag: 1 } }), {
    error: 'json: cannot unmarshal number into Go struct field Outer.either.flag of type bool',
    unknown: [],
  })
  t.end()
})
