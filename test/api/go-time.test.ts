import t from 'tap'
import type { ParsedTime } from '../../src/api/go-time.ts'
import { formatUtc, parseMicroTime, parseZonedTime } from '../../src/api/go-time.ts'

const zoned = '2006-01-02T15:04:05Z07:00'
const micro = '2006-01-02T15:04:05.000000Z07:00'

/**
 * Each entry contains a time as text, and two results of Go's `time.Parse` for this text: first the result with the layout of
 * `metav1.Time`, then the result with the layout of `metav1.MicroTime`. If `time.Parse` succeeds, the result is the time in UTC. Otherwise,
 * the result is the end of the error message.
 */
const cases: readonly (readonly [text: string, time: string, microTime: string])[] = [
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'cannot parse "Z" as ".000000"'],
  ['2026-01-01T00:00:00.999999999Z', '2026-01-01T00:00:00.999999999Z', 'cannot parse "999Z" as "Z07:00"'],
  ['2026-01-01T00:00:00,5Z', '2026-01-01T00:00:00.5Z', 'cannot parse ",5Z" as ".000000"'],
  ['2026-01-01T00:00:00-01:30', '2026-01-01T01:30:00Z', 'cannot parse "-01:30" as ".000000"'],
  ['2026-01-01T5:00:00Z', '2026-01-01T05:00:00Z', 'cannot parse "Z" as ".000000"'],
  ['2026-01-01', 'cannot parse "" as "T"', 'cannot parse "" as "T"'],
  ['2026-01-01T00:00:00', 'cannot parse "" as "Z07:00"', 'cannot parse "" as ".000000"'],
  ['x2026-01-01T00:00:00Z', 'cannot parse "x2026-01-01T00:00:00Z" as "2006"', 'cannot parse "x2026-01-01T00:00:00Z" as "2006"'],
  ['2026-13-01T00:00:00Z', 'month out of range', 'month out of range'],
  ['2026-02-30T00:00:00Z', 'day out of range', 'cannot parse "Z" as ".000000"'],
  ['2026-1-01T00:00:00Z', 'cannot parse "1-01T00:00:00Z" as "01"', 'cannot parse "1-01T00:00:00Z" as "01"'],
  ['2026-01-1T00:00:00Z', 'cannot parse "1T00:00:00Z" as "02"', 'cannot parse "1T00:00:00Z" as "02"'],
  ['2026-01-01T24:00:00Z', 'hour out of range', 'hour out of range'],
  ['2026-01-01T00:60:00Z', 'minute out of range', 'minute out of range'],
  ['2026-01-01T00:00:60Z', 'second out of range', 'second out of range'],
  ['2026-01-01t00:00:00Z', 'cannot parse "t00:00:00Z" as "T"', 'cannot parse "t00:00:00Z" as "T"'],
  ['2026-01-01T00:00:00z', 'cannot parse "z" as "Z07:00"', 'cannot parse "z" as ".000000"'],
  ['2026-01-01T00:00:00+24:60', '2025-12-30T23:00:00Z', 'cannot parse "+24:60" as ".000000"'],
  ['2026-01-01T00:00:00+25:00', 'time zone offset hour out of range', 'cannot parse "+25:00" as ".000000"'],
  ['2026-01-01T00:00:00+00:61', 'time zone offset minute out of range', 'cannot parse "+00:61" as ".000000"'],
  ['2026-01-01T00:00:00+99:99', 'time zone offset minute out of range', 'cannot parse "+99:99" as ".000000"'],
  ['2026-01-01T00:00:00Zx', 'extra text: "x"', 'cannot parse "Zx" as ".000000"'],
  ['2026-01-01T00:00:00.Z', 'cannot parse ".Z" as "Z07:00"', 'cannot parse ".Z" as ".000000"'],
  ['2026-01-01T00:00:00.5x', 'cannot parse "x" as "Z07:00"', 'cannot parse ".5x" as ".000000"'],
  [
    '00000000-0000-4000-7000-000000000000',
    'cannot parse "0000-0000-4000-7000-000000000000" as "-"',
    'cannot parse "0000-0000-4000-7000-000000000000" as "-"',
  ],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z', 'cannot parse "Z" as ".000000"'],
  ['0000-01-01T00:00:00+01:00', '-0001-12-31T23:00:00Z', 'cannot parse "+01:00" as ".000000"'],
  ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59Z', 'cannot parse "-01:00" as ".000000"'],
  ['', 'cannot parse "" as "2006"', 'cannot parse "" as "2006"'],
  ['a"\\ü\t', 'cannot parse "a\\"\\\\\\xc3\\xbc\\x09" as "2006"', 'cannot parse "a\\"\\\\\\xc3\\xbc\\x09" as "2006"'],
  ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456Z'],
  ['2026-01-01T00:00:00,123456Z', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456Z'],
  ['2026-01-01T00:00:00.12345Z', '2026-01-01T00:00:00.12345Z', 'cannot parse ".12345Z" as ".000000"'],
  ['2026-01-01T00:00:00.1234567Z', '2026-01-01T00:00:00.1234567Z', 'cannot parse "7Z" as "Z07:00"'],
  ['2026-01-01T00:00:00x123456Z', 'cannot parse "x123456Z" as "Z07:00"', 'cannot parse "x123456Z" as ".000000"'],
  ['2026-01-01T00:00:00.12345x', 'cannot parse "x" as "Z07:00"', 'cannot parse ".12345x" as ".000000"'],
  ['2026-01-01T00:00:00.12345xZ', 'cannot parse "xZ" as "Z07:00"', 'cannot parse ".12345xZ" as ".000000"'],
  ['2026-01-01T00:00:00.', 'cannot parse "." as "Z07:00"', 'cannot parse "." as ".000000"'],
  ['2026-01-00T00:00:00Z', 'day out of range', 'cannot parse "Z" as ".000000"'],
  ['2026-01-01T00:00:00.-12345Z', 'cannot parse ".-12345Z" as "Z07:00"', 'fractional second out of range'],
  ['2026-01-01T00:00:00.+12345Z', 'cannot parse ".+12345Z" as "Z07:00"', '2026-01-01T00:00:00.012345Z'],
  ['-001-01-01T00:00:00Z', 'cannot parse "-001-01-01T00:00:00Z" as "2006"', 'cannot parse "-001-01-01T00:00:00Z" as "2006"'],
  ['2026-01-01T0:0:00Z', 'cannot parse "0:00Z" as "04"', 'cannot parse "0:00Z" as "04"'],
  ['2026-01-01T00:0:00Z', 'cannot parse "0:00Z" as "04"', 'cannot parse "0:00Z" as "04"'],
  ['2026-01-01T00:00:0Z', 'cannot parse "0Z" as "05"', 'cannot parse "0Z" as "05"'],
  ['2026-01-01T00:00:00+0100', 'cannot parse "+0100" as "Z07:00"', 'cannot parse "+0100" as ".000000"'],
  ['2026-01-01T00:00:00+1:00', 'cannot parse "+1:00" as "Z07:00"', 'cannot parse "+1:00" as ".000000"'],
  ['2026-01-01T00:00:00.1234567890123Z', '2026-01-01T00:00:00.123456789Z', 'cannot parse "7890123Z" as "Z07:00"'],
  ['2026-00-01T00:00:00Z', 'month out of range', 'month out of range'],
  ['2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00Z', 'cannot parse "+00:00" as ".000000"'],
]

t.test('times are parsed as time.Parse of Go does', async (t) => {
  for (const [text, time, microTime] of cases) {
    t.equal(resultOf(parseZonedTime(text), zoned), time, `${JSON.stringify(text)} as a Time`)
    t.equal(resultOf(parseMicroTime(text), micro), microTime, `${JSON.stringify(text)} as a MicroTime`)
  }
})

t.test('the zero time of Go is not written', async (t) => {
  const written = (text: string): unknown => {
    const time = parseZonedTime(text)
    return typeof time === 'string' ? time : formatUtc(time)
  }
  t.equal(written('0001-01-01T00:00:00Z'), undefined)
  t.equal(written('0001-01-01T01:00:00+01:00'), undefined)
  t.equal(written('0001-01-01T00:00:00.5Z'), '0001-01-01T00:00:00Z')
})

/**
 * Returns the parsed time in UTC, with the fraction of the second. If `time` is an error message, returns the message without its
 * beginning, which is `parsing time "…":` or `parsing time "…" as "…":`.
 */
function resultOf(time: ParsedTime, layout: string): string | undefined {
  if (typeof time === 'string') return /^parsing time ".*?": (.*)$/.exec(time.replace(` as "${layout}"`, ''))?.[1]
  const fraction = time.nanos === 0 ? '' : `.${String(time.nanos).padStart(9, '0').replace(/0+$/, '')}`
  return formatUtc(time)?.replace('Z', `${fraction}Z`)
}
