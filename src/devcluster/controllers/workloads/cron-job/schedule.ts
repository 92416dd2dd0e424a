/** The times that the schedule of a CronJob selects (github.com/robfig/cron v3: SpecSchedule.Next, ConstantDelaySchedule.Next). */
import { Cron } from 'croner'
import type { ScheduleField } from '../../../resources/builtin/cron-schedule.ts'
import { parseSchedule } from '../../../resources/builtin/cron-schedule.ts'
import { offsetsOf } from '../../../resources/builtin/time-zone.ts'

/** Times are in milliseconds since 1970. */
export interface Schedule {
  /** Returns the first selected time after `time`; undefined when there is none within five years, e.g. for February 30. */
  next(time: number): number | undefined
}

const secondMs = 1000
const weekMs = 7 * 24 * 3600 * secondMs
/** Time after which the search ends (github.com/robfig/cron v3: yearLimit). */
const maxYears = 5

/** Converts a schedule. Without a time zone in the schedule itself or in `timeZone`, it is in UTC. Returns the error of an invalid one. */
export function scheduleOf(text: string, timeZone = 'UTC'): Schedule | string {
  const parsed = parseSchedule(text)
  if (typeof parsed === 'string') return parsed
  const { times, timeZone: ownZone } = parsed
  if (typeof times === 'number') return { next: (time) => Math.floor(time / secondMs) * secondMs + times }
  return calendar(times, ownZone || timeZone)
}

/**
 * Returns the schedule with these fields. A library finds the times for a fixed offset from UTC. Where the clock of the time zone changes,
 * the search starts again with the new offset. So local times that are skipped are not selected, and local times that occur twice are
 * selected twice, as in Kubernetes. With a time zone, the library would do neither.
 */
function calendar(fields: readonly ScheduleField[], timeZone: string): Schedule {
  if (fields.some(({ values }) => values.length === 0)) return { next: () => undefined }
  // A time must match both the day of the month and the day of the week if one of them is `*`; otherwise one of them.
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

/** Returns the first time after `from`, and not after `to`, at which the offset is another one. No offset lasts less than a week. */
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
