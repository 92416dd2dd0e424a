import t from 'tap'
import type { JsonValue } from '../../src/api/json.ts'
import { stringifyJson } from '../../src/api/json.ts'
import { JsonSyntaxError } from '../../src/api/json-cursor.ts'
import { JsonReader, parseJson, parseJsonBytes, readNumber } from '../../src/api/json-reader.ts'
import { fc } from '../support/property.ts'

/** Parses a string with `JsonReader`, without the fast path that uses `JSON.parse`. Each step reads at most `count` values. */
const slowly = (text: string, count = Infinity): unknown => {
  const reader = new JsonReader(text)
  while (!reader.read(count));
  return reader.value
}

t.test('numbers are read as Go reads them, and in one step as in several', (t) => {
  const numbers: [string, number | bigint][] = [
    ['0', 0],
    ['-1', -1],
    ['1.0', 1],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['9007199254740993.0', 9007199254740992],
    ['9007199254740993e0', 9007199254740992],
    ['-9223372036854777856', -(2 ** 63) - 2048],
    ['18446744073709551615', 2 ** 64],
    ['123456789012345678901234567890', 123456789012345678901234567890],
    ['-1e400', -Infinity],
    ['1e400', Infinity],
    ['9'.repeat(400), Infinity],
  ]
  for (const [token, value] of numbers) {
    t.equal(readNumber(token), value, token)
    t.equal(parseJson(token), value, `parseJson: ${token}`)
    t.equal(slowly(token), value, `JsonReader: ${token}`)
  }
  t.end()
})

t.test('an integer of millions of digits takes linear time', (t) => {
  // The test reads the token 100 times. `BigInt` would need more than a second for each read, and minutes for the test.
  const [token, count] = ['9'.repeat(8_000_000), 100]
  for (let left = count; left > 0; left -= 1) if (readNumber(token) !== Infinity) t.fail('it is beyond the range of a float')
  t.end()
})

t.test('integers beyond 2^53 are written as they were read', (t) => {
  const texts = [
    '9007199254740993',
    '{"a":[1,-9007199254740993,{"b":9223372036854775807}]}',
    '["1234567890123456789"]',
    '{"__proto__":9007199254740993}',
  ]
  for (const text of texts) {
    t.equal(stringifyJson(parseJson(text)), text)
    t.equal(stringifyJson(parseJsonBytes(Buffer.from(text))), text)
  }
  t.equal(stringifyJson({ a: 9007199254740993n }, 2), '{\n  "a": 9007199254740993\n}')
  const circle: unknown[] = []
  circle.push(circle)
  t.throws(() => stringifyJson(circle), TypeError)
  t.throws(() => stringifyJson([1n, circle]), TypeError)
  t.throws(() => JSON.stringify(1n), TypeError, 'JSON.stringify is unchanged')
  t.end()
})

t.test('one integer beyond 2^53 does not slow down writing the rest of the object', (t) => {
  const numbers = Array.from({ length: 500_000 }, (_, index) => index)
  const cost = (write: () => unknown): number => {
    const before = process.threadCpuUsage()
    write()
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }
  const least = (write: () => unknown): number => Math.min(...Array.from({ length: 5 }, () => cost(write)))
  const [plain, exact] = [least(() => JSON.stringify(numbers)), least(() => stringifyJson([9007199254740993n, numbers]))]
  t.ok(exact < 6 * plain, `${exact} µs, and ${plain} without it`)
  t.end()
})

t.test('a long integer is found at any offset', (t) => {
  for (let offset = 0; offset < 40; offset += 1) {
    for (const integer of [9007199254740992n, -9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)]) {
      for (const [before, after] of [
        ['', ''],
        ['[', ']'],
        ['[ ', ' ]'],
        ['[0,', ',1]'],
        ['{"a":', '}'],
        ['{"a":\n', '\n}'],
        ['[1e5,\t', '\t]'],
      ]) {
        const text = `${' '.repeat(offset)}${before}${integer}${after}`
        const expected = slowly(text)
        t.strictSame(parseJson(text), expected, text)
        t.strictSame(parseJsonBytes(Buffer.from(text)), expected)
      }
    }
    const digest = `{"a":"sha256:${'1234567890'.repeat(2).slice(0, 16)}ab","b":"${'9'.repeat(offset)}","c":9007199254740993}`
    t.match(parseJson(digest), { c: 9007199254740993n }, 'also behind digits within a string')
  }
  t.end()
})

t.test('invalid JSON with long integers is refused', (t) => {
  const long = '9007199254740993'
  for (const text of [
    `{${long}:1}`,
    `{"a":1,${long} :1}`,
    `{"a":1,${long}}`,
    `[1 ${long}]`,
    `[--${long}]`,
    `["a" ${long}]`,
    `[0${long.slice(1)}]`,
    `[-0${long.slice(1)}]`,
    `[${long}`,
    `[${long}],`,
    `"a\\" ${long}`,
    `["a\n", ${long}]`,
  ]) {
    let message = ''
    try {
      JSON.parse(text)
    } catch (error) {
      message = (error as Error).message
    }
    t.throws(() => parseJson(text), new SyntaxError(message), text)
  }
  t.end()
})

t.test('long integers are read at any depth, and the last duplicate key wins', (t) => {
  const depth = 100_000
  let value = parseJson(`${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`)
  for (let left = depth; left > 0; left -= 1) value = (value as JsonValue[])[0]!
  t.equal(value, 9007199254740993n)
  t.strictSame(parseJson('{"a": 9007199254740993, "a":\t-9007199254740993\n, "b": "c, 9007199254740993, \\", 9007199254740993"}'), {
    a: -9007199254740993n,
    b: 'c, 9007199254740993, ", 9007199254740993',
  })
  t.end()
})

t.test('long integers are found among any other text', (t) => {
  const pieces = fc.constantFrom(
    ' ',
    ',',
    '"a',
    '1',
    '12345678901234567',
    '9007199254740993',
    '-',
    '.5',
    'e3',
    '123456789012345678901234',
    'é',
  )
  const strings = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))
  const numbers = fc.constantFrom(
    '9007199254740993',
    '-9223372036854775808',
    '9223372036854775808',
    '0.1234567890123456',
    '1e20',
    '1234567890123456.5',
    '7',
  )
  const texts = fc
    .array(fc.tuple(strings, numbers, fc.constantFrom('', ' ')), { maxLength: 4 })
    .map((entries) => `[${entries.map(([text, number, space]) => `${JSON.stringify(text)},${space}${number}${space}`).join()}]`)
  fc.assert(
    fc.property(texts, (text) => t.strictSame(parseJson(text), slowly(text)) || true),
    { numRuns: 500 },
  )
  t.end()
})

t.test('all other values are read like JSON.parse', (t) => {
  const texts = fc.json({ maxDepth: 4 }).chain((text) => fc.constantFrom(text, JSON.stringify(JSON.parse(text), null, 2)))
  // `stringifyJson` writes a double beyond 2^53 with all its digits, and `JsonReader` reads these digits as a bigint. `rounded` converts
  // the bigint back to the double that `JSON.parse` returns.
  const rounded = (value: unknown): unknown => JSON.parse(stringifyJson(value)!)
  fc.assert(
    fc.property(
      texts,
      fc.integer({ min: 1, max: 5 }),
      (text, count) => t.strictSame(rounded(slowly(text, count)), JSON.parse(text)) || true,
    ),
  )
  t.strictSame(rounded(slowly('[-282099477537043300]')), [-282099477537043300])
  t.strictSame(slowly('{"a":1,"a":2,"__proto__":{"b":1}}'), JSON.parse('{"a":1,"a":2,"__proto__":{"b":1}}'))
  t.end()
})

t.test('invalid JSON is refused like JSON.parse refuses it', (t) => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '\\', '0', 'x', '\u0001', ':'))
    .map(([text, at, piece]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + piece + text.slice(place + 1)
    })
  const parses = (read: (text: string) => unknown, text: string): boolean => {
    try {
      read(text)
      return true
    } catch (error) {
      if (error instanceof SyntaxError) return false
      throw error
    }
  }
  fc.assert(
    fc.property(broken, (text) => parses(slowly, text) === parses(JSON.parse, text)),
    { numRuns: 1000 },
  )
  for (const text of ['', ' ', '1 2', '[1,]', '{"a"}', '{a:1}', '01', '1.', '-', 'nul', '"\n"', '[', '{"a":', '"\\u12"']) {
    t.equal(parses(slowly, text), false, JSON.stringify(text))
  }
  t.throws(() => parseJson('[9007199254740993'), { message: /in JSON at position 17|end of JSON input|after array element/ })
  t.end()
})

t.test('the reader reads in any number of steps, and freezes', (t) => {
  const reader = new JsonReader('{"a":[{},[],{"b":1}]}', { freeze: true })
  let goes = 1
  while (!reader.read(1)) goes += 1
  t.ok(goes >= 5)
  const { value } = reader as unknown as { value: { a: unknown[] } }
  t.strictSame(value, { a: [{}, [], { b: 1 }] })
  t.ok([value, value.a, ...value.a].every(Object.isFrozen))
  t.end()
})

t.test('an error of a text that is not JSON has its position', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'end of the text at position 0'],
    ['  ', 'end of the text at position 2'],
    ['x', 'character at position 0'],
    ['[1 2]', 'character at position 3'],
    ['[1', 'end of the text at position 2'],
    ['{"a" 1}', 'character at position 5'],
    ['{a:1}', 'character at position 1'],
    ['{"a":1,}', 'character at position 7'],
    ['{"a":1]', 'character at position 6'],
    ['[1}', 'character at position 2'],
    ['1 2', 'character at position 2'],
    ['"a', 'end of the text at position 2'],
    ['"a\nb"', 'character at position 2'],
    ['["\\x"]', 'character at position 3'],
    ['["\\ug123"]', 'character at position 4'],
    ['["\\u1g23"]', 'character at position 5'],
    ['["\\u12g4"]', 'character at position 6'],
    ['["\\u123g"]', 'character at position 7'],
    ['"\\u123', 'end of the text at position 6'],
    ['"\\', 'end of the text at position 2'],
    ['tru', 'character at position 0'],
  ]
  for (const [text, problem] of cases)
    t.throws(() => slowly(text), { name: 'SyntaxError', message: new RegExp(`^Unexpected ${problem}$`) }, text)
})

t.test('an error has the unexpected character and the place in the grammar', async (t) => {
  const cases: readonly (readonly [text: string, character: string | undefined, context: string])[] = [
    ['"a\n"', '\n', 'in string literal'],
    ['"a\u001f"', '\u001f', 'in string literal'],
    ['"a', undefined, 'in string literal'],
    ['"\\a"', 'a', 'in string escape code'],
    ['"\\', undefined, 'in string escape code'],
    ['"\\u00x0"', 'x', 'in \\u hexadecimal character escape'],
    // The characters directly before and after the ranges of hexadecimal digits.
    ...['/', ':', '@', 'G', '`', 'g'].map((digit) => [`"\\u00${digit}0"`, digit, 'in \\u hexadecimal character escape'] as const),
    ['"\\u00', undefined, 'in \\u hexadecimal character escape'],
    ['[x', 'x', 'looking for beginning of value'],
    ['[', undefined, 'looking for beginning of value'],
    ['[1,]', ']', 'looking for beginning of value'],
    ['1 2', '2', 'after top-level value'],
    ['[1}', '}', 'after array element'],
    ['{"a":1]', ']', 'after object key:value pair'],
    ['{,', ',', 'looking for beginning of object key string'],
    ['{"a":1,}', '}', 'looking for beginning of object key string'],
    ['{"a";1}', ';', 'after object key'],
  ]
  for (const [text, character, context] of cases) {
    try {
      slowly(text)
      t.fail(text)
    } catch (error) {
      t.ok(error instanceof JsonSyntaxError, text)
      t.strictSame([(error as JsonSyntaxError).character, (error as JsonSyntaxError).context], [character, context], text)
    }
  }
  t.equal(slowly('"\\u09af\\u09AF"'), '\u09af\u09af', 'the first and last digits of each range')
  t.equal(slowly('"a\u007f "'), 'a\u007f ', 'control characters beyond those of ASCII C0 are allowed')
})

t.test('a read takes at most as many values as requested', async (t) => {
  /** Returns the number of calls of `read` that the text needs if each call reads up to `count` values. */
  const calls = (text: string, count: number): number => {
    const reader = new JsonReader(text)
    let calls = 1
    while (!reader.read(count)) calls += 1
    return calls
  }
  // A list or an object counts as one value, in addition to the values that it contains.
  t.strictSame([calls('[1,2,3]', 1), calls('[1,2,3]', 2), calls('[1,2,3]', 3), calls('[1,2,3]', 4)], [4, 2, 2, 1])
  t.strictSame([calls('{"a":{},"b":[[]]}', 1), calls('"x"', 1), calls('[]', 1), calls('{}', 1)], [4, 1, 1, 1])
  const reader = new JsonReader('[1]')
  t.equal(reader.read(0), false)
  t.equal(reader.value, null)
  t.equal(reader.read(2), true)
  t.strictSame(reader.value, [1])
})

t.test('nothing is frozen by default', async (t) => {
  const reader = new JsonReader('{"a":[],"b":{}}')
  reader.read(10)
  const value = reader.value as Record<string, JsonValue>
  t.notOk([value, value.a, value.b].some(Object.isFrozen))
})

t.test('words, also beside other values and white space', async (t) => {
  t.strictSame([slowly('null'), slowly('true'), slowly('false')], [null, true, false])
  t.strictSame(slowly(' [ null , true,\r\n\tfalse ] '), [null, true, false])
  t.strictSame(slowly('{"a":null,"b":[false]}'), { a: null, b: [false] })
})

t.test('strings are read with their escapes, short and long', async (t) => {
  for (const text of ['', 'a', '12 characters', 'a longer one than that', '\\', '"', '\n', 'ü😀', '\u2028', 'a"b\\c\td'])
    t.equal(slowly(JSON.stringify(text)), text)
  t.equal(slowly('"\\u0041\\/"'), 'A/')
  t.throws(() => slowly('"\\x"'), SyntaxError)
})

t.test('integers of 16 to 19 digits that do not fit a number are exact', async (t) => {
  for (const [text, value] of [
    ['[999999999999999]', 999_999_999_999_999],
    ['[9007199254740991]', 9_007_199_254_740_991],
    ['[9007199254740992]', 9_007_199_254_740_992n],
    ['[1000000000000000]', 1_000_000_000_000_000],
    ['[9223372036854775807]', 9_223_372_036_854_775_807n],
    ['[-9223372036854775808]', -9_223_372_036_854_775_808n],
    ['[9223372036854775808]', 9_223_372_036_854_775_808],
    ['[12345678901234567890]', 12_345_678_901_234_567_890],
    ['[9007199254740993.5]', 9_007_199_254_740_994],
    ['[9007199254740993e1]', 90_071_992_547_409_930],
  ] as const)
    t.strictSame(parseJson(text), [value], text)
  t.equal(parseJson('9007199254740993'), 9_007_199_254_740_993n)
  t.equal(parseJson(' -9007199254740993 '), -9_007_199_254_740_993n)
})
