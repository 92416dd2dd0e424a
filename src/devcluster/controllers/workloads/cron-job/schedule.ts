/** Computes the times that the schedule of a CronJob selects (github.com/robfig/cron v3: SpecSchedule.Next, ConstantDelaySchedule.Next). */
import { Cron } from 'croner'
import type { ScheduleField } from '../../../resources/builtin/cron-schedule.ts'
import { parseSchedule } from '../../../resources/builtin/cron-schedule.ts'
import { offsetsOf } from '../../../../api/time-zone.ts'

/** A parsed schedule. Its times are in milliseconds since 1970. */
export interface Schedule {
  /** Returns the first selected time after `time`; undefined when no time is selected within five years, e.g. for February 30. */
  next(time: number): number | undefined
}

const secondMs = 1000
const weekMs = 7 * 24 * 3600 * secondMs
/** Number of years after which the search for the next time ends (github.com/robfig/cron v3: yearLimit). */
const maxYears = 5

/** Parses a schedule. A time zone in `text` takes precedence over `timeZone`. Returns an error message when the schedule is invalid. */
export function scheduleOf(text: string, timeZone = 'UTC'): Schedule | string {
  const parsed = parseSchedule(text)
  if (typeof parsed === 'string') return parsed
  const { times, timeZone: ownZone } = parsed
  if (typeof times === 'number') return { next: (time) => Math.floor(time / secondMs) * secondMs + times }
  return calendar(times, ownZone || timeZone)
}

/**
 * Returns the schedule with these fields. At a clock change, the result is the same as in Kubernetes:
 *
 * - A local time that the change skips is not selected.
 * - A local time that occurs twice is selected twice.
 *
 * With a time zone, the library croner would move a skipped time, and select a repeated time only once. Therefore, croner searches with a
 * fixed offset from UTC. If the offset of the time zone changes before the found time, the search starts again at the change, with the new
 * offset.
 */
function calendar(fields: readonly ScheduleField[], timeZone: string): Schedule {
  if (fields.some(({ values }) => values.length === 0)) return { next: () => undefined }
  // If the day of the month or the day of the week is `*`, a time must match both fields. If neither field is `*`, a time must match at
  // least one of the two fields.
  const domAndDow = fields[2]!.isStar || fields[4]!.isStar
  const cron = new Cron(fields.map(({ values }) => values.join(',')).join(' '), { mode: '5-part', utcOffset: 0, domAndDow })
  const offsetAt = offsetsOf(timeZone)
  return {
    next(time) {
      const lastYear = new Date(time).getUTCFullYear() + maxYears
      for (let from = time; ;) {
        const offset = offsetAt(from + secondMs)
        const local = cron.nextRun(new Date(from + offset))
        if (local === null || local.getUTCFullYear() > lastYear) return undefined
        const found = local.getTime() - offset
        const change = firstChange(offsetAt, from + secondMs, found)
        if (change === undefined) return found
        from = change - secondMs
      }
    },
  }
}

/**
 * Returns the first time at which the offset differs from the offset at `from`. The search covers the times after `from`, up to and
 * including `to`. Returns undefined if the offset does not change. Each offset lasts at least a week, so the search first compares only one
 * time per week.
 */
function firstChange(offsetAt: (time: number) => number, from: number, to: number): number | undefined {
  const offset = offsetAt(from)
  for (let start = from; start < to; start += weekMs) {
    let [before, after] = [start, Math.min(start + weekMs, to)]
    if (offsetAt(after) === offset) continue
    while (after - before > secondMs) {
      const middle = before + Math.floor((after - before) / (2 * secondMs)) * secondMs
      if (offsetAt(middle) === offset) before = middle
      else after = middle
    }
    return after
  }
  return undefined
}
