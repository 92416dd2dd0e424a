/** Tests of rules in unusual places of a schema. The expected results were recorded from kube-apiserver 1.36. */
import t from 'tap'
import type { FieldError } from '../../src/api/field-error.ts'
import { formatFieldError } from '../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import type { StructuralSchema, ValidationRule } from '../../src/api/structural-schema.ts'
import { checkRules, compileRules } from '../../src/cel/rules.ts'
import { compileSchema } from '../../src/schema/compile.ts'

const text: StructuralSchema = { type: 'string', maxLength: 20 }
const rules = (...list: (ValidationRule | string)[]): StructuralSchema => ({
  'x-kubernetes-validations': list.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const withSpec = (spec: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { spec } })
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
  'the zero of every other type is one': {
    spec: {
      ...text,
      ...rules(
        ...['0', '0u', '0.0', "''", "b''", 'false', 'null', '[]', '{}', "duration('0s')", "timestamp('0001-01-01T00:00:00Z')"].map(
          (zero) => `!optional.ofNonZeroValue(${zero}).hasValue()`,
        ),
      ),
    },
    value: 'a',
    problems: [],
  },
  'numbers of other types are found in a constant list': {
    spec: { ...text, ...rules('dyn(1u) in [1, 2]', 'dyn(2.0) in [1, 2]', '!(dyn(3u) in [1, 2])', "!(dyn(1u) in ['1', 'a'])") },
    value: 'a',
    problems: [],
  },
  'quoted text has its control characters escaped': {
    spec: { ...text, ...rules(String.raw`strings.quote('\a\b\f\n\r\t\v\\"') == r'"\a\b\f\n\r\t\v\\\""'`) },
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
  'a quantity without digits': {
    spec: { ...text, ...rules("quantity('.') == quantity('0') && isQuantity('-Ki') && isQuantity('e5')", "isQuantity('')") },
    value: 'a',
    problems: [`spec: Invalid value: "a": failed rule: isQuantity('')`],
  },
  'blanks are those of Go': {
    spec: { ...text, ...rules({ rule: 'false', message: '\ufeff' }) },
    value: 'a',
    problems: ['spec: Invalid value: "a": \ufeff'],
  },
}

t.test('rules have the errors of the API server', (t) => {
  for (const [name, { spec, value, old, problems }] of Object.entries(evaluations)) {
    const found = compileRules(withSpec(spec))!.evaluate({ spec: value }, old === undefined ? undefined : { spec: old })
    t.strictSame(found.map(formatFieldError), problems, name)
  }
  t.end()
})

t.test('each suffix of a quantity has its factor', (t) => {
  const values: Readonly<Record<string, string>> = {
    '': '1',
    k: '1000',
    M: '1000000',
    G: '1000000000',
    T: '1000000000000',
    P: '1000000000000000',
    E: '1000000000000000000',
    Ki: '1024',
    Mi: '1048576',
    Gi: '1073741824',
    Ti: '1099511627776',
    Pi: '1125899906842624',
    Ei: '1152921504606846976',
  }
  for (const [suffix, value] of Object.entries(values)) {
    const schema = withSpec({ ...text, ...rules(`quantity('1${suffix}') == quantity('${value}')`) })
    t.strictSame(compileSchema(schema).validate({ spec: 'a' }), [], suffix)
  }
  for (const [suffix, exponent] of [
    ['n', -9],
    ['u', -6],
    ['m', -3],
  ] as const) {
    const schema = withSpec({ ...text, ...rules(`quantity('1${suffix}') == quantity('1e${exponent}')`) })
    t.strictSame(compileSchema(schema).validate({ spec: 'a' }), [], suffix)
  }
  t.end()
})

t.test('bool() converts each string that Go parses as a boolean, and no other', (t) => {
  const problems = (rule: string): string[] =>
    compileRules(withSpec({ ...text, ...rules(rule) }))!
      .evaluate({ spec: '' })
      .map(formatFieldError)
  for (const one of ['1', 't', 'T', 'true', 'TRUE', 'True']) t.strictSame(problems(`bool(self + '${one}')`), [], one)
  for (const zero of ['0', 'f', 'F', 'false', 'FALSE', 'False']) t.strictSame(problems(`!bool(self + '${zero}')`), [], zero)
  for (const neither of ['tRUE', 'fALSE', 'yes', 'no', ' true', '00'])
    t.match(problems(`bool(self + '${neither}')`), [/type conversion error from 'string' to 'bool'/], neither)
  t.end()
})

t.test('every line break in a literal is a line feed, whether it is raw or not', (t) => {
  for (const quoted of ["'''", "r'''", '"""', 'R"""', "b'''", "br'''"]) {
    const wanted = quoted.startsWith('b') ? String.raw`b'a\nb'` : String.raw`'a\nb'`
    for (const lineBreak of ['\n', '\r\n', '\r']) {
      const schema = withSpec({ ...text, ...rules(`${quoted}a${lineBreak}b${quoted.slice(-3)} == ${wanted}`) })
      t.strictSame(compileRules(schema)!.evaluate({ spec: 'a' }), [], JSON.stringify(`${quoted}${lineBreak}`))
    }
  }
  t.end()
})

/** Words that are not valid identifiers in CEL (k8s.io/apiserver/pkg/cel: escaping.go). */
const reservedWords = [
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop'],
  ...['package', 'namespace', 'return', 'var', 'void', 'while'],
]

t.test('a field whose name is reserved may be selected as it is, unless the grammar needs the word', (t) => {
  for (const word of reservedWords) {
    const spec: StructuralSchema = { type: 'object', properties: { [word]: text }, ...rules(`self.${word} == 'x'`) }
    const isKeyword = ['true', 'false', 'null', 'in'].includes(word)
    t.equal(checkRules(withSpec(spec), 'schema').length, isKeyword ? 1 : 0, word)
    if (!isKeyword) t.strictSame(compileRules(withSpec(spec))!.evaluate({ spec: { [word]: 'x' } }), [], word)
  }
  t.end()
})

t.test('a field whose name cannot be escaped cannot be read', (t) => {
  for (const name of ['a b', '1a', '$a', 'é', 'a:b', '']) {
    const spec: StructuralSchema = { type: 'object', properties: { [name]: text, z: text }, ...rules("self.z == 'x'") }
    t.strictSame(checkRules(withSpec(spec), 'schema'), [], 'the schema is valid')
    t.strictSame(compileRules(withSpec(spec))!.evaluate({ spec: { [name]: 'a', z: 'x' } }), [], name)
  }
  t.end()
})

t.test('fields that are no identifiers are read by their escaped names, whatever they begin with', (t) => {
  const names: Readonly<Record<string, string>> = {
    '.a': '__dot__a',
    '-b': '__dash__b',
    '/c': '__slash__c',
    'd.e-f/g': 'd__dot__e__dash__f__slash__g',
    __h: '__underscores__h',
    _i: '_i',
    'a.if': 'a__dot__if',
    ifs: 'ifs',
    ...Object.fromEntries(reservedWords.map((word) => [word, `__${word}__`])),
  }
  for (const [name, escaped] of Object.entries(names)) {
    const spec: StructuralSchema = { type: 'object', properties: { [name]: text }, ...rules(`self.${escaped} == 'x'`) }
    t.strictSame(checkRules(withSpec(spec), 'schema'), [], name)
    const problems = (value: string): number => compileRules(withSpec(spec))!.evaluate({ spec: { [name]: value } }).length
    t.strictSame([problems('x'), problems('y')], [0, 1], name)
  }
  t.end()
})

t.test('an update that removes a required value is refused, not warned about', (t) => {
  const needs = { rule: 'has(self.other)', message: 'other is needed' }
  const inner: StructuralSchema = { type: 'object', properties: { size: { type: 'integer' }, other: text }, ...rules(needs) }
  const schema = compileSchema(withSpec({ type: 'object', properties: { inner } }))
  const update = (object: JsonObject, old: JsonObject): unknown[] => {
    const warnings: FieldError[] = []
    const errors = schema.validateRules({ spec: { inner: object } }, { spec: { inner: old } }, [], (warning) => warnings.push(warning))
    return [errors.map(formatFieldError), warnings.map(formatFieldError)]
  }
  const broken = 'spec.inner: Invalid value: other is needed'
  t.strictSame(update({ size: 3 }, { size: 3, other: 'x' }), [[broken], []])
  t.strictSame(update({ size: 3 }, { size: 3 }), [[], [broken]])
  t.end()
})

t.test('an update warns about unchanged invalid values', (t) => {
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

t.test('an error names the rule by its message, or by its text when it has none', (t) => {
  const nameIn = (rule: ValidationRule): string | undefined =>
    compileRules(withSpec({ ...text, ...rules(rule) }))!
      .evaluate({ spec: 'a' })[0]
      ?.message.replace(/^.* evaluating rule: /, '')
  t.equal(nameIn({ rule: ' int(self) == 1 ' }), 'int(self) == 1')
  t.equal(nameIn({ rule: ' int(self) == 1 ', message: '' }), 'int(self) == 1')
  t.equal(nameIn({ rule: 'int(self) == 1', message: ' must be 1 ' }), 'must be 1')
  t.end()
})

t.test('a violated rule is reported with its message, or with its text when it has none', (t) => {
  const messageOf = (rule: ValidationRule): string | undefined =>
    compileRules(withSpec({ ...text, ...rules(rule) }))!.evaluate({ spec: 'a' })[0]?.message
  t.equal(messageOf({ rule: " self == 'b' " }), `Invalid value: "a": failed rule: self == 'b'`)
  t.equal(messageOf({ rule: " self == 'b' ", message: '' }), `Invalid value: "a": failed rule: self == 'b'`)
  t.equal(messageOf({ rule: "self == 'b'", message: ' must be b ' }), 'Invalid value: "a": must be b')
  t.end()
})

t.test('each reason has its own message, which ends with the detail if there is one', (t) => {
  const reported = (rule: Partial<ValidationRule>, spec: StructuralSchema = text, value: JsonValue = 'a'): string[] =>
    compileRules(withSpec({ ...spec, ...rules({ rule: 'false', ...rule }) }))!
      .evaluate({ spec: value })
      .map(({ reason, message }) => `${reason}: ${message}`)
  const map: StructuralSchema = { type: 'object', additionalProperties: text }
  const cases: readonly (readonly [reason: string | undefined, ofText: string, ofMap: string])[] = [
    [undefined, 'FieldValueInvalid: Invalid value: "a"', 'FieldValueInvalid: Invalid value'],
    ['FieldValueInvalid', 'FieldValueInvalid: Invalid value: "a"', 'FieldValueInvalid: Invalid value'],
    ['FieldValueForbidden', 'FieldValueForbidden: Forbidden', 'FieldValueForbidden: Forbidden'],
    ['FieldValueRequired', 'FieldValueRequired: Required value', 'FieldValueRequired: Required value'],
  ]
  for (const [reason, ofText, ofMap] of cases) {
    const given = reason === undefined ? {} : ({ reason } as Partial<ValidationRule>)
    t.strictSame(reported({ ...given, message: 'no' }), [`${ofText}: no`])
    t.strictSame(reported({ ...given, message: ' ' }), [ofText])
    t.strictSame(reported({ ...given, message: 'no' }, map, { a: 'x' }), [`${ofMap}: no`])
    t.strictSame(reported({ ...given, message: ' ' }, map, { a: 'x' }), [ofMap])
  }
  const duplicate = { reason: 'FieldValueDuplicate', message: 'no' } as const
  t.strictSame(reported(duplicate), ['FieldValueDuplicate: Duplicate value: "a"'], 'a duplicate has no detail')
  t.strictSame(reported(duplicate, map, { a: 'x' }), ['FieldValueDuplicate: Duplicate value'])
  t.end()
})

t.test('rules of a schema without a type are an error of its values', (t) => {
  const untyped = compileRules({ 'x-kubernetes-preserve-unknown-fields': true, ...rules('true') }, false)
  t.strictSame(untyped?.evaluateDefault(1, 'spec').errors.map(formatFieldError), [
    'spec: Invalid value: "": rule compiler initialization error: failed to convert to declType for CEL validation rules',
  ])
  t.equal(compileRules({ 'x-kubernetes-preserve-unknown-fields': true }, false), undefined)
  const item: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true, ...rules('true') }
  const list = compileRules({ type: 'array', items: item, ...rules('true') }, false)
  t.strictSame(
    list?.evaluateDefault([1, 2], 'spec').errors.map(({ path }) => path),
    ['spec', 'spec[0]', 'spec[1]'],
    'the errors are in the order of the values',
  )
  t.end()
})

t.test('data without a schema are equal to the same data with one', (t) => {
  const object = (a: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { a } })
  const differs = (type: 'boolean' | 'string' | 'integer' | 'number', free: JsonValue, typed: JsonValue): boolean => {
    const spec: StructuralSchema = {
      type: 'object',
      properties: { free: object({ 'x-kubernetes-preserve-unknown-fields': true }), typed: object({ type }) },
      ...rules('dyn(self.free) == dyn(self.typed)'),
    }
    return compileRules(withSpec(spec))!.evaluate({ spec: { free: { a: free }, typed: { a: typed } } }).length > 0
  }
  for (const [type, value, other] of [
    ['boolean', true, false],
    ['boolean', false, true],
    ['string', 'x', 'y'],
    ['integer', 5, 6],
    ['integer', 2n ** 53n + 1n, 2n ** 53n + 3n],
    ['number', 1.5, 2.5],
  ] as const) {
    t.equal(differs(type, value, value), false, type)
    t.equal(differs(type, value, other), true, `${type} with another value`)
    t.equal(differs(type, 'z', value), true, `${type} and a string`)
  }
  t.end()
})

t.test('the field of fieldPath is reported, unless messageExpression is blank or does not compile', (t) => {
  const report = (rule: Partial<ValidationRule>): string[] =>
    compileRules(withSpec({ type: 'object', properties: { a: text }, ...rules({ rule: 'false', fieldPath: '.a', ...rule }) }))!
      .evaluate({ spec: { a: 'x' } })
      .map(formatFieldError)
  t.strictSame(report({}), ['spec.a: Invalid value: failed rule: false'])
  t.strictSame(report({ messageExpression: '' }), ['spec.a: Invalid value: failed rule: false'])
  t.strictSame(report({ messageExpression: "'not ' + self.a" }), ['spec.a: Invalid value: not x'])
  t.strictSame(report({ messageExpression: ' self.a ', message: 'no' }), ['spec.a: Invalid value: x'])
  t.strictSame(report({ messageExpression: "[''][1]", message: 'no' }), ['spec.a: Invalid value: no'], 'the message fails for this value')
  for (const messageExpression of [' ', '\n', '1', 'self.b', ')'])
    t.strictSame(report({ messageExpression, message: 'no' }), ['spec: Invalid value: no'], JSON.stringify(messageExpression))
  t.strictSame(report({ fieldPath: '.b', message: 'no' }), ['spec: Invalid value: no'], 'the schema has no such field')
  t.end()
})

t.test('an empty fieldPath is no fieldPath', (t) => {
  const compiled = compileRules(withSpec({ ...text, ...rules({ rule: 'false', fieldPath: '' }) }))!
  t.strictSame(compiled.evaluate({ spec: 'a' }).map(formatFieldError), ['spec: Invalid value: "a": failed rule: false'])
  t.end()
})

t.test('an entry that a program left undefined is absent', (t) => {
  const value: StructuralSchema = { ...text, ...rules("self == 'a'") }
  for (const spec of [
    { type: 'object', additionalProperties: value },
    { type: 'object', properties: { k: value } },
  ] as const) {
    const compiled = compileRules(withSpec(spec))!
    t.strictSame(compiled.evaluate({ spec: { k: undefined } } as unknown as JsonObject), [])
    t.strictSame(compiled.evaluate({ spec: { k: 'b' } }).length, 1)
  }
  t.strictSame(compileRules(withSpec(value))!.evaluate({ spec: undefined } as unknown as JsonObject), [])
  t.end()
})

t.test('an item of a list map is correlated by scalar keys with the first old item that has them', (t) => {
  const item: StructuralSchema = {
    type: 'object',
    properties: { k: text, n: { type: 'integer' }, v: { ...text, ...rules({ rule: 'self == oldSelf', message: 'changed' }) } },
  }
  const listOf = (more: StructuralSchema): StructuralSchema => withSpec({ type: 'array', items: item, ...more })
  const map = listOf({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'n'] })
  const changed = (schema: StructuralSchema, now: JsonValue, old: JsonValue): string[] =>
    compileRules(schema)!
      .evaluate({ spec: now }, { spec: old })
      .map(({ path }) => path)
  t.strictSame(
    changed(
      map,
      [
        { k: 'a', n: 2, v: 'x' },
        { k: 'a', n: 1, v: 'x' },
      ],
      [
        { k: 'a', n: 1, v: 'y' },
        { k: 'a', n: 2, v: 'x' },
        { k: 'a', n: 1, v: 'x' },
      ],
    ),
    ['spec[1].v'],
  )
  const cases: readonly (readonly [name: string, now: JsonValue, old: JsonValue])[] = [
    ['only one key is equal', { k: 'a', n: 1 }, { k: 'a', n: 2 }],
    ['a key is missing', { k: 'a' }, { k: 'a' }],
    ['a key is null', { k: 'a', n: null }, { k: 'a', n: null }],
    ['a key is an object', { k: {}, n: 1 }, { k: {}, n: 1 }],
    ['a key is a list', { k: [], n: 1 }, { k: [], n: 1 }],
    ['a key has another type', { k: '1', n: 1 }, { k: 1, n: 1 }],
  ]
  for (const [name, now, old] of cases)
    t.strictSame(changed(map, [{ ...(now as JsonObject), v: 'x' }], [{ ...(old as JsonObject), v: 'y' }]), [], name)
  t.strictSame(changed(map, [{ k: 'a', n: 1, v: 'x' }], { k: 'a', n: 1, v: 'y' }), [], 'the old value is no list')
  t.strictSame(changed(map, [{ k: 'a', n: 1, v: 'x' }], ['a', { k: 'a', n: 1, v: 'y' }]), ['spec[0].v'], 'an old item is no object')
  for (const type of ['atomic', 'set'] as const)
    t.strictSame(changed(listOf({ 'x-kubernetes-list-type': type }), [{ k: 'a', v: 'x' }], [{ k: 'a', v: 'y' }]), [], type)
  t.end()
})

t.test('one selection reads objects of several schemas', (t) => {
  const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties })
  const spec: StructuralSchema = {
    ...object({
      a: object({ f: text }),
      b: object({ f: { type: 'integer' } }),
      c: object({ g: text }),
      list: { type: 'array', items: object({ m: { type: 'object', additionalProperties: text } }) },
    }),
    ...rules(
      '[dyn(self.a), dyn(self.b), dyn(self.a)].map(x, type(x.f) == string) == [true, false, true]',
      '[dyn(self.a), dyn(self.c), dyn(self.b)].map(x, has(x.f)) == [true, false, true]',
      "self.list.map(x, x.m.k) == ['x', 'y', 'x']",
      'self.list.map(x, x.m.size()) == [1, 2, 1]',
      "self.list[0].m.k + self.list[1].m.k + self.list[0].m.k == 'xyx'",
    ),
  }
  const value = {
    a: { f: 'x' },
    b: { f: 5 },
    c: { g: 'y', f: 'z' },
    list: [{ m: { k: 'x' } }, { m: { k: 'y', l: 'z' } }, { m: { k: 'x' } }],
  }
  const compiled = compileRules(withSpec(spec))!
  for (const time of ['the first time', 'the second time']) t.strictSame(compiled.evaluate({ spec: value }).map(formatFieldError), [], time)
  t.end()
})
