/**
 * Tests of CEL library functions. The cases are special cases in which the result depends on details of Kubernetes' implementation in Go.
 */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileExpression } from '../../src/cel/environment.ts'
import { dataType } from '../../src/cel/types/data-type.ts'
import { declareType } from '../../src/cel/types/declared-type.ts'
import { describeValue } from './recorded/describe-value.ts'

const text: StructuralSchema = { type: 'string' }
const schema: StructuralSchema = {
  type: 'object',
  properties: {
    list: { type: 'array', items: text },
    map: { type: 'object', additionalProperties: text },
    object: { type: 'object', properties: { a: text } },
    empty: text,
  },
}
const object: JsonObject = { list: [], map: {}, object: {}, empty: '' }

/** Returns the value or the error of an expression. */
function evaluate(source: string): string {
  const compiled = compileExpression(source, { self: declareType(schema, 'selfType1')!.type })
  if ('problem' in compiled) return compiled.problem
  const { value, error } = compiled.expression.evaluate([dataType(schema)(object)])
  return error === undefined ? describeValue(value!) : `error ${error.message}`
}

const expressions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'an empty value of the object is no zero value, unlike an empty literal': {
    'optional.ofNonZeroValue(self.list).hasValue()': 'true',
    'optional.ofNonZeroValue(self.map).hasValue()': 'true',
    'optional.ofNonZeroValue(self.object).hasValue()': 'true',
    'optional.ofNonZeroValue(self.empty).hasValue()': 'false',
    'optional.ofNonZeroValue([]).hasValue()': 'false',
    'optional.ofNonZeroValue({}).hasValue()': 'false',
  },
  'only a version that is to be normalized is': {
    "string(semver('v1.2', true).minor())": '"2"',
    "semver(self.empty + 'v1.2', false).minor()": 'error No Major.Minor.Patch elements found',
    "semver(self.empty + 'v1.2.3', false).minor()": 'error Invalid character(s) found in major number "v1"',
    "semver(self.empty + '1.02.3', false).minor()": 'error Minor number must not contain leading zeroes "02"',
    "isSemver(self.empty + '1.02.3', false)": 'false',
  },
  'integers beyond 2^53 are formatted with all their digits': {
    "'%d'.format([9223372036854775807])": '"9223372036854775807"',
    "'%d'.format([-9007199254740993])": '"-9007199254740993"',
    "'%b'.format([9007199254740993])": `"1${'0'.repeat(52)}1"`,
    "'%o'.format([9007199254740993])": '"400000000000000001"',
    "'%x'.format([9223372036854775807])": '"7fffffffffffffff"',
    "'%X'.format([9223372036854775807])": '"7FFFFFFFFFFFFFFF"',
    "'%s'.format([9007199254740993])": '"9007199254740993"',
  },
  'hexadecimal floats have the range of a float64': {
    "double(self.empty + '0x1p-1074') > 0.0": 'true',
    "double(self.empty + '0x1.8p-1074') > 0.0": 'true',
    "double(self.empty + '0x1p-1076') > 0.0": 'false',
    // A subnormal float has fewer than 53 significant bits. The exact value must be rounded only once, to the bits of the subnormal float.
    // If the exact value were rounded to 53 bits first, the second rounding could return a wrong float.
    "double(self.empty + '0x2.80000000000000001p-1074') == 1.5e-323": 'true',
    "double(self.empty + '0x2.8p-1074') == 1e-323": 'true',
    "double(self.empty + '0x0.8p-1074') == 0.0": 'true',
    "double(self.empty + '0x0.80000000000000001p-1074') == 5e-324": 'true',
    "double(self.empty + '0x1p-99999999999999999999999999') == 0.0": 'true',
    "double(self.empty + '0x0.8p1024') == double('0x1p1023')": 'true',
    "double(self.empty + '0x0p2000') == 0.0": 'true',
    [`double(self.empty + '0x1${'0'.repeat(300)}p-1200') == 1.0`]: 'true',
    [`double(self.empty + '0x1000000000000080${'0'.repeat(300)}p-1260') == 1.0`]: 'true',
    [`double(self.empty + '0x1000000000000080${'0'.repeat(299)}1p-1260') == 1.0`]: 'false',
  },
  'a time zone has its name in the IANA database': {
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'Europe/Berlin')": '1',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'US/Eastern')": '19',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'EST')": '19',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'Local')": '0',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'europe/berlin')": 'error unknown time zone europe/berlin',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'EUROPE/Berlin')": 'error unknown time zone EUROPE/Berlin',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + '+0100')": 'error unknown time zone +0100',
    "timestamp('2020-01-01T00:00:00Z').getHours(self.empty + 'PST')": 'error unknown time zone PST',
  },
  'a scheme has letters, digits, plus signs, dots and dashes': {
    "url(self.empty + 'a+b.c-1://x').getScheme()": '"a+b.c-1"',
    "url(self.empty + 'a_b://x').getScheme()":
      'error URL parse error during conversion from string: parse "a_b://x": invalid URI for request',
    "url(self.empty + '://x').getScheme()": 'error URL parse error during conversion from string: parse "://x": missing protocol scheme',
    "url(self.empty + '1a://x').getScheme()":
      'error URL parse error during conversion from string: parse "1a://x": first path segment in URL cannot contain colon',
  },
  'a sum with zero is the other quantity': {
    "quantity('0m').add(quantity('1')).asInteger()": '1',
    "quantity('0m').sub(quantity('1')).asInteger()": '-1',
    "quantity('1').add(quantity('0m')).asInteger()": '1',
    "quantity('1').sub(quantity('0m')).asInteger()": '1',
    "quantity('500m').add(quantity('500m')).isInteger()": 'false',
  },
  'a quantity is an integer up to 64 bits, unless a sum on the way to it had more': {
    "quantity('9E').add(quantity('223372036854775807')).asInteger()": '9223372036854775807',
    "quantity('9E').add(quantity('223372036854775808')).isInteger()": 'false',
    "quantity('-9E').sub(quantity('223372036854775808')).asInteger()": '-9223372036854775808',
    "quantity('-9E').sub(quantity('223372036854775809')).isInteger()": 'false',
    "quantity('9E').add(quantity('223372036854775808')).sub(quantity('223372036854775808')).isInteger()": 'false',
    "quantity('-9E').sub(quantity('223372036854775809')).add(quantity('223372036854775809')).isInteger()": 'false',
    "quantity('9E').add(quantity('9E')).sub(quantity('9E')).asInteger()": '9000000000000000000',
  },
  'an integer may have any number of leading zeros': Object.fromEntries(
    [
      ['0', '0'],
      ['-0', '0'],
      ['+7', '7'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      [`-${'0'.repeat(100)}12`, '-12'],
      [`${'0'.repeat(100)}`, '0'],
      ...['9223372036854775808', '-9223372036854775809', '9'.repeat(20), '', '-', '1_0', '0x1', '--1', ' 1'].map(
        (text) => [text, "error type conversion error from 'string' to 'int'"] as const,
      ),
    ].map(([text, result]) => [`int(self.empty + '${text}')`, result!] as const),
  ),
  'an unsigned integer may have any number of leading zeros': Object.fromEntries(
    [
      ['18446744073709551615', 'true'],
      [`${'0'.repeat(100)}18446744073709551615`, 'true'],
      ...['18446744073709551616', '9'.repeat(21), '', '-1', '+1', '1u'].map(
        (text) => [text, "error type conversion error from 'string' to 'uint'"] as const,
      ),
    ].map(([text, result]) => [`uint(self.empty + '${text}') == 18446744073709551615u`, result!] as const),
  ),
  'the size of a text is its number of code points': {
    [`('${'👑'.repeat(30)}' + self.empty).size()`]: '30',
    [`('${'a'.repeat(30)}👑' + self.empty).size()`]: '31',
    [`('a👑' + self.empty).size()`]: '2',
  },
  'the exponent of a quantity has an absolute value of up to 400': {
    "isQuantity('1e400') && isQuantity('1e-400')": 'true',
    "isQuantity('1e401') || isQuantity('1e-401')": 'false',
  },
  'the exact value of a float is rounded, and a tie is rounded to the even digit': {
    "['%.2f'.format([0.125]), '%.0f'.format([2.5]), '%.0f'.format([3.5])]": '["0.12", "2", "4"]',
    "['%.2f'.format([1.005]), '%.20f'.format([1.005])]": '["1.00", "1.00499999999999989342"]',
    "['%.0f'.format([-0.5]), '%.2f'.format([-0.001]), '%.2f'.format([-0.0])]": '["-0", "-0.00", "0.00"]',
    "'%.1f'.format([9007199254740994.0])": '"9,007,199,254,740,994.0"',
    "['%e'.format([10000005.0]), '%e'.format([30000045.0])]": '["1.000000×10⁰⁷", "3.000004×10⁰⁷"]',
    "'%s'.format([[0.0078125, 0.0234375, 1e21]])": '"[0.007812, 0.023438, 1000000000000000000000.000000]"',
    "'%s'.format([[-0.0, -1e-9]])": '"[-0.000000, -0.000000]"',
  },
  'a number is formatted with up to 100 fractional digits': {
    "'%.100f'.format([1.5]).size()": '102',
    "'%.101f'.format([1.5]).size()": '102',
  },
  'a range that could not be held is refused': {
    'lists.range(9223372036854775807).size() > 0': 'error operation cancelled: actual cost limit exceeded',
    'lists.range(9007199254740991).size() > 0': 'error operation cancelled: actual cost limit exceeded',
    'lists.range(-9223372036854775807).size()': '0',
    'lists.range(3)': '[0, 1, 2]',
  },
}

for (const [name, results] of Object.entries(expressions)) {
  t.test(name, async (t) => {
    for (const [source, result] of Object.entries(results)) t.equal(evaluate(source), result, source)
  })
}

t.test('the minimum size of an object counts the bytes of its required fields', async (t) => {
  const sizeOf = (field: string): number | undefined =>
    declareType({ type: 'object', required: [field], properties: { [field]: text } }, 'selfType1')?.minSize
  t.strictSame([sizeOf('a'), sizeOf('é')], [9, 10])
})

t.test('an address belongs to the ranges of its first bits', async (t) => {
  const ranges: Readonly<Record<string, readonly string[]>> = {
    isUnspecified: ['0.0.0.0', '::'],
    isLoopback: ['127.0.0.0', '127.255.255.255', '::1'],
    isLinkLocalMulticast: ['224.0.0.0', '224.0.0.255', 'ff02::', 'ff12::1', 'fff2::1'],
    isLinkLocalUnicast: ['169.254.0.0', '169.254.255.255', 'fe80::', 'febf:ffff::'],
    isGlobalUnicast: [
      ...['0.0.0.1', '126.255.255.255', '128.0.0.0', '168.254.0.0', '169.253.0.0', '169.255.0.0', '223.255.255.255', '240.0.0.0'],
      ...['254.128.0.1', '255.255.255.254', '::2', '1::', 'fd80::1', 'fe7f::', 'fec0::', '7e80::1', 'fe00::1', '2001:db8::ff02'],
    ],
  }
  const multicast = ['224.0.1.0', '224.1.0.0', '225.0.0.0', '239.255.255.255', 'ff01::1', 'ff05::1', 'ff0e::1']
  const all = [...new Set([...Object.values(ranges).flat(), ...multicast, '255.255.255.255'])]
  for (const [range, addresses] of Object.entries(ranges))
    for (const address of all) t.equal(evaluate(`ip('${address}').${range}()`), String(addresses.includes(address)), `${address} ${range}`)
})

t.test('each clause of a format accepts values of certain types', async (t) => {
  const values: Readonly<Record<string, readonly [source: string, name: string]>> = {
    list: ['[1]', 'list'],
    map: ["{'a': 1}", 'map'],
    int: ['1', 'int'],
    uint: ['1u', 'uint'],
    double: ['1.5', 'double'],
    bool: ['true', 'bool'],
    string: ["'a'", 'string'],
    timestamp: ['timestamp(0)', 'google.protobuf.Timestamp'],
    bytes: ["b'a'", 'bytes'],
    duration: ["duration('1s')", 'google.protobuf.Duration'],
    type: ['int', 'type'],
    null: ['null', 'null_type'],
    optional: ['optional.of(1)', 'optional_type'],
    quantity: ["quantity('1')", 'kubernetes.Quantity'],
  }
  const plain = ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null']
  const clauses: Readonly<Record<string, readonly [accepted: readonly string[], problem: string]>> = {
    s: [plain, 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'],
    d: [['int', 'uint'], 'decimal clause can only be used on integers'],
    f: [['double', 'string'], 'fixed-point clause can only be used on doubles'],
    e: [['double', 'string'], 'scientific clause can only be used on doubles'],
    b: [['int', 'uint', 'bool'], 'only integers and bools can be formatted as binary'],
    x: [['int', 'uint', 'string', 'bytes'], 'only integers, byte buffers, and strings can be formatted as hex'],
    X: [['int', 'uint', 'string', 'bytes'], 'only integers, byte buffers, and strings can be formatted as hex'],
    o: [['int', 'uint'], 'octal clause can only be used on integers'],
  }
  for (const [clause, [accepted, problem]] of Object.entries(clauses))
    for (const [kind, [source, name]] of Object.entries(values)) {
      const compiled = compileExpression(`'%${clause}'.format([${source}])`, {})
      const refused = `error during formatting: ${problem}, was given `
      t.equal('problem' in compiled && compiled.problem.includes(refused), !accepted.includes(kind), `%${clause} of ${kind}`)
      if (accepted.includes(kind) || kind === 'null') continue
      // The type check does not know the type inside `dyn`, so a wrong type is an error of the evaluation.
      t.equal(evaluate(`'%${clause}'.format([dyn(${source})])`), `error ${refused}${name}`, `%${clause} of dyn(${kind})`)
    }
  t.equal(evaluate("'%f'.format([dyn('a')])"), `error error during formatting: ${clauses.f![1]}, was given string`)
  for (const text of ['NaN', 'Infinity', '-Infinity']) t.notMatch(evaluate(`'%f'.format(['${text}'])`), /error/, text)
})

t.test('every escape sequence of a literal has its character', async (t) => {
  const all = String.raw`\a\b\f\n\r\t\v\\\'\"` + '\\`\\?'
  const characters = '\u0007\b\f\n\r\t\v\\\'"`?'
  t.equal(evaluate(`'${all}'`), JSON.stringify(characters))
  t.equal(evaluate(`b'${all}'`), `b'${Buffer.from(characters).toString('hex')}'`)
  t.equal(evaluate(String.raw`'\x41\101\u00e9\U0001F451'`), '"AAé👑"')
  t.equal(evaluate(String.raw`b'\xff\377é'`), "b'ffffc3a9'")
  t.equal(evaluate(String.raw`r'\n'`), String.raw`"\\n"`)
})
