/** Tests of the schedules of CronJobs. */
import t from 'tap'
import { parseSchedule } from '../../../src/operators/cronjob/schedule.ts'
import { lastTime, nextTime, randomSchedule } from '../../support/cronjob/random-schedule.ts'
import { Dice } from '../../support/dice.ts'
import { fc } from '../../support/property.ts'

const problemsOf = (text: string): readonly (string | undefined)[] => {
  const parsed = parseSchedule(text)
  return 'next' in parsed ? [] : parsed.map(({ message }) => message)
}
const start = Date.parse('2026-01-01T00:00:00Z')

t.test('the times of a schedule are those that its fields select', async () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(4 * 366 * 24 * 3_600_000), (seed, offset) => {
      const schedule = randomSchedule(new Dice(seed))
      const parsed = parseSchedule(schedule.text)
      if (!('next' in parsed)) throw new Error(`${schedule.text} is refused`)
      const now = start + offset
      const [next, latest] = [parsed.next(now), parsed.latest(now)]
      if (next !== nextTime(schedule, now)) throw new Error(`${schedule.text}: the next time after ${now} is not ${next}`)
      if (latest !== lastTime(schedule, 0, now)) throw new Error(`${schedule.text}: the latest time up to ${now} is not ${latest}`)
    }),
    { numRuns: 500 },
  )
})

t.test('a time is its own latest one, and not its own next one', async (t) => {
  const parsed = parseSchedule('0 0 * * *')
  if (!('next' in parsed)) throw new Error('it is refused')
  const day = 24 * 3_600_000
  t.equal(parsed.latest(start), start)
  t.equal(parsed.latest(start - 1), start - day)
  t.equal(parsed.latest(start + 999), start)
  t.equal(parsed.next(start), start + day)
  t.equal(parsed.next(start - 1), start)
})

t.test('schedules are in UTC, whatever the time zone of the process is', async (t) => {
  const before = process.env['TZ']
  t.teardown(() => {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  })
  for (const zone of ['America/St_Johns', 'Asia/Kathmandu', 'UTC']) {
    process.env['TZ'] = zone
    const parsed = parseSchedule('30 12 * * *')
    if (!('next' in parsed)) throw new Error('it is refused')
    t.equal(new Date(parsed.next(start)).toISOString(), '2026-01-01T12:30:00.000Z', zone)
    t.equal(new Date(parsed.latest(start)!).toISOString(), '2025-12-31T12:30:00.000Z', zone)
  }
})

t.test('macros, names, blanks and both kinds of stars are accepted', async (t) => {
  for (const text of ['@hourly', '@daily', '0 0 29 2 *', '*/5 1-5/2 ? jan-MAR mon,WED', ' 0\t0 1 * *\n', '5/10 * * * 6', '0 0 31 2 MON'])
    t.strictSame(problemsOf(text), [], text)
})

t.test('a list with a star restricts nothing, and its values are compared as numbers', async (t) => {
  const nextOf = (text: string): string => {
    const parsed = parseSchedule(text)
    return 'next' in parsed ? new Date(parsed.next(start)).toISOString() : String(problemsOf(text))
  }
  t.equal(nextOf('0 0 *,5 * MON'), '2026-01-05T00:00:00.000Z', 'a Monday, not each day')
  t.equal(nextOf('0 0 31,4 2 *'), '2026-02-04T00:00:00.000Z')
  t.equal(nextOf(`${'1,'.repeat(99)}01 * * * *`), '2026-01-01T00:01:00.000Z', 'a field has up to 200 characters')
})

t.test('what is invalid is named with its field and what is expected', async (t) => {
  const fields = 'Expected exactly 5 fields, found'
  const cases: Record<string, string[]> = {
    'invalid-cron-schedule': [`${fields} 1: invalid-cron-schedule`],
    '': [`${fields} 0: `],
    '* * * * * *': [`${fields} 6: * * * * * *`],
    'TZ=UTC * * * * *': ['a time zone is not supported: schedules are in UTC'],
    'CRON_TZ=UTC 1 2 3 4': ['a time zone is not supported: schedules are in UTC'],
    '@every 5m': ['is none of the macros @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly'],
    '@Hourly': ['is none of the macros @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly'],
    '0 0 30 2 *': ['never selects a time, because no month of it has that day'],
    '60 24 0 13 7': [
      'minute: "60" is outside of 0 to 59',
      'hour: "24" is outside of 0 to 23',
      'dayOfMonth: "0" is outside of 1 to 31',
      'month: "13" is outside of 1 to 12 and JAN to DEC',
      'dayOfWeek: "7" is outside of 0 to 6 and SUN to SAT',
    ],
    '5-1 * * * *': ['minute: "5-1" begins after its end'],
    '*-5 * * * *': ['minute: "*-5" is no number, range or step, such as 5, 1-5 or */10'],
    '1, */0 -1 1--2 L': [
      'minute: "" is no number, range or step, such as 5, 1-5 or */10',
      'hour: "*/0" is no number, range or step, such as 5, 1-5 or */10',
      'dayOfMonth: "-1" is no number, range or step, such as 5, 1-5 or */10',
      'month: "1--2" is no number, range or step, such as 5, 1-5 or */10',
      'dayOfWeek: "L" is outside of 0 to 6 and SUN to SAT',
    ],
    '* * 5W * 1#2': [
      'dayOfMonth: "5W" is no number, range or step, such as 5, 1-5 or */10',
      'dayOfWeek: "1#2" is no number, range or step, such as 5, 1-5 or */10',
    ],
    [`${'1,'.repeat(100)}1 * * * *`]: ['minute: has 201 characters, expected at most 200'],
    'MON * * * *': ['minute: "MON" is outside of 0 to 59'],
    '99999999999999999999 * * * *': ['minute: "99999999999999999999" is outside of 0 to 59'],
  }
  for (const [text, problems] of Object.entries(cases)) t.strictSame(problemsOf(text), problems, text)
})

t.test('any text is parsed or refused, without an exception', async () => {
  const character = fc.constantFrom(...'0123456789*?/-,@ \tJANMONLW#é\u00a0')
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 40 }), (text) => {
      parseSchedule(text)
    }),
    { numRuns: 2000 },
  )
})
