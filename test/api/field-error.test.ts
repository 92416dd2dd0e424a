import t from 'tap'
import {
  duplicate,
  formatValue,
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

t.test('one error stands on the line, several in brackets, each once and sorted', async (t) => {
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

t.test('counts are in the singular where there is one', async (t) => {
  t.equal(tooLong('a', 1).message, 'Too long: may not be more than 1 byte')
  t.equal(tooMany('a', 2, 1).message, 'Too many: 2: must have at most 1 item')
  t.equal(invalid('a', 'v', 'must be x').message, 'Invalid value: "v": must be x')
})
