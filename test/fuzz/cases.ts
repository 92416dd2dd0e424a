/** Named cases for which the embedded API server or `proreus validate` once returned another result than the real API server. */
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'

export interface NamedCase {
  readonly schema: StructuralSchema
  /** The metadata of the object. Default: metadata that contains only the name `a`. */
  readonly metadata?: JsonObject
  readonly spec?: unknown
  /** The spec of the stored object, if the case is an update. The stored object was created when the schema allowed every object. */
  readonly old?: unknown
}

const text: StructuralSchema = { type: 'string' }
const short: StructuralSchema = { type: 'string', maxLength: 2 }
const free: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true }
const resource: StructuralSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, ...free }
const pod = { apiVersion: 'v1', kind: 'Pod' }
const owner = { apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }
function fields(properties: Record<string, StructuralSchema>, more: StructuralSchema = {}): StructuralSchema {
  return { type: 'object', properties, ...more }
}
function listMap(value: StructuralSchema): StructuralSchema {
  return {
    type: 'array',
    items: fields({ key: text, value }, { required: ['key'] }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['key'],
  }
}

export const namedCases: Readonly<Record<string, NamedCase>> = {
  'a label key of three parts': { schema: free, metadata: { name: 'a', labels: { 'a/b/c': '' } } },
  'owners are told without their index': { schema: free, metadata: { name: 'a', ownerReferences: [{}] } },
  'two owners that control': {
    schema: free,
    metadata: {
      name: 'a',
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, uid: 'v', controller: true },
      ],
    },
  },
  'an Event as an owner': { schema: free, metadata: { name: 'a', ownerReferences: [{ ...owner, kind: 'Event' }] } },
  'two ways of deletion': { schema: free, metadata: { name: 'a', finalizers: ['foregroundDeletion', 'orphan'] } },
  'a prefix that is a hyphen': { schema: free, metadata: { name: 'a', generateName: '-' } },
  'metadata that cannot be read, in the order of the keys': {
    schema: free,
    metadata: { name: 'a', selfLink: 1, annotations: { a: true } },
  },
  'a time that is a number': { schema: free, metadata: { name: 'a', deletionTimestamp: 3 } },
  'a uid that is a number': { schema: free, metadata: { name: 'a', uid: 3 } },
  'empty metadata': { schema: free, metadata: { name: 'a', labels: { a: null }, annotations: {}, finalizers: null, generateName: '' } },
  'an embedded kind that is no text': { schema: resource, spec: { ...pod, kind: 5 } },
  'an embedded kind that is too long': { schema: resource, spec: { ...pod, kind: 'x'.repeat(70) } },
  'an embedded kind that is null and named': { schema: { ...resource, properties: { kind: text } }, spec: { ...pod, kind: null } },
  'embedded metadata that is null': { schema: resource, spec: { ...pod, metadata: null } },
  'embedded metadata that cannot be read': { schema: resource, spec: { ...pod, metadata: { labels: { a: 5 } } } },
  'embedded metadata that is not known': {
    schema: { type: 'object', additionalProperties: resource },
    spec: { a: { ...pod, metadata: { name: 'a', other: 1 } } },
  },
  'an embedded resource in a field without a name': { schema: fields({ '': resource }), spec: { '': {} } },
  'characters that are not printed': { schema: { ...text, pattern: '^$' }, spec: '"\\\n\u0000\u007f\u0085\u00a0\u2028\ufeff\u{e0001}é👍' },
  'characters that are not printed, in a list': { schema: { type: 'array', items: text, enum: [[]] }, spec: ['<&>\u2028\u0001'] },
  'int-or-string with a format': { schema: { 'x-kubernetes-int-or-string': true, format: 'ipv4' }, spec: 'x' },
  'a quantity is no format': { schema: { type: 'object', not: { format: 'quantity' } }, spec: {} },
  'a bound beyond 64 bits': { schema: { type: 'number', maximum: 1e21 }, spec: 1 },
  'a multiple of nothing': { schema: { type: 'integer', multipleOf: 0 }, spec: 4 },
  'a multiple of less than nothing': { schema: { type: 'number', multipleOf: -1 }, spec: 1.5 },
  'a length below zero': { schema: { type: 'array', items: text, maxItems: -1 }, spec: [] },
  'no fields at all': { schema: { type: 'object', additionalProperties: false }, spec: { a: 1 } },

  'an update leaves what is wrong as it was': { schema: fields({ a: short, b: short }), old: { a: 'long' }, spec: { a: 'long', b: 'ok' } },
  'an update changes what is wrong': { schema: fields({ a: short }), old: { a: 'long' }, spec: { a: 'longer' } },
  'an update moves what is wrong': { schema: fields({ a: short, b: short }), old: { a: 'long' }, spec: { b: 'long' } },
  'an update leaves a wrong item of a map': {
    schema: listMap(short),
    old: [{ key: 'a', value: 'long' }],
    spec: [
      { key: 'b', value: 'ok' },
      { key: 'a', value: 'long' },
    ],
  },
  'an update leaves a wrong item of a list': { schema: { type: 'array', items: short }, old: ['long'], spec: ['long', 'ok'] },
  'an update leaves a whole list': {
    schema: fields({ a: { type: 'array', items: short }, b: text }),
    old: { a: ['long'] },
    spec: { a: ['long'], b: 'x' },
  },
  'an update sorts a map': {
    schema: { ...listMap(text), maxItems: 1 },
    old: [{ key: 'a' }, { key: 'b' }],
    spec: [{ key: 'b' }, { key: 'a' }],
  },
  'an update leaves a wrong object as it was': { schema: fields({ a: text }, { required: ['b'] }), old: { a: 'x' }, spec: { a: 'x' } },
  'what is not named is never as it was': { schema: fields({ a: text }, { required: ['b'], ...free }), old: { c: 'x' }, spec: { c: 'x' } },
  'a branch is not as it was where its object is not': {
    schema: fields({ a: text, b: text }, { anyOf: [{ properties: { a: { maxLength: 2 } } }] }),
    old: { a: 'long' },
    spec: { a: 'long', b: 'x' },
  },
  'an update leaves a duplicate': {
    schema: fields({ a: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }, b: text }),
    old: { a: ['x', 'x'] },
    spec: { a: ['x', 'x'], b: 'x' },
  },
  'an update leaves a wrong embedded resource': { schema: resource, old: { kind: 'Pod' }, spec: { kind: 'Pod' } },
  'what the schema no longer names is gone before it is compared': { schema: text, old: { a: 1 }, spec: {} },
  'an update does not judge names': { schema: free, old: {}, spec: {}, metadata: { generateName: 'N' } },
}
