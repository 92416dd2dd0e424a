/** What the API server makes of rules in places where one would not think of it: recorded from kube-apiserver 1.36. */
import t from 'tap'
import type { FieldError } from '../../../src/api/field-error.ts'
import { formatFieldError } from '../../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { StructuralSchema, ValidationRule } from '../../../src/api/structural-schema.ts'
import { compileRules } from '../../../src/schema/cel/rules.ts'
import { compileSchema } from '../../../src/schema/compile.ts'
import { checkStructural } from '../../../src/schema/structural.ts'

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
  'a default that may not be new': [
    { ...text, default: 'a', ...rules({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }) },
    ['properties[spec].default: Invalid value: "a": failed rule: oldSelf.hasValue()'],
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
  'a text that is split without a limit': [
    { type: 'string', ...rules("self.split(',', -1).all(x, x == 'a')") },
    [
      'properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ': Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  ],
  'types are named from the place of the rule': [
    { type: 'object', properties: { a: { type: 'object', properties: { b: text }, ...rules('self == 1') } } },
    [
      `properties[spec].properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(selfType1, int)'\n | self == 1\n | .....^`,
    ],
  ],
  'all that makes no sense is told at once': [
    { type: 'integer', ...rules('b"\\u00e9" == has(self)') },
    [
      `properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"b\\"\\\\u00e9\\" == has(self)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:1: unable to unescape string\n | b"\\u00e9" == has(self)\n | ^\nERROR: <input>:1:18: invalid argument to has() macro\n | b"\\u00e9" == has(self)\n | .................^`,
    ],
  ],
}

t.test('definitions', (t) => {
  for (const [name, [spec, problems]] of Object.entries(definitions)) t.strictSame(problemsOf(spec), problems, name)
  t.end()
})

interface Case {
  readonly spec: StructuralSchema
  readonly value: JsonValue
  readonly old?: JsonValue
  readonly problems: readonly string[]
}

const list = (items: StructuralSchema, type: 'set' | 'atomic', ...more: (ValidationRule | string)[]): StructuralSchema => ({
  type: 'array',
  maxItems: 5,
  items,
  'x-kubernetes-list-type': type,
  ...rules(...more),
})
const dated: StructuralSchema = {
  type: 'object',
  properties: { at: { type: 'string', format: 'date-time' }, n: { type: 'number' } },
}
const optional = (rule: string, more: Partial<ValidationRule> = {}): ValidationRule => ({ rule, optionalOldSelf: true, ...more })

const evaluations: Record<string, Case> = {
  'an index of nothing is not looked at': {
    spec: { ...text, ...rules("!optional.none()[timestamp(0).getSeconds('no such zone')].hasValue()") },
    value: 'a',
    problems: [],
  },
  'an optional is no zero, whatever is in it': {
    spec: {
      ...text,
      ...rules("optional.ofNonZeroValue(optional.of('')).hasValue() && optional.ofNonZeroValue(optional.none()).hasValue()"),
    },
    value: 'a',
    problems: [],
  },
  'data of the wrong type fail who reads them': {
    spec: { ...text, ...rules("true || self == 'x'", "self == 'x'") },
    value: 5,
    problems: [`spec: Invalid value: "string": invalid data, expected string, got int64 evaluating rule: self == 'x'`],
  },
  'a field is there only if it is what its schema says': {
    spec: { type: 'object', properties: { a: text }, ...rules('has(self.a)') },
    value: { a: 5 },
    problems: ['spec: Invalid value: "object": invalid data, expected string, got int64 evaluating rule: has(self.a)'],
  },
  'a fold over wrong items that nobody reads': { spec: list(text, 'atomic', 'self.exists(i, x, i == 0)'), value: [null], problems: [] },
  'an optional old value is a plain one': {
    spec: { ...dated, ...rules(optional('oldSelf.value().at == self.at'), optional('oldSelf.value().at.getHours() == 1')) },
    value: { at: '2020-01-01T00:00:00Z' },
    old: { at: '2020-01-01T00:00:00Z' },
    problems: [
      'spec: Invalid value: failed rule: oldSelf.value().at == self.at',
      `spec: Invalid value: "object": 'no such overload: getHours(string)': call arguments did not match a supported operator, function or macro signature for rule: oldSelf.value().at.getHours() == 1`,
    ],
  },
  'messages do not get the old value as an optional one': {
    spec: {
      ...text,
      ...rules(optional("oldSelf.orValue('') == self", { messageExpression: "'was ' + oldSelf.value()", message: 'plain' })),
    },
    value: 'a',
    old: 'b',
    problems: ['spec: Invalid value: "a": plain'],
  },
  'messages know the old value only where a rule asks for it': {
    spec: { ...text, ...rules({ rule: 'false', messageExpression: "'was ' + oldSelf" }) },
    value: 'a',
    old: 'b',
    problems: ['spec: Invalid value: "a": failed rule: false'],
  },
  'a library value in a condition': {
    spec: { ...text, ...rules("(true ? optional.of(ip('::1')) : optional.none()).value().isLoopback()") },
    value: 'a',
    problems: [
      `spec: Invalid value: "string": unsupported conversion to ref.Val: (netip.Addr) evaluating rule: (true ? optional.of(ip('::1')) : optional.none()).value().isLoopback()`,
    ],
  },
  'sets of numbers are told by their raw data': {
    spec: list({ type: 'number' }, 'set', 'self == oldSelf', 'self == self'),
    value: [1.5, 2],
    old: [1.5, 2],
    problems: ['spec: Invalid value: failed rule: self == oldSelf'],
  },
  'a set of numbers is not even equal to itself': {
    spec: list({ type: 'number' }, 'set', 'self == self'),
    value: [1.5, 2],
    problems: ['spec: Invalid value: failed rule: self == self'],
  },
  'sets of objects cannot be compared': {
    spec: list({ type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text } }, 'set', 'self == oldSelf || true'),
    value: [{ a: 'x' }],
    old: [{ a: 'x' }],
    problems: [
      'spec: Invalid value: "array": internal error: runtime error: hash of unhashable type map[string]interface {} evaluating rule: self == oldSelf || true',
    ],
  },
  'what cannot be evaluated cannot be sorted': {
    spec: { ...text, ...rules('[int(self)].sort() == [1] || true') },
    value: 'x',
    problems: [
      'spec: Invalid value: "string": internal error: interface conversion: *types.Err is not traits.Lister: missing method Add evaluating rule: [int(self)].sort() == [1] || true',
    ],
  },
  'lists of what cannot be compared are equal': {
    spec: {
      ...text,
      ...rules("[dyn(quantity('1'))] == [dyn('a')]", "!(dyn(quantity('1')) in [dyn('a')])", "sets.contains([dyn('a')], [dyn(ip('::1'))])"),
    },
    value: 'a',
    problems: [`spec: Invalid value: "a": failed rule: sets.contains([dyn('a')], [dyn(ip('::1'))])`],
  },
  'keys of maps': {
    spec: { type: 'number', ...rules("{1.5: 'a'}[1.5] == 'a'", '{dyn(1): true, dyn(1u): false}.size() == 2', '{1: true}[dyn(1.0)]') },
    value: 1,
    problems: [],
  },
  'a network that cannot be read': {
    spec: { ...text, ...rules("cidr('10.0.0.0/8').containsCIDR(self)", "cidr('10.0.0.0/8').containsIP(self)") },
    value: '1.2.3.4/08',
    problems: [
      `spec: Invalid value: "string": network address parse error during conversion from string: network address parse error during conversion from string: netip.ParsePrefix("1.2.3.4/08"): bad bits after slash: "08" evaluating rule: cidr('10.0.0.0/8').containsCIDR(self)`,
      `spec: Invalid value: "string": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: cidr('10.0.0.0/8').containsIP(self)`,
    ],
  },
  'blanks are those of Go': {
    spec: { ...text, ...rules({ rule: 'false', message: '\ufeff' }) },
    value: 'a',
    problems: ['spec: Invalid value: "a": \ufeff'],
  },
}

t.test('evaluations', (t) => {
  for (const [name, { spec, value, old, problems }] of Object.entries(evaluations)) {
    const found = compileRules(withSpec(spec))!.evaluate({ spec: value }, old === undefined ? undefined : { spec: old })
    t.strictSame(found.map(formatFieldError), problems, name)
  }
  t.end()
})

t.test('an update is warned of what it leaves as it was', (t) => {
  const sized = { type: 'integer', ...rules({ rule: 'self > 5', message: 'must be large' }, 'self >= oldSelf') } satisfies StructuralSchema
  const schema = compileSchema(withSpec({ type: 'object', properties: { size: sized, other: text } }))
  const update = (spec: JsonObject): { errors: string[]; warnings: string[] } => {
    const warnings: FieldError[] = []
    const errors = schema.validateRules({ spec }, { spec: { size: 3 } }, [], (warning) => warnings.push(warning))
    return { errors: errors.map(formatFieldError), warnings: warnings.map(formatFieldError) }
  }
  t.strictSame(update({ size: 3, other: 'x' }), { errors: [], warnings: ['spec.size: Invalid value: 3: must be large'] })
  t.strictSame(update({ size: 4 }), { errors: ['spec.size: Invalid value: 4: must be large'], warnings: [] })
  t.strictSame(update({ size: 2 }).errors, [
    'spec.size: Invalid value: 2: must be large',
    'spec.size: Invalid value: 2: failed rule: self >= oldSelf',
  ])
  t.end()
})
