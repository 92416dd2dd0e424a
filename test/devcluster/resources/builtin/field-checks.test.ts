import t from 'tap'
import type { JsonValue } from '../../../../src/api/json.ts'
import {
  goStruct,
  immutable,
  invalidStruct,
  nonNegative,
  notSupportedStruct,
  objects,
  portNameErrors,
  validateEnum,
  validateOptionalEnum,
  validatePort,
  validatePortOrName,
} from '../../../../src/devcluster/resources/builtin/field-checks.ts'

t.test('a missing or unknown value of an enumeration is refused with all supported values', async (t) => {
  const required = { path: 'p.f', reason: 'FieldValueRequired', message: 'Required value' }
  t.strictSame(validateEnum({}, 'f', 'p', ['A', 'B']), [required])
  t.strictSame(validateEnum({ f: '' }, 'f', 'p', ['A', 'B']), [required])
  t.strictSame(validateEnum({ f: '' }, 'f', '', ['A', 'B']), [{ ...required, path: 'f' }])
  t.strictSame(validateEnum({ f: 'B' }, 'f', 'p', ['A', 'B']), [])
  const message = 'Unsupported value: "C": supported values: "A", "B"'
  t.strictSame(validateEnum({ f: 'C' }, 'f', 'p', ['A', 'B']), [{ path: 'p.f', reason: 'FieldValueNotSupported', message }])
  t.strictSame(validateOptionalEnum({ f: 'C' }, 'f', '', ['A', 'B']), [{ path: 'f', reason: 'FieldValueNotSupported', message }])
  t.strictSame(validateOptionalEnum({}, 'f', 'p', ['A', 'B']), [])
  t.strictSame(validateOptionalEnum({ f: 'A' }, 'f', 'p', ['A', 'B']), [])
  t.equal(validateOptionalEnum({ f: '' }, 'f', 'p', ['A', 'B']).length, 1, 'an optional field must not be empty')
})

t.test('ports are numbers from 1 to 65535, or names of at most 15 characters', async (t) => {
  const messages = (errors: readonly { message: string }[]): string[] => errors.map(({ message }) => message)
  for (const port of [1, 80, 65_535]) t.strictSame([validatePort(port, 'p'), validatePortOrName(port, 'p')], [[], []])
  for (const port of [0, -1, 65_536, null]) {
    const message = `Invalid value: ${port}: must be between 1 and 65535, inclusive`
    t.strictSame(validatePort(port, 'p'), [{ path: 'p', reason: 'FieldValueInvalid', message }])
  }
  t.strictSame(messages(validatePortOrName(undefined, 'p')), ['Invalid value: 0: must be between 1 and 65535, inclusive'])
  t.strictSame(messages(validatePortOrName('http-1', 'p')), [])
  t.strictSame(messages(validatePortOrName('Http', 'p')), [
    'Invalid value: "Http": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
  ])
  t.strictSame(portNameErrors('a'.repeat(15)), [])
  t.strictSame(portNameErrors('-1--2_34567890-'), [
    'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    'must contain at least one letter (a-z)',
    'must not contain consecutive hyphens',
    'must not begin or end with a hyphen',
  ])
  t.strictSame(portNameErrors('a'.repeat(16)), ['must be no more than 15 characters'])
  t.strictSame(portNameErrors('a-'), ['must not begin or end with a hyphen'])
})

t.test('values are printed as internal types of kube-apiserver', async (t) => {
  t.strictSame(goStruct({ name: 'a', apiGroup: 'b' }, ['apiGroup', 'kind', 'name', 'seLinuxOptions']), {
    APIGroup: 'b',
    Kind: null,
    Name: 'a',
    SELinuxOptions: null,
  })
  t.strictSame(invalidStruct('p', { b: 1 }, ['a', 'b'], 'wrong'), {
    path: 'p',
    reason: 'FieldValueInvalid',
    message: 'Invalid value: {"A":null,"B":1}: wrong',
  })
  t.strictSame(notSupportedStruct('p', { b: 1 }, ['b'], ['x', 'y']), {
    path: 'p',
    reason: 'FieldValueNotSupported',
    message: 'Unsupported value: {"B":1}: supported values: "x", "y"',
  })
})

t.test('negative numbers and changes of immutable fields are refused', async (t) => {
  const negative = { path: 'p', reason: 'FieldValueInvalid', message: 'Invalid value: -1: must be greater than or equal to 0' }
  t.strictSame(nonNegative(-1, 'p'), [negative])
  for (const value of [0, 1, undefined, null, '-1']) t.strictSame(nonNegative(value, 'p'), [])
  const changed = (value: JsonValue | undefined, old: JsonValue | undefined): string[] =>
    immutable(value, old, 'p').map(({ message }) => message)
  t.strictSame(changed({ a: [1] }, { a: [1] }), [])
  t.strictSame(changed(undefined, null), [])
  t.strictSame(changed(1, 2), ['Invalid value: 1: field is immutable'])
  t.strictSame(changed(undefined, 2), ['Invalid value: null: field is immutable'])
  t.strictSame(changed(0, undefined), ['Invalid value: 0: field is immutable'])
})

t.test('the objects of a list keep their indices', async (t) => {
  t.strictSame(objects([{ a: 1 }, 'x', null, { b: 2 }]), [
    [{ a: 1 }, 0],
    [{ b: 2 }, 3],
  ])
})
