import t, { type Test } from 'tap'
import { formatFieldError, type FieldErrorReason } from '../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { holdsBigint } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { explain } from '../../src/schema/explain-errors.ts'
import { buildRootNode } from '../../src/schema/node.ts'
import { compileCheck } from '../../src/schema/to-ajv.ts'

type Expected = readonly [path: string, reason: FieldErrorReason, message: string]
type Case = readonly [name: string, schema: StructuralSchema, value: JsonValue, errors: readonly Expected[]]

function errorsOf(schema: StructuralSchema, value: JsonValue): Expected[] {
  const compiled = compileSchema({ type: 'object', properties: { spec: schema } })
  return compiled.validate({ spec: value }).map(({ path, reason, message }) => [path, reason, message] as const)
}

function table(t: Test, cases: readonly Case[]): void {
  for (const [name, schema, value, errors] of cases) {
    t.strictSame(errorsOf(schema, value).sort(), [...errors].sort(), name)
    // If the test expects errors, ajv must reject the value. If the test expects no errors, ajv must accept the value. A value that
    // contains a bigint and for which the test expects no errors is not passed to ajv, because ajv rejects every bigint.
    const root = buildRootNode({ type: 'object', properties: { spec: schema } })
    if (errors.length > 0 || !holdsBigint(value)) t.equal(compileCheck(root)({ spec: value }), errors.length === 0, `${name}, for ajv`)
    if (errors.length === 0) t.strictSame(explain(root, { spec: value }), { errors: [], lists: [], resources: [] }, name)
  }
}

const text = { type: 'string' } as const
const count = { type: 'integer' } as const
const free = { 'x-kubernetes-preserve-unknown-fields': true } as const
const none: readonly Expected[] = []
const noField = '<nil>'

t.test('a wrong type is reported with both types', async (t) => {
  const wrong = (actual: string, expected: string): Expected[] => [
    ['spec', 'FieldValueTypeInvalid', `Invalid value: "${actual}": spec in body must be of type ${expected}: "${actual}"`],
  ]
  table(t, [
    ['integer for string', text, 5, wrong('integer', 'string')],
    ['number for string', text, 1.5, wrong('number', 'string')],
    ['boolean for string', text, true, wrong('boolean', 'string')],
    ['object for string', text, {}, wrong('object', 'string')],
    ['array for string', text, [], wrong('array', 'string')],
    ['null for string', text, null, wrong('null', 'string')],
    ['null for nullable', { ...text, nullable: true }, null, none],
    ['string for integer', count, '5', wrong('string', 'integer')],
    ['an integral float is an integer', count, 1e3, none],
    ['an integer is a number', { type: 'number' }, 5, none],
    ['string for boolean', { type: 'boolean' }, 'true', wrong('string', 'boolean')],
    ['array for object', { type: 'object' }, [], wrong('array', 'object')],
    ['object for array', { type: 'array', items: text }, {}, wrong('object', 'array')],
    ['integer for int-or-string', { 'x-kubernetes-int-or-string': true }, 80, none],
    ['string for int-or-string', { 'x-kubernetes-int-or-string': true }, '80%', none],
    ['boolean for int-or-string', { 'x-kubernetes-int-or-string': true }, true, wrong('boolean', 'integer,string')],
    ['number for int-or-string', { 'x-kubernetes-int-or-string': true }, 0.5, wrong('number', 'integer,string')],
    ['anything where no type is asked', { 'x-kubernetes-preserve-unknown-fields': true }, null, none],
  ])
})

t.test('a wrong type of a value with a format is reported with the format', async (t) => {
  const wrong = (actual: string, expected: string): Expected[] => [
    ['spec', 'FieldValueTypeInvalid', `Invalid value: "${actual}": spec in body must be of type ${expected}: "${actual}"`],
  ]
  const date: StructuralSchema = { type: 'string', format: 'date' }
  table(t, [
    ['integer for date', date, 5, wrong('int64', 'date')],
    ['number for date', date, 1.5, wrong('float64', 'date')],
    ['boolean for date', date, true, wrong('', 'date')],
    ['array for date', date, [], wrong('array', 'string')],
    ['null for date', date, null, wrong('null', 'string')],
    ['string for int32', { type: 'integer', format: 'int32' }, 'x', wrong('string', 'integer')],
    ['object for int32', { type: 'integer', format: 'int32' }, {}, wrong('', 'int32')],
    ['a format without a type', { ...free, format: 'ipv4' }, '1.2.3.4', none],
    ['a list for a format without a type', { ...free, format: 'ipv4' }, [1], none],
    ['null for a format without a type', { ...free, format: 'ipv4' }, null, none],
    ['integer for a format without a type', { ...free, format: 'ipv4' }, 5, wrong('int64', 'ipv4')],
    ['object for a format without a type', { ...free, format: 'ipv4' }, {}, wrong('', 'ipv4')],
    ['number for int64', { type: 'integer', format: 'int64' }, true, wrong('', 'int64')],
    ['array for int32', { type: 'integer', format: 'int32' }, [], wrong('array', 'integer')],
    [
      'a format of numbers for an int-or-string',
      { 'x-kubernetes-int-or-string': true, format: 'int32' },
      true,
      wrong('boolean', 'integer,string'),
    ],
    ['a format of texts for an int-or-string', { 'x-kubernetes-int-or-string': true, format: 'ipv4' }, true, wrong('', 'ipv4')],
    ['an unknown format is ignored', { type: 'string', format: 'no-such' }, 5, wrong('integer', 'string')],
  ])
})

t.test('violated string validations are reported', async (t) => {
  table(t, [
    ['maxLength', { ...text, maxLength: 2 }, 'abc', [['spec', 'FieldValueTooLong', 'Too long: may not be more than 2 bytes']]],
    ['maxLength 1', { ...text, maxLength: 1 }, 'abc', [['spec', 'FieldValueTooLong', 'Too long: may not be more than 1 byte']]],
    ['no longer than maxLength', { ...text, maxLength: 3 }, 'abc', none],
    ['no shorter than minLength', { ...text, minLength: 3 }, 'abc', none],
    [
      'no text at all',
      { ...text, minLength: 1 },
      '',
      [['spec', 'FieldValueInvalid', 'Invalid value: "": spec in body should be at least 1 chars long']],
    ],
    [
      'one code point is not two',
      { ...text, minLength: 2 },
      '👍',
      [['spec', 'FieldValueInvalid', 'Invalid value: "👍": spec in body should be at least 2 chars long']],
    ],
    [
      'three code points are too many',
      { ...text, maxLength: 2 },
      '👍👍👍',
      [['spec', 'FieldValueTooLong', 'Too long: may not be more than 2 bytes']],
    ],
    ['an empty pattern is none', { ...text, pattern: '' }, 'x', none],
    [
      'minLength before pattern',
      { ...text, minLength: 5, pattern: 'z' },
      'ab',
      [['spec', 'FieldValueInvalid', 'Invalid value: "ab": spec in body should be at least 5 chars long']],
    ],
    [
      'three restrictions, of which one alone fails',
      { ...text, minLength: 1, maxLength: 9, pattern: '^a', format: 'ipv4' },
      'ab',
      [['spec', 'FieldValueTypeInvalid', 'Invalid value: "ab": spec in body must be of type ipv4: "ab"']],
    ],
    ['lengths count code points', { ...text, maxLength: 2, minLength: 2 }, '👍👍', none],
    [
      'minLength',
      { ...text, minLength: 3 },
      'a',
      [['spec', 'FieldValueInvalid', 'Invalid value: "a": spec in body should be at least 3 chars long']],
    ],
    [
      'pattern',
      { ...text, pattern: '^b' },
      'a"',
      [['spec', 'FieldValueInvalid', String.raw`Invalid value: "a\"": spec in body should match '^b'`]],
    ],
    ['pattern of RE2', { ...text, pattern: '(?i)^B' }, 'ba', none],
    ['pattern anywhere', { ...text, pattern: 'b' }, 'abc', none],
    [
      'the first of maxLength, minLength and pattern',
      { ...text, maxLength: 1, minLength: 5, pattern: 'z' },
      'ab',
      [['spec', 'FieldValueTooLong', 'Too long: may not be more than 1 byte']],
    ],
    [
      'format',
      { ...text, format: 'date-time' },
      'soon',
      [['spec', 'FieldValueTypeInvalid', 'Invalid value: "soon": spec in body must be of type date-time: "soon"']],
    ],
    [
      'format beside length',
      { ...text, format: 'ipv4', minLength: 3 },
      'a',
      [
        ['spec', 'FieldValueInvalid', 'Invalid value: "a": spec in body should be at least 3 chars long'],
        ['spec', 'FieldValueTypeInvalid', 'Invalid value: "a": spec in body must be of type ipv4: "a"'],
      ],
    ],
  ])
})

t.test('values outside of an enum are reported', async (t) => {
  const supported = (value: string, list: string): Expected[] => [
    ['spec', 'FieldValueNotSupported', `Unsupported value: ${value}: supported values: ${list}`],
  ]
  table(t, [
    ['strings', { ...text, enum: ['a', 'b'] }, 'c', supported('"c"', '"a", "b"')],
    ['numbers are quoted, too', { ...count, enum: [1, 2] }, 3, supported('3', '"1", "2"')],
    [
      'objects, fields in any order',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, enum: [{ a: 1, b: 2 }] },
      { b: 2, a: 1 },
      none,
    ],
    ['null is never supported', { ...text, nullable: true, enum: ['a', null] }, null, supported('null', '"a", "null"')],
    ['nothing but null', { ...text, nullable: true, enum: [null] }, 'a', supported('"a"', '"null"')],
    [
      'values that are no texts',
      { ...free, enum: [{ a: 1 }, [2], true, null] },
      5,
      supported('5', String.raw`"{\"a\":1}", "[2]", "true", "null"`),
    ],
    ['a list', { ...free, enum: [[1, 2]] }, [1, 2], none],
    ['nothing at all means no enum', { ...text, enum: [] }, 'a', none],
  ])
})

t.test('violated number validations are reported', async (t) => {
  const wrong = (value: string, detail: string): Expected[] => [
    ['spec', 'FieldValueInvalid', `Invalid value: ${value}: spec in body should be ${detail}`],
  ]
  const notPositive = (factor: string): Expected[] => [
    ['spec', 'FieldValueInvalid', `Invalid value: ${factor}: factor MultipleOf declared for spec must be positive: ${factor}`],
  ]
  const outOfRange = (format: string, what = 'Checked', type = 'integer'): Expected => [
    noField,
    'FieldValueInvalid',
    `Invalid value: "": ${what} value must be of type ${type} ${format} in spec`,
  ]
  table(t, [
    ['maximum', { ...count, maximum: 3 }, 4, wrong('4', 'less than or equal to 3')],
    [
      'maximum without a type, for an integer beyond 2^53',
      { ...free, maximum: 5 },
      9007199254740993n,
      wrong('9007199254740993', 'less than or equal to 5'),
    ],
    ['exclusive maximum', { ...count, maximum: 3, exclusiveMaximum: true }, 3, wrong('3', 'less than 3')],
    ['minimum', { ...count, minimum: 3 }, 2, wrong('2', 'greater than or equal to 3')],
    ['exclusive minimum', { ...count, minimum: 3, exclusiveMinimum: true }, 3, wrong('3', 'greater than 3')],
    ['exclusive bounds without bounds', { ...count, exclusiveMinimum: true, exclusiveMaximum: true }, 3, none],
    ['multiple', { ...count, multipleOf: 3 }, 4, wrong('4', 'a multiple of 3')],
    ['multiple of a fraction', { type: 'number', multipleOf: 0.1 }, 0.3, none],
    ['no multiple of a fraction', { type: 'number', multipleOf: 0.5 }, 0.75, wrong('0.75', 'a multiple of 0.5')],
    [
      'a factor below 1 is nothing for an integer',
      { type: 'number', multipleOf: 0.5 },
      3,
      [['spec', 'FieldValueInvalid', 'Invalid value: 0: factor MultipleOf declared for spec must be positive: 0']],
    ],
    ['an integer is compared with the truncated bound', { type: 'number', minimum: 0.5 }, 0, none],
    ['a float is not', { type: 'number', minimum: 0.5 }, 0.25, wrong('0.25', 'greater than or equal to 0.5')],
    [
      'large floats have exponents',
      { type: 'number', maximum: 2 ** 21 },
      2097152.5,
      wrong('2.0971525e+06', 'less than or equal to 2.097152e+06'),
    ],
    ['int32 overflow', { ...count, format: 'int32' }, 2 ** 31, [outOfRange('with format int32')]],
    ['int32 underflow', { ...count, format: 'int32' }, -(2 ** 31) - 1, [outOfRange('with format int32')]],
    ['int32 limits', { ...count, format: 'int32' }, 2 ** 31 - 1, none],
    [
      'no integer at all',
      count,
      1.5,
      [
        ['spec', 'FieldValueTypeInvalid', 'Invalid value: "number": spec in body must be of type integer: "number"'],
        outOfRange('(default format)'),
      ],
    ],
    ...[2 ** 63, -(2 ** 63)].map((value): Case => [
      `the float ${value}`,
      count,
      value,
      [
        ['spec', 'FieldValueTypeInvalid', 'Invalid value: "number": spec in body must be of type integer: "number"'],
        outOfRange('(default format)'),
      ],
    ]),
    [
      'beyond 64 bits',
      { ...count, format: 'int64' },
      1e19,
      [
        ['spec', 'FieldValueTypeInvalid', 'Invalid value: "float64": spec in body must be of type int64: "float64"'],
        outOfRange('with format int64'),
      ],
    ],
    ['float overflow', { type: 'number', format: 'float' }, 1e39, [outOfRange('with format float', 'Checked', 'number')]],
    ['a bound that does not fit the type', { ...count, maximum: 2.5 }, 1, [outOfRange('(default format)', 'Maximum boundary')]],
    ['the maximum itself', { ...count, maximum: 3 }, 3, none],
    ['the minimum itself', { ...count, minimum: 3 }, 3, none],
    ['a float below an exclusive maximum', { type: 'number', maximum: 3, exclusiveMaximum: true }, 2.5, none],
    ['a float above an exclusive minimum', { type: 'number', minimum: 3, exclusiveMinimum: true }, 3.5, none],
    [
      'everything that is wrong with a number',
      { ...count, minimum: 5, maximum: 3, multipleOf: 3 },
      4,
      [...wrong('4', 'a multiple of 3'), ...wrong('4', 'greater than or equal to 5'), ...wrong('4', 'less than or equal to 3')],
    ],
    ['a factor of nothing, for a float', { type: 'number', multipleOf: 0 }, 1.5, notPositive('0')],
    ['a negative factor', { ...count, multipleOf: -2 }, 4, notPositive('-2')],
    ['a negative fraction, for a float', { type: 'number', multipleOf: -0.5 }, 1.5, notPositive('-0.5')],
    ['a large float is a multiple', { type: 'number', multipleOf: 0.001 }, 1e-3, none],
    ['nearly a multiple', { type: 'number', multipleOf: 0.01 }, 1.0000000001, none],
    ['nearly a multiple of 1', { type: 'number', multipleOf: 1 }, 1000000.0015, none],
    ['not nearly a multiple of 1', { type: 'number', multipleOf: 1 }, 1000000.0025, wrong('1.0000000025e+06', 'a multiple of 1')],
    ['not nearly', { type: 'number', multipleOf: 0.01 }, 1.00001, wrong('1.00001', 'a multiple of 0.01')],
    ['nearly, but from below', { type: 'number', multipleOf: 1.5 }, 2.9999999999, wrong('2.9999999999', 'a multiple of 1.5')],
    ['nearly, but negative', { type: 'number', multipleOf: 0.01 }, -1.0000000001, wrong('-1.0000000001', 'a multiple of 0.01')],
    ['a quotient of 2^53 - 1', { type: 'number', multipleOf: 0.5 }, 2 ** 52 - 0.5, none],
    [
      'a quotient of more than 2^53 - 1',
      { type: 'number', multipleOf: 0.25 },
      2 ** 51 + 0.5,
      wrong('2.2517998136852485e+15', 'a multiple of 0.25'),
    ],
    ['a multiple of more than 1', { type: 'number', multipleOf: 2.5 }, 7.5, none],
    ['of so much that nobody can tell', { type: 'number', multipleOf: 1e-10 }, 1e6 + 0.5, wrong('1.0000005e+06', 'a multiple of 1e-10')],
    ['a float of six digits', { type: 'number', maximum: 1 }, 999999.5, wrong('999999.5', 'less than or equal to 1')],
    ['a small float', { type: 'number', minimum: 1 }, 0.0001, wrong('0.0001', 'greater than or equal to 1')],
    ['a smaller one has an exponent', { type: 'number', minimum: 1 }, 0.000025, wrong('2.5e-05', 'greater than or equal to 1')],
    ['one with a long exponent', { type: 'number', minimum: 1 }, 1e-100, wrong('1e-100', 'greater than or equal to 1')],
    ['the least int32', { ...count, format: 'int32' }, -(2 ** 31), none],
    ['a float of 64 bits', { type: 'number', format: 'double' }, 1e300, none],
    ['the greatest float', { type: 'number', format: 'float' }, 3.4028234e38, none],
    [
      'what rounds to no float',
      { type: 'number', format: 'float' },
      2 ** 128 - 2 ** 103,
      [outOfRange('with format float', 'Checked', 'number')],
    ],
    ['what just does not', { type: 'number', format: 'float' }, -(2 ** 128 - 2 ** 104), none],
    ['a format of another type', { type: 'number', format: 'int32' }, 2 ** 40, none],
    ['another one', { ...count, format: 'float' }, 2 ** 40, none],
    [
      'bounds that do not fit the type',
      { ...count, format: 'int32', minimum: 2 ** 31, multipleOf: 2 ** 31 },
      0,
      [
        outOfRange('with format int32', 'Minimum boundary'),
        outOfRange('with format int32', 'MultipleOf'),
        ...wrong('0', 'greater than or equal to 2.147483648e+09'),
      ],
    ],
    ['integers of 19 digits have them all', { ...count, maximum: 1 }, 2 ** 60, wrong('1152921504606846976', 'less than or equal to 1')],
    ['bounds hold for strings alone of int-or-string', { 'x-kubernetes-int-or-string': true, maximum: 3 }, '9', none],
    ['bounds of int-or-string', { 'x-kubernetes-int-or-string': true, maximum: 3 }, 9, wrong('9', 'less than or equal to 3')],
  ])
})

t.test('violated list validations are reported', async (t) => {
  const list = { type: 'array', items: text } as const
  const map: StructuralSchema = {
    type: 'array',
    items: { type: 'object', required: ['a'], properties: { a: text, b: { ...text, default: 'x' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
  }
  table(t, [
    [
      'items',
      list,
      ['a', 5],
      [['spec[1]', 'FieldValueTypeInvalid', 'Invalid value: "integer": spec[1] in body must be of type string: "integer"']],
    ],
    ['maxItems', { ...list, maxItems: 2 }, ['a', 'b', 'c'], [['spec', 'FieldValueTooMany', 'Too many: 3: must have at most 2 items']]],
    ['as many as maxItems', { ...list, maxItems: 2 }, ['a', 'b'], none],
    ['as many as minItems', { ...list, minItems: 2 }, ['a', 'b'], none],
    [
      'several items',
      list,
      [5, 'a', true],
      [
        ['spec[0]', 'FieldValueTypeInvalid', 'Invalid value: "integer": spec[0] in body must be of type string: "integer"'],
        ['spec[2]', 'FieldValueTypeInvalid', 'Invalid value: "boolean": spec[2] in body must be of type string: "boolean"'],
      ],
    ],
    ['maxItems 1', { ...list, maxItems: 1 }, ['a', 'b'], [['spec', 'FieldValueTooMany', 'Too many: 2: must have at most 1 item']]],
    [
      'minItems',
      { ...list, minItems: 2 },
      ['a'],
      [['spec', 'FieldValueInvalid', 'Invalid value: 1: spec in body should have at least 2 items']],
    ],
    [
      'set',
      { ...list, 'x-kubernetes-list-type': 'set' },
      ['a', 'b', 'a', 'a'],
      [['spec[2]', 'FieldValueDuplicate', 'Duplicate value: "a"']],
    ],
    ['map', map, [{ a: 'x' }, { a: 'y' }, { a: 'x', b: 'z' }], [['spec[2]', 'FieldValueDuplicate', 'Duplicate value: {"a":"x"}']]],
  ])
})

t.test('a field that a program left undefined is absent', async (t) => {
  const schema: StructuralSchema = { type: 'object', properties: { a: text, b: count } }
  t.strictSame(
    errorsOf(schema, { a: undefined, b: 'x' }).map(([path]) => path),
    ['spec.b'],
  )
})

t.test('violated object validations are reported', async (t) => {
  const object: StructuralSchema = { type: 'object', properties: { a: text, b: count } }
  const map: StructuralSchema = { type: 'object', additionalProperties: text }
  table(t, [
    ['required', { ...object, required: ['a'] }, {}, [['spec.a', 'FieldValueRequired', 'Required value']]],
    [
      'an empty string or null in a required field',
      { ...object, required: ['a', 'b'], properties: { a: text, b: { ...text, nullable: true } } },
      { a: '', b: null },
      none,
    ],
    [
      'required is not inherited',
      { ...object, required: ['constructor', '__proto__'] },
      { a: 'x' },
      [
        ['spec.constructor', 'FieldValueRequired', 'Required value'],
        ['spec.__proto__', 'FieldValueRequired', 'Required value'],
      ],
    ],
    ['unknown fields do no harm', object, { c: 1 }, none],
    [
      'maxProperties',
      { ...map, maxProperties: 1 },
      { a: 'x', b: 'y' },
      [['spec', 'FieldValueTooMany', 'Too many: 2: must have at most 1 item']],
    ],
    [
      'minProperties',
      { ...map, minProperties: 2 },
      { a: 'x' },
      [['spec', 'FieldValueInvalid', 'Invalid value: 1: spec in body should have at least 2 properties']],
    ],
    ['as many as maxProperties', { ...map, maxProperties: 2 }, { a: 'x', b: 'y' }, none],
    ['as many as minProperties', { ...map, minProperties: 2 }, { a: 'x', b: 'y' }, none],
    ['no fields where none may be', { type: 'object', additionalProperties: false }, {}, none],
    [
      'a field where none may be',
      { type: 'object', additionalProperties: false },
      { a: 1 },
      [['spec', 'FieldValueInvalid', 'Invalid value: "a": spec.a in body is a forbidden property']],
    ],
    [
      'a field without a name',
      { type: 'object', required: [''], properties: { '': { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } } },
      { '': ['a', 'a'] },
      [['spec[][1]', 'FieldValueDuplicate', 'Duplicate value: "a"']],
    ],
    ['no field without a name', { ...object, required: [''] }, { a: 'x' }, [['spec.', 'FieldValueRequired', 'Required value']]],
    [
      'an embedded resource among the values of a map',
      { type: 'object', additionalProperties: { type: 'object', 'x-kubernetes-embedded-resource': true, ...free } },
      { k: { kind: 'Pod' } },
      [['spec[k].apiVersion', 'FieldValueRequired', 'Required value']],
    ],
    [
      'map values',
      map,
      { 'x.y/z': 5 },
      [['spec.x.y/z', 'FieldValueTypeInvalid', 'Invalid value: "integer": spec.x.y/z in body must be of type string: "integer"']],
    ],
    [
      'a map in brackets where lists are checked',
      { type: 'object', additionalProperties: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } },
      { k: ['a', 'a'] },
      [['spec[k][1]', 'FieldValueDuplicate', 'Duplicate value: "a"']],
    ],
  ])
})

t.test('a field named __proto__ is validated like others', async (t) => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}') as StructuralSchema
  table(t, [
    ['valid', schema, JSON.parse('{"__proto__":"x"}') as JsonValue, none],
    ['missing', schema, {}, [['spec.__proto__', 'FieldValueRequired', 'Required value']]],
    ['missing where it may be', { ...schema, required: [] }, {}, none],
    [
      'other inherited names',
      { type: 'object', properties: { constructor: text, toString: text } } as unknown as StructuralSchema,
      {},
      none,
    ],
    [
      'wrong',
      schema,
      JSON.parse('{"__proto__":5}') as JsonValue,
      [['spec.__proto__', 'FieldValueTypeInvalid', 'Invalid value: "integer": spec.__proto__ in body must be of type string: "integer"']],
    ],
    [
      'as the key of a map',
      { type: 'object', additionalProperties: text },
      JSON.parse('{"__proto__":5}') as JsonValue,
      [['spec.__proto__', 'FieldValueTypeInvalid', 'Invalid value: "integer": spec.__proto__ in body must be of type string: "integer"']],
    ],
  ])
})

t.test('a required field with an inherited name is missed in every place of a schema', async (t) => {
  const named: StructuralSchema = { required: ['constructor'] }
  const object: StructuralSchema = { type: 'object', ...free }
  const missing = (path: string): Expected => [path, 'FieldValueRequired', 'Required value']
  const branch = (detail: string): Expected => [noField, 'FieldValueInvalid', `Invalid value: "": "spec" ${detail}`]
  table(t, [
    ['itself', { ...object, ...named }, {}, [missing('spec.constructor')]],
    ['items', { type: 'array', items: { ...object, ...named } }, [{}], [missing('spec[0].constructor')]],
    ['fields', { type: 'object', properties: { a: { ...object, ...named } } }, { a: {} }, [missing('spec.a.constructor')]],
    ['map values', { type: 'object', additionalProperties: { ...object, ...named } }, { a: {} }, [missing('spec.a.constructor')]],
    [
      'allOf',
      { ...object, allOf: [named] },
      {},
      [branch('must validate all the schemas (allOf). None validated'), missing('spec.constructor')],
    ],
    ['anyOf', { ...object, anyOf: [named] }, {}, [branch('must validate at least one schema (anyOf)'), missing('spec.constructor')]],
    [
      'oneOf',
      { ...object, oneOf: [named] },
      {},
      [branch('must validate one and only one schema (oneOf). Found none valid'), missing('spec.constructor')],
    ],
    ['not', { ...object, not: named }, {}, none],
    ['the same with the field', { ...object, anyOf: [named] }, { constructor: 'x' } as unknown as JsonValue, none],
  ])
})

t.test('violated junctors are reported', async (t) => {
  const message = (detail: string): Expected => [noField, 'FieldValueInvalid', `Invalid value: "": "spec" ${detail}`]
  const notA: Expected = ['spec', 'FieldValueInvalid', `Invalid value: "x": spec in body should match '^a'`]
  const tooShort: Expected = ['spec', 'FieldValueInvalid', 'Invalid value: "x": spec in body should be at least 2 chars long']
  const a = { pattern: '^a' }
  const long = { minLength: 2 }
  table(t, [
    ['anyOf, one is enough', { ...text, anyOf: [a, long] }, 'xy', none],
    ['anyOf, none', { ...text, anyOf: [a, long] }, 'x', [message('must validate at least one schema (anyOf)'), notA]],
    ['oneOf, one', { ...text, oneOf: [a, long] }, 'xy', none],
    [
      'oneOf, none',
      { ...text, oneOf: [long, a] },
      'x',
      [message('must validate one and only one schema (oneOf). Found none valid'), tooShort],
    ],
    [
      'oneOf, two',
      { ...text, oneOf: [a, long] },
      'ab',
      [message('must validate one and only one schema (oneOf). Found 2 valid alternatives')],
    ],
    ['allOf, none', { ...text, allOf: [a, long] }, 'x', [message('must validate all the schemas (allOf). None validated'), notA, tooShort]],
    ['allOf, some', { ...text, allOf: [a, { minLength: 1 }] }, 'x', [message('must validate all the schemas (allOf)'), notA]],
    ['not', { ...text, not: a }, 'ab', [message('must not validate the schema (not)')]],
    ['null is not looked at', { ...text, nullable: true, not: {}, anyOf: [a] }, null, none],
    [
      'int-or-string in full',
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      true,
      [
        message('must validate at least one schema (anyOf)'),
        ['spec', 'FieldValueTypeInvalid', 'Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
        ['spec', 'FieldValueTypeInvalid', 'Invalid value: "boolean": spec in body must be of type integer: "boolean"'],
      ],
    ],
    [
      'the branch with the most in it that can be right, the first of several',
      { ...text, anyOf: [a, { anyOf: [{ pattern: '^y' }, { pattern: '^w' }] }, { anyOf: [{ pattern: '^v' }] }] },
      'x',
      // The outer and the nested anyOf have the same message. The message is reported once.
      [
        message('must validate at least one schema (anyOf)'),
        ['spec', 'FieldValueInvalid', `Invalid value: "x": spec in body should match '^y'`],
      ],
    ],
    ['not, and anyOf', { ...text, not: a, anyOf: [a] }, 'x', [message('must validate at least one schema (anyOf)'), notA]],
    ['allOf of what is valid', { ...text, allOf: [a, long] }, 'ab', none],
    [
      'oneOf, three',
      { ...text, oneOf: [a, {}, {}] },
      'ab',
      [message('must validate one and only one schema (oneOf). Found 3 valid alternatives')],
    ],
    [
      'the branch with the most that is right',
      {
        type: 'object',
        properties: { a: text, b: text },
        anyOf: [{ required: ['a'] }, { required: ['b'], properties: { a: { pattern: '^z' } } }],
      },
      {},
      [message('must validate at least one schema (anyOf)'), ['spec.a', 'FieldValueRequired', 'Required value']],
    ],
  ])
})

t.test('the branch whose values pass the most validators is reported, the first of equal ones', async (t) => {
  // `schema` is the schema of the field. `branch` is the schema of the same field in a branch of anyOf. A schema in a branch has no type.
  // `validators` is the number of kube-openapi's validators that accept the value in this branch (`Result.MatchCount`).
  const fields: Readonly<Record<string, { schema: StructuralSchema; branch: StructuralSchema; value: JsonValue; validators: number }>> = {
    nothing: { schema: { ...text, nullable: true }, branch: {}, value: null, validators: 1 },
    flag: { schema: { type: 'boolean' }, branch: {}, value: true, validators: 4 },
    text: { schema: text, branch: {}, value: 'a', validators: 5 },
    object: { schema: { type: 'object' }, branch: {}, value: {}, validators: 5 },
    number: { schema: count, branch: {}, value: 5, validators: 6 },
    list: { schema: { type: 'array', items: text }, branch: {}, value: [], validators: 6 },
    address: { schema: text, branch: { format: 'ipv4' }, value: '1.2.3.4', validators: 8 },
    items: { schema: { type: 'array', items: text }, branch: { items: {} }, value: ['a'], validators: 11 },
  }
  const names = Object.keys(fields)
  const properties = Object.fromEntries([...names.map((name) => [name, fields[name]!.schema]), ['p', text], ['q', text]])
  const value = Object.fromEntries(names.map((name) => [name, fields[name]!.value]))
  for (const first of names) {
    for (const second of names) {
      const branch = (name: string, missing: string): StructuralSchema => ({
        required: [missing],
        properties: { [name]: fields[name]!.branch },
      })
      const paths = errorsOf({ type: 'object', properties, anyOf: [branch(first, 'p'), branch(second, 'q')] }, value).map(([path]) => path)
      const reported = fields[second]!.validators > fields[first]!.validators ? 'spec.q' : 'spec.p'
      t.strictSame(paths, [noField, reported], `${first} or ${second}`)
    }
  }
})

t.test('errors are in the order of the values, then of the required fields', async (t) => {
  const closed: StructuralSchema = { type: 'object', additionalProperties: false }
  const schema: StructuralSchema = {
    type: 'object',
    required: ['z', 'y'],
    properties: { a: text, b: { type: 'array', items: count }, c: closed, y: text, z: text },
  }
  t.strictSame(
    errorsOf(schema, { b: ['x', 1, 'y'], c: { n: 1, m: 2 }, a: 5 }).map(([path, , message]) => `${path}: ${message}`),
    [
      'spec.b[0]: Invalid value: "string": spec.b[0] in body must be of type integer: "string"',
      'spec.b[2]: Invalid value: "string": spec.b[2] in body must be of type integer: "string"',
      'spec.c: Invalid value: "n": spec.c.n in body is a forbidden property',
      'spec.c: Invalid value: "m": spec.c.m in body is a forbidden property',
      'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"',
      'spec.z: Required value',
      'spec.y: Required value',
    ],
  )
})

t.test('every error is reported once', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    required: ['spec'],
    properties: {
      spec: { type: 'object', required: ['a'], properties: { a: text, b: { ...count, allOf: [{ minimum: 2 }], minimum: 2 } } },
    },
  })
  const errors = compiled.validate({ spec: { b: 1 } } as JsonObject)
  t.strictSame(errors.map(({ path }) => path).sort(), ['<nil>', 'spec.a', 'spec.b'])
  t.strictSame(
    compiled.validate({}).map(({ path, message }) => `${path}: ${message}`),
    ['spec: Required value'],
  )
})

t.test('an unchanged wrong type of the whole object is not tolerated', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: {
      apiVersion: { ...text, enum: ['v1'] },
      kind: { ...text, enum: ['A'] },
      spec: { type: 'object', properties: { kind: { ...text, enum: ['A'] }, a: text } },
    },
  })
  const old = { apiVersion: 'v2', kind: 'B', spec: { kind: 'B' } }
  const errors = ['apiVersion: Unsupported value: "v2": supported values: "v1"', 'kind: Unsupported value: "B": supported values: "A"']
  t.strictSame(compiled.validate({ ...old, spec: { kind: 'B', a: 'x' } }, old).map(formatFieldError), errors)
})

t.test('no further items and fields are validated after a thousand errors', async (t) => {
  const limit = 1000
  const list = Array.from({ length: limit + 1 }, (_, index) => index)
  const wrong = (schema: StructuralSchema, value: JsonValue): number => errorsOf(schema, value).length
  t.equal(wrong({ type: 'array', items: text }, list.slice(0, limit)), limit)
  t.equal(wrong({ type: 'array', items: text }, list), limit)
  const fields = Object.fromEntries(list.map((index) => [`f${index}`, index]))
  t.equal(wrong({ type: 'object', additionalProperties: text }, fields), limit)
  t.equal(wrong({ type: 'array', items: count, 'x-kubernetes-list-type': 'set' }, [...list, ...list]), limit)
})
