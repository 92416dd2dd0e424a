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
  // The messages are those of `ParseStandard` in github.com/robfig/cron v3.0.1. `ParseStandard` rejects `L`, `W`, `#`, seconds and years,
  // although other cron dialects accept them.
  const cases: readonly (readonly [string, string])[] = [
    ['', 'empty spec string'],
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
    ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
    ['@every 1h 30m', 'failed to parse duration @every 1h 30m: time: unknown unit "h " in duration "1h 30m"'],
    ['@reboot', 'unrecognized descriptor: @reboot'],
    ['@EVERY 1h', 'unrecognized descriptor: @EVERY 1h'],
    ['@Hourly', 'unrecognized descriptor: @Hourly'],
    ['0 0 L * *', 'failed to parse int from L: strconv.Atoi: parsing "L": invalid syntax'],
    ['0 0 1W * *', 'failed to parse int from 1W: strconv.Atoi: parsing "1W": invalid syntax'],
    ['0 0 LW * *', 'failed to parse int from LW: strconv.Atoi: parsing "LW": invalid syntax'],
    ['0 0 * * 5#2', 'failed to parse int from 5#2: strconv.Atoi: parsing "5#2": invalid syntax'],
    ['0 0 * * 5L', 'failed to parse int from 5L: strconv.Atoi: parsing "5L": invalid syntax'],
    [
      '*/99999999999999999999 * * * *',
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    [
      '99999999999999999999 * * * *',
      'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
    ],
    ['5-/2 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['/5 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['* * * * sunday', 'failed to parse int from sunday: strconv.Atoi: parsing "sunday": invalid syntax'],
    ['* * * january *', 'failed to parse int from january: strconv.Atoi: parsing "january": invalid syntax'],
    ['0 0 1 1 * 2030', 'expected exactly 5 fields, found 6: [0 0 1 1 * 2030]'],
    ['H * * * *', 'failed to parse int from H: strconv.Atoi: parsing "H": invalid syntax'],
    ['0 0 1 * fri-sun', 'beginning of range (5) beyond end of range (0): fri-sun'],
    ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['TZ=', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['CRON_TZ=', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['TZ=Europe/Nowhere * * * * *', 'provided bad location Europe/Nowhere: unknown time zone Europe/Nowhere'],
    ['TZ=europe/berlin * * * * *', 'provided bad location europe/berlin: unknown time zone europe/berlin'],
    ['TZ=UTC\t0 0 * * *', 'provided bad location UTC\t0: unknown time zone UTC\t0'],
    ['tz=UTC 0 0 * * *', 'expected exactly 5 fields, found 6: [tz=UTC 0 0 * * *]'],
    ['TZ=../x * * * * *', 'provided bad location ../x: time: invalid location name'],
    [' @daily', 'expected exactly 5 fields, found 1: [@daily]'],
    ['0 0 -5 * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['@every 100000000h', 'failed to parse duration @every 100000000h: time: invalid duration "100000000h"'],
    ['"x" * * * *', 'failed to parse int from "x": strconv.Atoi: parsing "\\"x\\"": invalid syntax'],
    ['é * * * *', 'failed to parse int from é: strconv.Atoi: parsing "é": invalid syntax'],
    ['1- * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['@daily ', 'unrecognized descriptor: @daily '],
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
