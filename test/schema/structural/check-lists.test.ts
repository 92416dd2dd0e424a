import t from 'tap'
import { specSchemaErrors } from '../../support/structural-errors.ts'

const text = { type: 'string' }
const free = { 'x-kubernetes-preserve-unknown-fields': true }
const item = { type: 'object', required: ['a'], properties: { a: text, b: text } }
const keysOf = (...keys: string[]): object => ({ 'x-kubernetes-list-map-keys': keys })
const set = { type: 'array', 'x-kubernetes-list-type': 'set' }
const map = { type: 'array', 'x-kubernetes-list-type': 'map' }
const byA = { ...map, ...keysOf('a') }

type Case = readonly [name: string, schema: object, errors: readonly string[]]

function table(cases: readonly Case[]): (t: { strictSame: (found: unknown, wanted: unknown, name: string) => unknown }) => Promise<void> {
  return async (t) => {
    for (const [name, schema, errors] of cases) t.strictSame(specSchemaErrors(schema), [...errors].sort(), name)
  }
}

t.test(
  'a list map needs object items and keys that are required or have a default',
  table([
    [
      'no items',
      byA,
      ['items: Required value: must be specified', 'items: Required value: must have a schema if x-kubernetes-list-type is map'],
    ],
    [
      'neither keys nor items',
      map,
      [
        'items: Required value: must be specified',
        'items: Required value: must have a schema if x-kubernetes-list-type is map',
        'x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
      ],
    ],
    [
      'items that are lists',
      { ...byA, items: { type: 'array', items: text } },
      [`items.type: Invalid value: "array": must be object if parent array's x-kubernetes-list-type is map`],
    ],
    [
      'items of any type',
      { ...byA, items: free },
      [`items.type: Invalid value: "": must be object if parent array's x-kubernetes-list-type is map`],
    ],
    [
      'a key twice',
      { ...map, items: item, ...keysOf('a', 'a') },
      ['x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries'],
    ],
    [
      'keys that no item has',
      { ...map, items: item, ...keysOf('a', 'c', 'constructor') },
      ['x-kubernetes-list-map-keys: Invalid value: ["a","c","constructor"]: entries must all be names of item properties'],
    ],
    [
      'a key that is a list, and one that is an object',
      {
        ...map,
        items: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'array', items: text }, b: { type: 'object' } } },
        ...keysOf('a', 'b'),
      },
      [
        `items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
        `items.properties[b].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
      ],
    ],
    ['a key with a default', { ...byA, items: { type: 'object', properties: { a: { ...text, default: 'x' } } } }, []],
    [
      'a key with a default of null',
      { ...byA, items: { type: 'object', properties: { a: { ...text, default: null } } } },
      [
        'items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ],
    ],
    [
      'a key that may be null, and need not be there',
      { ...byA, items: { type: 'object', properties: { a: { ...text, nullable: true } } } },
      [
        'items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      ],
    ],
    [
      'items that may be null',
      { ...byA, items: { ...item, nullable: true } },
      ['items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map'],
    ],
  ]),
)

t.test(
  'a set needs scalar or atomic items',
  table([
    ['texts', { ...set, items: text }, []],
    ['no items', set, ['items: Required value: must be specified']],
    ['lists', { ...set, items: { type: 'array', items: text } }, []],
    ['lists of one piece', { ...set, items: { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' } }, []],
    [
      'sets',
      { ...set, items: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } },
      ['items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set'],
    ],
    ['objects of one piece', { ...set, items: { type: 'object', 'x-kubernetes-map-type': 'atomic' } }, []],
    [
      'objects of many',
      { ...set, items: { type: 'object', 'x-kubernetes-map-type': 'granular' } },
      ['items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set'],
    ],
    [
      'a set within a map',
      { ...byA, items: { ...item, properties: { ...item.properties, c: { ...set, items: { type: 'object' } } } } },
      [
        'items.properties[c].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
      ],
    ],
  ]),
)

t.test(
  'list types and map types must match the type of the schema',
  table([
    [
      'no list type',
      { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': null, 'x-kubernetes-list-map-keys': [] },
      [],
    ],
    ['a list of one piece', { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'atomic' }, []],
    [
      'keys of a set',
      { ...set, items: text, ...keysOf('a') },
      ['x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty'],
    ],
    [
      'a list type without a type',
      { ...free, 'x-kubernetes-list-type': 'atomic' },
      ['type: Required value: must be array if x-kubernetes-list-type is specified'],
    ],
    [
      'a list type of an object',
      { ...map, type: 'object', ...keysOf('a'), items: item },
      ['type: Invalid value: "object": must be array if x-kubernetes-list-type is specified'],
    ],
    ['a map type', { type: 'object', 'x-kubernetes-map-type': 'granular' }, []],
    ['no map type', { ...text, 'x-kubernetes-map-type': null }, []],
    [
      'a map type of a text',
      { ...text, 'x-kubernetes-map-type': 'atomic' },
      ['type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
    ],
    [
      'a map type without a type',
      { ...free, 'x-kubernetes-map-type': 'atomic' },
      ['type: Required value: must be object if x-kubernetes-map-type is specified'],
    ],
    [
      'a map type that there is not',
      { type: 'object', 'x-kubernetes-map-type': 'set' },
      ['x-kubernetes-map-type: Unsupported value: "set": supported values: "atomic", "granular"'],
    ],
  ]),
)
