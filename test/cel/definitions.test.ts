/**
 * Tests of the errors for a CustomResourceDefinition with invalid rules, or with defaults that violate rules. The expected errors were
 * recorded from kube-apiserver 1.36.
 */
import t from 'tap'
import { formatFieldError } from '../../src/api/field-error.ts'
import type { StructuralSchema, ValidationRule } from '../../src/api/structural-schema.ts'
import { checkStructural } from '../../src/schema/structural/check-schema.ts'

const text: StructuralSchema = { type: 'string', maxLength: 20 }
const rules = (...list: (ValidationRule | string)[]): StructuralSchema => ({
  'x-kubernetes-validations': list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const withSpec = (spec: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { spec } })
const problemsOf = (spec: StructuralSchema): string[] => checkStructural(withSpec(spec)).map(formatFieldError)

const definitions: Record<string, [StructuralSchema, string[]]> = {
  'a macro whose argument is a macro that fails': [
    { ...text, ...rules("has(has('a'))") },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"has(has('a'))","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ${[
        "ERROR: <input>:1:9: invalid argument to has() macro\n | has(has('a'))\n | ........^",
        "ERROR: <input>:1:9: invalid argument to has() macro\n | has(has('a'))\n | ........^",
      ].join('\n')}`,
    ],
  ],
  'a default that breaks a rule': [
    { ...text, default: 'a', ...rules("self == 'b'") },
    [`properties[spec].default: Invalid value: "a": failed rule: self == 'b'`],
  ],
  'a default that breaks a rule below': [
    { type: 'object', default: { a: 'x' }, properties: { a: { ...text, ...rules("self == 'b'") } } },
    [`properties[spec].default.a: Invalid value: "x": failed rule: self == 'b'`],
  ],
  'a default that breaks a transition rule': [
    { ...text, default: 'a', ...rules('self != oldSelf') },
    ['properties[spec].default: Invalid value: "a": failed rule: self != oldSelf'],
  ],
  'a default that may not be new': [
    { ...text, default: 'a', ...rules({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }) },
    ['properties[spec].default: Invalid value: "a": failed rule: oldSelf.hasValue()'],
  ],
  'a default with a rule on a field that only whole objects have': [
    { type: 'object', default: { a: 'x' }, properties: { a: text }, ...rules("self.kind == 'A'") },
    [
      `properties[spec].default: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'kind'\n | self.kind == 'A'\n | ....^`,
    ],
  ],
  'a rule that is none, where there is a default': [
    { type: 'integer', default: 1, ...rules('self') },
    ['properties[spec].default: Invalid value: "integer": rule compile error: cel expression must evaluate to a bool'],
  ],
  'a rule beside what is wrong': [
    { type: 'object', properties: { a: { ...text, uniqueItems: true }, b: { ...text, ...rules('self') } } },
    [
      'properties[spec].properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      'properties[spec].properties[b].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
    ],
  ],
  'a rule above what is wrong': [
    { type: 'object', properties: { a: { ...text, uniqueItems: true } }, ...rules('self') },
    [
      'properties[spec].properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
  ],
  'a rule where nothing is known': [
    { 'x-kubernetes-preserve-unknown-fields': true, ...rules('true') },
    [
      'properties[spec].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ],
  ],
  'a path to a field without a name': [{ type: 'object', properties: { '': text }, ...rules({ rule: 'true', fieldPath: "['']" }) }, []],
  'a program that cannot be made uses oldSelf all the same': [
    { type: 'array', maxItems: 5, items: { type: 'string', ...rules({ rule: "int('x') == 1 || oldSelf == self" }) } },
    [
      `properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"int('x') == 1 || oldSelf == self","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: program instantiation failed: type conversion error from 'string' to 'int'`,
      `properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "int('x') == 1 || oldSelf == self": oldSelf cannot be used on the uncorrelatable portion of the schema within properties[spec]`,
    ],
  ],
  'a name that is a constant': [
    { ...text, ...rules('.false || true') },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":".false || true","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:2: Syntax error: mismatched input 'false' expecting IDENTIFIER\n | .false || true\n | .^`,
    ],
  ],
  'constants of which no time is made': [
    { ...text, ...rules("timestamp('2020-01-01t00:00:00Z') == timestamp(0) || duration(1) == duration('1s')") },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"timestamp('2020-01-01t00:00:00Z') == timestamp(0) || duration(1) == duration('1s')","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ${[
        "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('2020-01-01t00:00:00Z') == timestamp(0) || duration(1) == duration('1s')\n | ..........^",
        "ERROR: <input>:1:63: invalid duration argument\n | timestamp('2020-01-01t00:00:00Z') == timestamp(0) || duration(1) == duration('1s')\n | ..............................................................^",
      ].join('\n')}`,
    ],
  ],
  'a default that is measured by its format': [
    { type: 'object', format: 'int64', default: 0 },
    ['properties[spec].default: Invalid value: "integer":  in body must be of type object: "integer"'],
  ],
  'a default whose metadata are null': [
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      default: { apiVersion: 'v1', kind: 'Pod', metadata: null },
      ...rules("self.metadata.name == 'a'"),
    },
    [`properties[spec].default: Invalid value: "object": no such key: name evaluating rule: self.metadata.name == 'a'`],
  ],
  'resources in a default that is a list': [
    {
      type: 'array',
      items: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: { type: 'integer' } } },
      default: [{ kind: 'Pod' }],
    },
    ['properties[spec].default[0].apiVersion: Required value'],
  ],
  'a default that repeats itself': [
    { type: 'array', items: { type: 'string' }, default: ['a', 'a'], uniqueItems: true },
    [
      'properties[spec].default: Invalid value: "":  in body shouldn\'t contain duplicates',
      'properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
  ],
  'a default with a field that a branch forbids': [
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      allOf: [{ additionalProperties: false }],
      default: { apiVersion: 'v1', kind: 'Pod' },
    },
    [],
  ],
  'defaults after one that costs too much': [
    {
      type: 'array',
      default: ['a'],
      items: { ...text, default: 'b', ...rules("[1, 2, 3].all(x, dyn(100).check('a').allowed())") },
      maxItems: 5,
    },
    [
      `properties[spec].default[0]: Invalid value: "string": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: [1, 2, 3].all(x, dyn(100).check('a').allowed())`,
    ],
  ],
  'defaults of further fields after one that costs too much': [
    {
      type: 'object',
      properties: {
        a: { ...text, default: 'a', ...rules("[1, 2, 3].all(x, dyn(100).check('a').allowed())") },
        b: { ...text, default: 'b', ...rules('false') },
      },
    },
    [
      `properties[spec].properties[a].default: Invalid value: "string": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: [1, 2, 3].all(x, dyn(100).check('a').allowed())`,
    ],
  ],
  'a text that is split without a limit': [
    { type: 'string', ...rules("self.split(',', -1).all(x, x == 'a')") },
    [
      'properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ': Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  'names with a dot before them, and a test of a test': [
    { type: 'object', properties: { a: text }, ...rules('.optional.of(.self).hasValue() && has(has(self.a))') },
    [],
  ],
  'a value of any type that is joined': [
    { 'x-kubernetes-int-or-string': true, ...rules({ rule: 'true', messageExpression: ".self.join(',')" }) },
    [],
  ],
  'a path beside a message that is none': [
    {
      type: 'object',
      maxProperties: 5,
      additionalProperties: text,
      default: {},
      ...rules({ rule: 'self.size() > 0', fieldPath: "['a']", messageExpression: ' ' }),
    },
    [
      'properties[spec].default: Invalid value: failed rule: self.size() > 0',
      'properties[spec].x-kubernetes-validations[0].messageExpression: Required value: messageExpression must be non-empty if specified',
    ],
  ],
  'what a macro copies is told twice': [
    { ...text, ...rules("optional.of([1, 'a']).optMap(v, v).hasValue()") },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"optional.of([1, 'a']).optMap(v, v).hasValue()","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ${[
        "ERROR: <input>:1:17: expected type 'int' but found 'string'\n | optional.of([1, 'a']).optMap(v, v).hasValue()\n | ................^",
        "ERROR: <input>:1:17: expected type 'int' but found 'string'\n | optional.of([1, 'a']).optMap(v, v).hasValue()\n | ................^",
      ].join('\n')}`,
    ],
  ],
  'a map that is formatted has nothing in it that cannot be': [
    { ...text, ...rules("'%s'.format([{'a': quantity('1')}]) == ''") },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"'%s'.format([{'a': quantity('1')}]) == ''","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:28: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity\n | '%s'.format([{'a': quantity('1')}]) == ''\n | ...........................^`,
    ],
  ],
  'types are told as far as they are known by then': [
    { ...text, ...rules('[[0], []].missing') },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"[[0], []].missing","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:10: type 'list(list(int))' does not support field selection\n | [[0], []].missing\n | .........^`,
    ],
  ],
  'types are named from the place of the rule': [
    { type: 'object', properties: { a: { type: 'object', properties: { b: text }, ...rules('self == 1') } } },
    [
      `properties[spec].properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(selfType1, int)'\n | self == 1\n | .....^`,
    ],
  ],
  'types of items and values are named from the place of the rule, too': [
    {
      type: 'object',
      properties: {
        l: { type: 'array', maxItems: 5, items: { type: 'object', properties: { b: text } }, ...rules('self == 1') },
        m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'object', properties: { b: text } }, ...rules('self == 1') },
      },
    },
    [
      `properties[spec].properties[l].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(list(selfType1.@idx), int)'\n | self == 1\n | .....^`,
      `properties[spec].properties[m].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(map(string, selfType1.@elem), int)'\n | self == 1\n | .....^`,
    ],
  ],
  'all that makes no sense is told at once': [
    { type: 'integer', ...rules('b"\\u00e9" == has(self)') },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"b\\"\\\\u00e9\\" == has(self)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:1: unable to unescape string\n | b"\\u00e9" == has(self)\n | ^\nERROR: <input>:1:18: invalid argument to has() macro\n | b"\\u00e9" == has(self)\n | .................^`,
    ],
  ],
}

t.test('rules and defaults in a definition have the errors of the API server', (t) => {
  for (const [name, [spec, problems]] of Object.entries(definitions)) t.strictSame(problemsOf(spec), problems, name)
  t.end()
})
