import t from 'tap'
import { scheduleProblem } from '../../../src/devcluster/resources/builtin/cron-schedule.ts'

t.test('a schedule of the Go library cron is accepted', (t) => {
  const schedules = [
    '* * * * *',
    '*/5 0-6,12 1 JAN-mar,12 sun',
    '5/15 ? * * 1-5/2',
    '@yearly',
    '@annually',
    '@monthly',
    '@weekly',
    '@daily',
    '@midnight',
    '@hourly',
    '@every 1ns2us3ms4s',
    '@every -1.5h',
    '@every 1h30m',
    ' 0 0 1 1 * ',
    'TZ=UTC 0 0 * * *',
    'CRON_TZ=Europe/Berlin 0 0 * * *',
    '0 0 1 1 0',
    '59 23 31 12 6',
    '0,,1 +5 ?/2 * *',
    '7-7 * * * *',
  ]
  for (const schedule of schedules) t.equal(scheduleProblem(schedule), undefined, schedule)
  t.end()
})

t.test('an invalid schedule is refused with its error', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'expected exactly 5 fields, found 0: []'],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['* 24 * * *', 'end of range (24) above maximum (23): 24'],
    ['* * 32 * *', 'end of range (32) above maximum (31): 32'],
    ['* * * 13 *', 'end of range (13) above maximum (12): 13'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['* * * 0 *', 'beginning of range (0) below minimum (1): 0'],
    ['0,61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['70/5 * * * *', 'beginning of range (70) beyond end of range (59): 70/5'],
    ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['1-x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
    ['mon * * * *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * 5-3 *', 'beginning of range (5) beyond end of range (3): 5-3'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['@sometimes', 'unrecognized descriptor: @sometimes'],
    ['@every', 'unrecognized descriptor: @every'],
    ['@every day', 'failed to parse duration @every day: time: invalid duration "day"'],
    ['@every 5', 'failed to parse duration @every 5: time: invalid duration "5"'],
  ]
  for (const [schedule, problem] of cases) t.equal(scheduleProblem(schedule), problem, schedule)
  t.end()
})

t.test('months and weekdays have the names of their numbers', (t) => {
  const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
  const days = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
  for (const [names, first, scheduleOf] of [
    [months, 1, (part: string) => `0 0 1 ${part} *`],
    [days, 0, (part: string) => `0 0 * * ${part}`],
  ] as const) {
    for (const [index, name] of names.entries()) {
      const number = first + index
      t.equal(scheduleProblem(scheduleOf(`${name}-${number}`)), undefined, name)
      t.equal(scheduleProblem(scheduleOf(`${number}-${name.toLowerCase()}`)), undefined, name)
    }
  }
  t.end()
})
