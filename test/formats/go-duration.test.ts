import t from 'tap'
import { formatGoDuration, parseGoDuration, readGoDuration } from '../../src/formats/go-duration.ts'

// The expected values are those of Go's time.ParseDuration.
t.test("a duration in Go's notation is parsed to nanoseconds", async (t) => {
  for (const [text, nanos] of [
    ['0', 0n],
    ['-0', 0n],
    ['1ns', 1n],
    ['1us', 1_000n],
    ['1µs', 1_000n],
    ['1μs', 1_000n],
    ['1ms', 1_000_000n],
    ['1s', 1_000_000_000n],
    ['1m', 60_000_000_000n],
    ['1h', 3_600_000_000_000n],
    ['1h30m', 5_400_000_000_000n],
    ['+1.5s', 1_500_000_000n],
    ['-1.5s', -1_500_000_000n],
    ['.5s', 500_000_000n],
    ['1.s', 1_000_000_000n],
    ['0.9ns', 0n],
    [`0.${'1'.repeat(400)}s`, 111_111_111n],
    ['00000000000000000000001s', 1_000_000_000n],
    ['9223372036854775807ns', 9223372036854775807n],
    ['-9223372036854775808ns', -9223372036854775808n],
  ] as const)
    t.equal(parseGoDuration(text), nanos, text)
})

t.test('an invalid duration has the error of Go', async (t) => {
  const long = '9'.repeat(100_000)
  for (const [text, error] of [
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['s', 'time: invalid duration "s"'],
    ['.s', 'time: invalid duration ".s"'],
    [' 1s', 'time: invalid duration " 1s"'],
    ['--1s', 'time: invalid duration "--1s"'],
    ['1', 'time: missing unit in duration "1"'],
    ['1s5', 'time: missing unit in duration "1s5"'],
    ['1.2.3s', 'time: missing unit in duration "1.2.3s"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['1s ', 'time: unknown unit "s " in duration "1s "'],
    ['1 s', 'time: unknown unit " s" in duration "1 s"'],
    ['1s-1s', 'time: unknown unit "s-" in duration "1s-1s"'],
    ['1S', 'time: unknown unit "S" in duration "1S"'],
    ['1toString', 'time: unknown unit "toString" in duration "1toString"'],
    ['1"\\é\n', 'time: unknown unit "\\"\\\\\\xc3\\xa9\\x0a" in duration "1\\"\\\\\\xc3\\xa9\\x0a"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['-9223372036854775809ns', 'time: invalid duration "-9223372036854775809ns"'],
    ['2562048h', 'time: invalid duration "2562048h"'],
    [`${long}h`, `time: invalid duration "${long}h"`],
  ] as const) {
    t.equal(readGoDuration(text).error, error, text.slice(0, 30))
    t.equal(parseGoDuration(text), undefined)
  }
})

t.test('durations are formatted as in Go', (t) => {
  const cases: [ms: number, text: string][] = [
    [0, '0s'],
    [5, '5ms'],
    [1500, '1.5s'],
    [10_000, '10s'],
    [80_000, '1m20s'],
    [300_000, '5m0s'],
    [3_661_500, '1h1m1.5s'],
  ]
  for (const [ms, text] of cases) t.equal(formatGoDuration(ms), text)
  t.end()
})
