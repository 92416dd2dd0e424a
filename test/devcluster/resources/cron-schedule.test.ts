import t from 'tap'
import { scheduleProblem } from '../../../src/devcluster/resources/builtin/cron-schedule.ts'

t.test('a schedule of the Go library cron is accepted', (t) => {
  const schedules = [
    '* * * * *',
    '*/5 0-6,12 1 JAN-mar,12 sun',
    '5/15 ? * * 1-5/2',
    '@daily',
    '@every 1h30m',
    ' 0 0 1 1 * ',
    'TZ=UTC 0 0 * * *',
  ]
  for (const schedule of schedules) t.equal(scheduleProblem(schedule), undefined, schedule)
  t.end()
})

t.test('an invalid schedule is refused with its error', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'expected exactly 5 fields, found 0: []'],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * 5-3 *', 'beginning of range (5) beyond end of range (3): 5-3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ]
  for (const [schedule, problem] of cases) t.equal(scheduleProblem(schedule), problem, schedule)
  t.end()
})
