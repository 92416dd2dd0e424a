import t from 'tap'
import {
  duplicate,
  forbidden,
  formatFieldError,
  formatValue,
  internalFieldError,
  typeInvalid,
  invalid,
  invalidStatus,
  notSupported,
  quote,
  required,
  sortFieldErrors,
  tooLong,
  tooMany,
} from '../../src/api/field-error.ts'

t.test("strings are quoted as Go's %q does", async (t) => {
  const cases: [string, string][] = [
    ['plain', '"plain"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['tab\tline\n', '"tab\\tline\\n"'],
    ['\u0007\u0000\u001f\u007f', '"\\a\\x00\\x1f\\x7f"'],
    ['ü€😀', '"ü€😀"'],
    ['\u2028', '"\\u2028"'],
  ]
  for (const [text, expected] of cases) t.equal(quote(text), expected)
})

t.test('values are printed as the API server prints them', async (t) => {
  t.equal(formatValue({ b: 1, a: [true, null] }), '{"a":[true,null],"b":1}')
  t.equal(formatValue({ a: '<&>' }), '{"a":"\\u003c\\u0026\\u003e"}')
  const numbers: [number, string][] = [
    [3, '3'],
    [12345678, '12345678'],
    [0.5, '0.5'],
    [1234567.5, '1.2345675e+06'],
    [123456.5, '123456.5'],
    [1e19, '1e+19'],
    [0.00001, '1e-05'],
    [0.0001, '0.0001'],
  ]
  for (const [number, text] of numbers) t.equal(formatValue(number), text)
})

t.test('the message has a single error as it is, several in brackets, sorted and without duplicates', async (t) => {
  const type = { group: 'example.com', kind: 'Foo' }
  t.match(invalidStatus(type, 'x', [required('spec.a')]), {
    code: 422,
    reason: 'Invalid',
    message: 'Foo.example.com "x" is invalid: spec.a: Required value',
    details: {
      name: 'x',
      group: 'example.com',
      kind: 'Foo',
      causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' }],
    },
  })
  const errors = [notSupported('spec.list[10]', 'x', ['a', 'b']), duplicate('spec.list[9]', 'y'), duplicate('spec.list[9]', 'y')]
  t.equal(
    invalidStatus(type, 'x', errors).message,
    'Foo.example.com "x" is invalid: [spec.list[9]: Duplicate value: "y", spec.list[10]: Unsupported value: "x": supported values: "a", "b"]',
  )
  t.equal(sortFieldErrors(errors).length, 2)
})

t.test('counts of one are in the singular', async (t) => {
  t.equal(tooLong('a', 1).message, 'Too long: may not be more than 1 byte')
  t.equal(tooMany('a', 2, 1).message, 'Too many: 2: must have at most 1 item')
  t.equal(invalid('a', 'v', 'must be x').message, 'Invalid value: "v": must be x')
})

t.test('each kind of error has its reason and message', async (t) => {
  const cases = [
    [required('a'), 'FieldValueRequired', 'Required value'],
    [required('a', 'say why'), 'FieldValueRequired', 'Required value: say why'],
    [invalid('a', 'v', 'no'), 'FieldValueInvalid', 'Invalid value: "v": no'],
    [typeInvalid('a', 'integer', 'no'), 'FieldValueTypeInvalid', 'Invalid value: "integer": no'],
    [notSupported('a', 'v', ['x', 'y"']), 'FieldValueNotSupported', 'Unsupported value: "v": supported values: "x", "y\\""'],
    [duplicate('a', 7), 'FieldValueDuplicate', 'Duplicate value: 7'],
    [forbidden('a', 'no'), 'FieldValueForbidden', 'Forbidden: no'],
    [tooLong('a', 2), 'FieldValueTooLong', 'Too long: may not be more than 2 bytes'],
    [tooLong('a', 1), 'FieldValueTooLong', 'Too long: may not be more than 1 byte'],
    [tooLong('a', 0), 'FieldValueTooLong', 'Too long: may not be more than 0 bytes'],
    [tooLong('a', -1), 'FieldValueTooLong', 'Too long: value is too long'],
    [tooMany('a', 3, 2), 'FieldValueTooMany', 'Too many: 3: must have at most 2 items'],
    [tooMany('a', 3, 0), 'FieldValueTooMany', 'Too many: 3: must have at most 0 items'],
    [tooMany('a', 3, -1), 'FieldValueTooMany', 'Too many: 3: has too many items'],
    [internalFieldError('a', 'no'), 'InternalError', 'Internal error: no'],
  ] as const
  for (const [error, reason, message] of cases) t.strictSame(error, { path: 'a', reason, message })
  t.equal(formatFieldError(required('spec.a')), 'spec.a: Required value')
})

t.test('strings are escaped as in Go', async (t) => {
  t.equal(quote('\x07\b\t\n\v\f\r\x1b'), '"\\a\\b\\t\\n\\v\\f\\r\\x1b"')
  t.equal(quote('\u00a0\u200b\ufeff'), '"\\u00a0\\u200b\\ufeff"')
  t.equal(quote('\x80'), '"\\u0080"')
  t.equal(quote('\u{e0001}'), '"\\U000e0001"')
  t.equal(quote('\ud800'), '"\ufffd"')
})

t.test('a long value is cut at 16384 characters', async (t) => {
  const most = 'x'.repeat(16_384)
  t.equal(formatValue(most), `"${most}"`)
  t.equal(formatValue(`${most}y`), `"${most}"…`)
  const list = (length: number): string[] => ['x'.repeat(length)]
  t.equal(formatValue(list(16_384 - 4)), JSON.stringify(list(16_384 - 4)))
  t.equal(formatValue(list(16_384 - 3)), `["${'x'.repeat(16_384 - 3)}"…`)
})

t.test('other values are formatted as in Go', async (t) => {
  const cases: readonly (readonly [unknown, string])[] = [
    [null, 'null'],
    [undefined, 'null'],
    [true, 'true'],
    [9007199254740993n, '9007199254740993'],
    [-5, '-5'],
    [2 ** 62, '4611686018427387904'],
    [2 ** 63, '9.223372036854776e+18'],
    [1e100, '1e+100'],
    [999_999.5, '999999.5'],
    [1_000_000.5, '1.0000005e+06'],
    [0.000_12, '0.00012'],
    [-0.000_012, '-1.2e-05'],
    [[1, 'a<b>&\u2028\u2029'], '[1,"a\\u003cb\\u003e\\u0026\\u2028\\u2029"]'],
  ]
  for (const [value, text] of cases) t.equal(formatValue(value), text)
})

t.test('errors are sorted by path, with numbers as numbers, then by message', async (t) => {
  const [a, b, c, d, other] = [
    required('spec.list[9]'),
    invalid('spec.list[10]', 'a', 'x'),
    invalid('spec.list[10]', 'b', 'x'),
    required('status'),
    { ...required('status'), reason: 'FieldValueInvalid' as const },
  ]
  t.strictSame(sortFieldErrors([d, c, a, b, c]), [a, b, c, d])
  t.equal(sortFieldErrors([d, other]).length, 2, 'of another reason')
})

t.test('the Status lists all errors as causes, with the type and name of the object', async (t) => {
  const errors = [required('b'), required('a')]
  const cause = (field: string): object => ({ reason: 'FieldValueRequired', message: 'Required value', field })
  t.strictSame(invalidStatus({ group: 'example.com', kind: 'Foo' }, 'x', errors), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Foo.example.com "x" is invalid: [a: Required value, b: Required value]',
    reason: 'Invalid',
    details: { name: 'x', group: 'example.com', kind: 'Foo', causes: [cause('a'), cause('b')] },
    code: 422,
  })
  const ordered = invalidStatus({ group: '', kind: '' }, '', errors, { keepOrder: true })
  t.strictSame(ordered.details, { causes: [cause('b'), cause('a')] })
  t.equal(ordered.message, ' "" is invalid: [b: Required value, a: Required value]')
})
