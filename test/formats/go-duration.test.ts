import t from 'tap'
import { parseGoDuration } from '../../src/formats/go-duration.ts'

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
    ['00000000000000000000001s', 1_000_000_000n],
    ['9223372036854775807ns', 9223372036854775807n],
    ['-9223372036854775808ns', -9223372036854775808n],
  ] as const)
    t.equal(parseGoDuration(text), nanos, text)
})

t.test('text in another notation and a duration beyond an int64 are no durations', async (t) => {
  for (const text of [
    ...['', 's', '1', '.s', '1d', ' 1s', '1s ', '1s-1s', '--1s', '1 s', '1S'],
    ...['9223372036854775808ns', '-9223372036854775809ns', '2562048h', `${'9'.repeat(20)}ns`, `${'9'.repeat(100_000)}h`],
  ])
    t.equal(parseGoDuration(text), undefined, text.slice(0, 30))
})
