/**
 * Tests of rules for values that do not match their schema, and of errors during the evaluation. The expected results were recorded from
 * kube-apiserver 1.36.
 */
import t from 'tap'
import { formatFieldError } from '../../src/api/field-error.ts'
import type { JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema, ValidationRule } from '../../src/api/structural-schema.ts'
import { compileRules } from '../../src/cel/rules.ts'

interface Case {
  readonly spec: StructuralSchema
  readonly value: JsonValue
  readonly old?: JsonValue
  readonly problems: readonly string[]
}

const text: StructuralSchema = { type: 'string', maxLength: 20 }
const rules = (...list: (ValidationRule | string)[]): StructuralSchema => ({
  'x-kubernetes-validations': list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const optional = (rule: string, more: Partial<ValidationRule> = {}): ValidationRule => ({ rule, optionalOldSelf: true, ...more })
const texts = (...list: string[]): StructuralSchema => ({ type: 'array', maxItems: 5, items: text, ...rules(...list) })

const cases: Record<string, Case> = {
  'a large number is a float': {
    spec: { ...text, ...rules("self == ''") },
    value: 1e300,
    problems: [`spec: Invalid value: "string": invalid data, expected string, got float64 evaluating rule: self == ''`],
  },
  'an old value that cannot be read is there': {
    spec: {
      ...text,
      ...rules(
        optional('oldSelf.hasValue()'),
        optional('oldSelf.value() == self'),
        optional("oldSelf.optMap(v, 'x').hasValue()"),
        optional('optional.of(self) == oldSelf'),
      ),
    },
    value: 'a',
    old: 5,
    problems: [
      'spec: Invalid value: "string": unsupported conversion to ref.Val: (*errors.errorString)invalid data, expected string, got int64 evaluating rule: oldSelf.value() == self',
      'spec: Invalid value: "a": failed rule: optional.of(self) == oldSelf',
    ],
  },
  'an old object is not equal to one that cannot be read': {
    spec: { type: 'object', properties: { a: text }, ...rules(optional('oldSelf == optional.of(self)')) },
    value: { a: 5 },
    old: { a: 5 },
    problems: ['spec: Invalid value: failed rule: oldSelf == optional.of(self)'],
  },
  'what cannot be compared is not equal': {
    spec: texts('self != self', 'self == self'),
    value: [5],
    problems: ['spec: Invalid value: "array": invalid data, expected string, got int64 evaluating rule: self == self'],
  },
  'a list is searched beyond what cannot be read': {
    spec: texts("'a' in self", "'b' in self"),
    value: [5, 'a'],
    problems: [`spec: Invalid value: "array": invalid data, expected string, got int64 evaluating rule: 'b' in self`],
  },
  'data of no schema are equal to the same data': {
    spec: {
      type: 'object',
      properties: { a: { 'x-kubernetes-preserve-unknown-fields': true } },
      ...rules(optional('optional.of(self) == oldSelf'), optional('oldSelf == optional.of(self)')),
    },
    value: { a: { b: [1] } },
    old: { a: { b: [1] } },
    problems: ['spec: Invalid value: failed rule: oldSelf == optional.of(self)'],
  },
  'times that are none': {
    spec: {
      type: 'object',
      properties: { at: { type: 'string', format: 'date-time' }, day: { type: 'string', format: 'date' } },
      ...rules('dyn(self.at) == 1', 'dyn(self.day) == 1'),
    },
    value: { at: '2020-01-01t00:00:00Z', day: '2020-02-30' },
    problems: [
      'spec: Invalid value: "object": Invalid date-time formatted string 2020-01-01t00:00:00Z: parsing time "2020-01-01t00:00:00Z" as "2006-01-02T15:04:05": cannot parse "t00:00:00Z" as "T" evaluating rule: dyn(self.at) == 1',
      'spec: Invalid value: "object": Invalid date formatted string 2020-02-30: parsing time "2020-02-30": day out of range evaluating rule: dyn(self.day) == 1',
    ],
  },
  'bytes are those of the alphabet for URLs': {
    spec: { type: 'string', format: 'byte', maxLength: 20, ...rules("self == b'a'") },
    value: '+/==',
    problems: [
      `spec: Invalid value: "string": Invalid byte formatted string +/==: illegal base64 data at input byte 0 evaluating rule: self == b'a'`,
    ],
  },
  'line breaks within and after the padding of bytes are skipped': {
    spec: { type: 'string', format: 'byte', maxLength: 20, ...rules("self == b'h'") },
    value: 'aA=\r\n=\n',
    problems: [],
  },
  'bytes that are no text': {
    spec: { ...text, ...rules("'%s'.format([dyn(b'\\xff')]) == ''") },
    value: 'a',
    problems: [
      `spec: Invalid value: "string": error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string evaluating rule: '%s'.format([dyn(b'\\xff')]) == ''`,
    ],
  },
  'no duration is made of an int': {
    spec: { ...text, ...rules("duration(self.size()) == duration('1s')") },
    value: 'a',
    problems: [
      `spec: Invalid value: "string": type conversion error from 'int' to 'google.protobuf.Duration' evaluating rule: duration(self.size()) == duration('1s')`,
    ],
  },
  'both ends of a range before all': {
    spec: { ...text, ...rules("self.substring(-9223372036854775807, -4) == ''") },
    value: 'abc',
    problems: [
      `spec: Invalid value: "string": index out of range: -9223372036854775807 evaluating rule: self.substring(-9223372036854775807, -4) == ''`,
    ],
  },
  'the alternative of what is no optional': {
    spec: { ...text, ...rules(optional("oldSelf.value() == 'x'", { messageExpression: "'was ' + oldSelf.orValue('')" })) },
    value: 'a',
    old: 'b',
    problems: ['spec: Invalid value: "a": was b'],
  },
  'an error ends no fold': {
    spec: {
      ...text,
      ...rules(
        '[0, 5, 6].exists_one(x, [1][x] == 1)',
        '[5, 6].map(x, [1][x]).size() == 1',
        '[5, 6].filter(x, [1][x] == 1).size() == 1',
        '[5, 6].transformMap(i, x, [1][x] == 1, x).size() == 0',
      ),
    },
    value: 'a',
    problems: [
      'spec: Invalid value: "string": index out of bounds: 6 evaluating rule: [0, 5, 6].exists_one(x, [1][x] == 1)',
      'spec: Invalid value: "string": index out of bounds: 5 evaluating rule: [5, 6].map(x, [1][x]).size() == 1',
      'spec: Invalid value: "string": index out of bounds: 6 evaluating rule: [5, 6].filter(x, [1][x] == 1).size() == 1',
      'spec: Invalid value: "string": index out of bounds: 6 evaluating rule: [5, 6].transformMap(i, x, [1][x] == 1, x).size() == 0',
    ],
  },
  'a fold over what is neither list nor map': {
    spec: { ...text, ...rules('dyn(self).all(x, true)', 'dyn(self).all(i, x, true)') },
    value: 'a',
    problems: [
      `spec: Invalid value: "string": got 'types.String', expected iterable type evaluating rule: dyn(self).all(x, true)`,
      'spec: Invalid value: "string": unsupported comprehension range type: types.String evaluating rule: dyn(self).all(i, x, true)',
    ],
  },
  'no overload takes what cannot be read': {
    spec: texts("self.max() == 'a'", "self.sort() == ['a']"),
    value: [5],
    problems: [
      `spec: Invalid value: "array": 'no such overload: max(list)': call arguments did not match a supported operator, function or macro signature for rule: self.max() == 'a'`,
      `spec: Invalid value: "array": list elements must be comparable evaluating rule: self.sort() == ['a']`,
    ],
  },
  'an empty object is no zero': {
    spec: { type: 'object', properties: { a: text }, ...rules('optional.ofNonZeroValue(self).hasValue()') },
    value: {},
    problems: [],
  },
  'a field of a list': {
    spec: { type: 'array', maxItems: 5, items: text, ...rules(optional('dyn(oldSelf.value()).a == 1')) },
    value: ['a'],
    old: ['a'],
    problems: [`spec: Invalid value: "array": unsupported index type 'string' in list evaluating rule: dyn(oldSelf.value()).a == 1`],
  },
  'what fails costs, too': {
    spec: { ...text, ...rules("[1, 2, 3].all(x, dyn(100).check('a').allowed())") },
    value: 'a',
    problems: [
      `spec: Invalid value: "string": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: [1, 2, 3].all(x, dyn(100).check('a').allowed())`,
    ],
  },
  'a set of large numbers': {
    spec: { type: 'array', maxItems: 5, 'x-kubernetes-list-type': 'set', items: { type: 'number' }, ...rules('self == oldSelf') },
    value: [3.5e38],
    old: [3.5e38],
    problems: [],
  },
  'a version without numbers': {
    spec: { ...text, ...rules("semver('', true).major() == 1") },
    value: 'a',
    problems: [
      `spec: Invalid value: "string": strconv.ParseUint: parsing "": invalid syntax evaluating rule: semver('', true).major() == 1`,
    ],
  },
  'what no index can be': {
    spec: {
      type: 'object',
      properties: { day: { type: 'string', format: 'date' } },
      ...rules("{dyn('a'): true}[self]", "{dyn('a'): true}[self.day]", "dyn(b'a') in {dyn('a'): self.day}"),
    },
    value: { day: '2020-01-01' },
    problems: [
      `spec: Invalid value: "object": invalid qualifier type: *common.unstructuredMap evaluating rule: {dyn('a'): true}[self]`,
      `spec: Invalid value: "object": invalid qualifier type: types.Timestamp evaluating rule: {dyn('a'): true}[self.day]`,
      `spec: Invalid value: "object": internal error: runtime error: hash of unhashable type types.Bytes evaluating rule: dyn(b'a') in {dyn('a'): self.day}`,
    ],
  },
  'a set that could not be read once': {
    spec: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'set',
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text } },
      ...rules('self == oldSelf', 'self == oldSelf || true'),
    },
    value: [{ a: 'b' }],
    old: [{ a: 'b' }],
    problems: [
      'spec: Invalid value: "array": internal error: runtime error: hash of unhashable type map[string]interface {} evaluating rule: self == oldSelf',
      'spec: Invalid value: "array": internal error: hash of unhashable type: map[string]interface {} evaluating rule: self == oldSelf || true',
    ],
  },
  'a set that something was added to': {
    spec: {
      type: 'array',
      maxItems: 5,
      'x-kubernetes-list-type': 'set',
      items: text,
      ...rules("self == ['z']", "(self + ['z']).size() == 2", "self == ['z']"),
    },
    value: ['a'],
    problems: [`spec: Invalid value: failed rule: self == ['z']`],
  },
  'floats in all notations': {
    spec: {
      ...text,
      ...rules("double('1_000') == 1000.0", "double('0x1p-2') == 0.25", "double('0x_1.8p1') == 3.0", "double(self + '1_e1') == 10.0"),
    },
    value: '',
    problems: [
      `spec: Invalid value: "string": type conversion error from 'string' to 'double' evaluating rule: double(self + '1_e1') == 10.0`,
    ],
  },
  'an empty match behind another one': {
    spec: { ...text, ...rules("self.findAll('a*') == ['', 'aa', '']", "self.findAll('b*') == ['b', '', '', '']") },
    value: 'baac',
    problems: [],
  },
  'a time zone that is a path': {
    spec: { ...text, ...rules("timestamp(0).getHours('/UTC') == 0", "timestamp(0).getHours('a..b') == 0") },
    value: '',
    problems: [
      `spec: Invalid value: "string": time: invalid location name evaluating rule: timestamp(0).getHours('/UTC') == 0`,
      `spec: Invalid value: "string": time: invalid location name evaluating rule: timestamp(0).getHours('a..b') == 0`,
    ],
  },
  'sets of what cannot be read': {
    spec: texts(
      "sets.intersects(['b'], self)",
      "sets.intersects(self, ['b'])",
      "sets.contains(self, ['c'])",
      "sets.contains(['a'], self)",
      'sets.equivalent(self, self)',
    ),
    value: [5, 'b'],
    problems: [
      `spec: Invalid value: "array": invalid data, expected string, got int64 evaluating rule: sets.contains(self, ['c'])`,
      `spec: Invalid value: failed rule: sets.contains(['a'], self)`,
      'spec: Invalid value: "array": invalid data, expected string, got int64 evaluating rule: sets.equivalent(self, self)',
    ],
  },
  'numbers that were floats are integers in an old value': {
    spec: { type: 'object', properties: { n: { type: 'number' } }, ...rules(optional('-1 >= oldSelf.value().n')) },
    value: { n: -2 },
    old: { n: -2 },
    problems: [],
  },
  'null is no text': {
    spec: {
      type: 'array',
      maxItems: 5,
      items: { ...text, nullable: true },
      ...rules(
        "self[0] + 'a' == 'nulla'",
        'self.all(x, x.size() > 0)',
        "self[0] == 'a'",
        "self[0].lowerAscii() == 'a'",
        "self[0].matches('n')",
        "self[0].findAll('a', 1) == ['']",
      ),
    },
    value: [null, 'b'],
    problems: [
      `spec: Invalid value: "array": 'no such overload: _+_': call arguments did not match a supported operator, function or macro signature for rule: self[0] + 'a' == 'nulla'`,
      `spec: Invalid value: "array": 'no such overload: size': call arguments did not match a supported operator, function or macro signature for rule: self.all(x, x.size() > 0)`,
      `spec: Invalid value: failed rule: self[0] == 'a'`,
      `spec: Invalid value: "array": 'no such overload: lowerAscii(null_type)': call arguments did not match a supported operator, function or macro signature for rule: self[0].lowerAscii() == 'a'`,
      `spec: Invalid value: "array": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self[0].matches('n')`,
      `spec: Invalid value: "array": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self[0].findAll('a', 1) == ['']`,
    ],
  },
  'null is no boolean': {
    spec: { type: 'array', maxItems: 5, items: { type: 'boolean', nullable: true }, ...rules('!self[0]', 'self[0] || true') },
    value: [null],
    problems: [
      `spec: Invalid value: "array": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: !self[0]`,
    ],
  },
  'what a list is made of may be wrong as long as nobody reads it': {
    spec: texts(
      'self.reverse().size() == 2',
      "self.reverse()[0] == 'a'",
      "self.reverse()[1] == 'a'",
      "(['x'] + self)[0] == 'x'",
      '[self].flatten().size() == 2',
      'self.slice(0, 1).size() == 1',
    ),
    value: [5, 'a'],
    problems: [`spec: Invalid value: "array": invalid data, expected string, got int64 evaluating rule: self.reverse()[1] == 'a'`],
  },
}

for (const [name, { spec, value, old, problems }] of Object.entries(cases)) {
  t.test(name, (t) => {
    const schema: StructuralSchema = { type: 'object', properties: { spec } }
    const found = compileRules(schema)!.evaluate({ spec: value }, old === undefined ? undefined : { spec: old })
    t.strictSame(found.map(formatFieldError), problems)
    t.end()
  })
}
