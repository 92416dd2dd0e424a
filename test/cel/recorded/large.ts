/**
 * A schema, and an object that matches the schema. Some fields of the schema have a limit, such as `maxLength` or `maxItems`, and others
 * have no limit. The costs in `expressions/costs.jsonl` were recorded with this schema and object.
 */
import type { JsonObject } from '../../../src/api/json.ts'
import type { StructuralSchema } from '../../../src/api/structural-schema.ts'

const text: StructuralSchema = { type: 'string' }
const integer: StructuralSchema = { type: 'integer' }
const textOf = (maxLength: number): StructuralSchema => ({ type: 'string', maxLength })

export const schema: StructuralSchema = {
  type: 'object',
  required: ['req', 'ml'],
  properties: {
    i: integer,
    n: { type: 'number' },
    b: { type: 'boolean' },
    s: textOf(25),
    us: text,
    e: { type: 'string', enum: ['a', 'bbbé', 'cc'] },
    ue: { type: 'string', enum: ['a', 'bb'], maxLength: 7 },
    dt: { type: 'string', format: 'date-time' },
    d: { type: 'string', format: 'date' },
    dur: { type: 'string', format: 'duration' },
    by: { type: 'string', format: 'byte', maxLength: 33 },
    uby: { type: 'string', format: 'byte' },
    ios: { 'x-kubernetes-int-or-string': true, maxLength: 11 },
    uios: { 'x-kubernetes-int-or-string': true },
    l: { type: 'array', maxItems: 13, items: textOf(17) },
    ul: { type: 'array', items: text },
    li: { type: 'array', maxItems: 9, items: integer },
    uli: { type: 'array', items: integer },
    ll: { type: 'array', maxItems: 7, items: { type: 'array', items: textOf(5) } },
    m: { type: 'object', maxProperties: 6, additionalProperties: textOf(15) },
    um: { type: 'object', additionalProperties: text },
    mm: { type: 'object', additionalProperties: { type: 'array', maxItems: 3, items: textOf(12) } },
    o: {
      type: 'object',
      required: ['s', 'é', 'def'],
      properties: { s: textOf(14), é: { type: 'boolean' }, def: { type: 'string', default: 'x' }, opt: integer },
    },
    oo: { type: 'object', additionalProperties: { type: 'object', required: ['s'], properties: { s: text } } },
    emb: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: textOf(3) },
    ml: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: {
        type: 'object',
        required: ['k', 'v', 'w'],
        properties: { k: textOf(8), v: integer, w: { type: 'array', items: { type: 'boolean' } }, x: { type: 'number' } },
      },
    },
    bl: { type: 'array', items: { type: 'string', format: 'byte', maxLength: 19 } },
    dl: { type: 'array', items: { type: 'string', format: 'duration' } },
    z: textOf(0),
    lz: { type: 'array', maxItems: 0, items: textOf(5) },
    req: textOf(1000),
  },
}

export const object: JsonObject = {
  apiVersion: 'example.com/v1',
  kind: 'Large',
  metadata: { name: 'large' },
  i: 3,
  n: 1.5,
  b: true,
  s: 'a short text',
  us: 'abc,def,ghi and so on, as long as it takes to see what it costs',
  e: 'a',
  ue: 'bb',
  dt: '2024-02-29T12:34:56Z',
  d: '2024-02-29',
  dur: '90s',
  by: 'aGVsbG8gd29ybGQh',
  uby: 'aGVsbG8=',
  ios: 5,
  uios: 'fifty and some more',
  l: ['first', 'second one', 'third and last'],
  ul: ['a', 'bcdefghijklmnop', 'c', 'd'],
  li: [3, 1, 2],
  uli: [1, 2, 3, 4, 5, 6],
  ll: [['a', 'b'], ['c']],
  m: { a: 'x', b: 'and a longer one' },
  um: { a: 'one', c: 'something longer' },
  mm: { a: ['p', 'q'] },
  o: { s: 'inner', é: true, def: 'y' },
  oo: { a: { s: 'nested' } },
  emb: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' } },
  set: ['x', 'y'],
  ml: [
    { k: 'a', v: 1, w: [true] },
    { k: 'b', v: 0, w: [] },
  ],
  bl: ['aGVsbG8=', 'YQ=='],
  dl: ['1s', '2s'],
  z: '',
  lz: [],
  req: 'required',
}
