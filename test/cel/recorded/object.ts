/**
 * A schema with at least one field of each type, and an object that matches the schema. The recorded rules are evaluated for this object.
 */
import type { JsonObject } from '../../../src/api/json.ts'
import type { StructuralSchema, ValidationRule } from '../../../src/api/structural-schema.ts'

const spec: StructuralSchema = {
  type: 'object',
  properties: {
    i: { type: 'integer' },
    j: { type: 'integer' },
    n: { type: 'number' },
    b: { type: 'boolean' },
    s: { type: 'string', maxLength: 20 },
    t: { type: 'string', maxLength: 20 },
    e: { type: 'string', enum: ['a', 'bb'] },
    dt: { type: 'string', format: 'date-time' },
    d: { type: 'string', format: 'date' },
    dur: { type: 'string', format: 'duration' },
    by: { type: 'string', format: 'byte', maxLength: 20 },
    ios: { 'x-kubernetes-int-or-string': true, maxLength: 10 },
    ios2: { 'x-kubernetes-int-or-string': true, maxLength: 10 },
    l: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } },
    li: { type: 'array', maxItems: 10, items: { type: 'integer' } },
    ln: { type: 'array', maxItems: 10, items: { type: 'number' } },
    set: { type: 'array', maxItems: 10, 'x-kubernetes-list-type': 'set', items: { type: 'string', maxLength: 10 } },
    set2: { type: 'array', maxItems: 10, 'x-kubernetes-list-type': 'set', items: { type: 'string', maxLength: 10 } },
    ml: {
      type: 'array',
      maxItems: 10,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string', maxLength: 10 }, v: { type: 'integer' } } },
    },
    ml2: {
      type: 'array',
      maxItems: 10,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string', maxLength: 10 }, v: { type: 'integer' } } },
    },
    m: { type: 'object', maxProperties: 10, additionalProperties: { type: 'string', maxLength: 10 } },
    mi: { type: 'object', maxProperties: 10, additionalProperties: { type: 'integer' } },
    o: {
      type: 'object',
      properties: {
        'a-b': { type: 'string', maxLength: 5 },
        'c.d': { type: 'integer' },
        namespace: { type: 'string', maxLength: 5 },
        __x__: { type: 'string', maxLength: 5 },
        é: { type: 'string' },
        nullable: { type: 'string', nullable: true, maxLength: 4 },
      },
    },
    pu: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'string', maxLength: 3 } } },
    pu2: { 'x-kubernetes-preserve-unknown-fields': true },
    emb: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    missing: { type: 'string', maxLength: 3 },
    empty: { type: 'string', maxLength: 0 },
    oo: {
      type: 'object',
      maxProperties: 5,
      additionalProperties: { type: 'array', maxItems: 5, items: { type: 'object', properties: { x: { type: 'integer' } } } },
    },
  },
}

export const object: JsonObject = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'thing', labels: { a: 'b' } },
  spec: {
    i: 5,
    j: 7,
    n: 2.5,
    b: true,
    s: 'héllo👑',
    t: 'World',
    e: 'a',
    dt: '2024-02-29T12:34:56.789+02:00',
    d: '2024-02-29',
    dur: '1h2m3.5s',
    by: 'aGVsbG8=',
    ios: 80,
    ios2: '50%',
    l: ['a', 'b', 'c'],
    li: [3, 1, 2],
    ln: [1.5, 2],
    set: ['x', 'y'],
    set2: ['y', 'x', 'z'],
    ml: [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ],
    ml2: [{ k: 'b', v: 3 }, { k: 'c' }],
    m: { a: 'x', b: 'y' },
    mi: { one: 1, two: 2 },
    o: { 'a-b': 'ab', 'c.d': 4, namespace: 'ns', __x__: 'u', é: 'e', nullable: null },
    pu: { known: 'k', more: 1 },
    pu2: { a: 1 },
    emb: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: {} },
    empty: '',
    oo: { a: [{ x: 1 }, { x: 2 }] },
  },
}

export function schemaWith(rules: ValidationRule[]): StructuralSchema {
  return { type: 'object', 'x-kubernetes-validations': rules, properties: { spec } }
}
