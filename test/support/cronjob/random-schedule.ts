/**
 * Generates random schedules. A schedule has a text and, for each field, the set of values that the field selects. The text and the sets
 * are generated together, so no parser is needed.
 */
import type { Dice } from '../dice.ts'

interface RandomField {
  readonly text: string
  readonly values: ReadonlySet<number>
  readonly isStar: boolean
}

export interface RandomSchedule {
  readonly text: string
  /** Minute, hour, day of the month, month and day of the week. */
  readonly fields: readonly RandomField[]
}

const months = ['JAN', 'feb', 'Mar', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const days = ['SUN', 'mon', 'Tue', 'WED', 'THU', 'FRI', 'SAT']
const bounds = [[0, 59], [0, 23], [1, 31], [1, 12], [0, 6]] as const // prettier-ignore
const starChances = [0.02, 0.4, 0.75, 0.85, 0.75]

/** Returns a schedule that selects at least one time in every year. Only a few of these schedules select every minute. */
export function randomSchedule(dice: Dice): RandomSchedule {
  for (;;) {
    const fields = bounds.map(([min, max], index) => randomField(dice, min, max, index))
    const [, , dayOfMonth, month, dayOfWeek] = fields
    const isEither = !dayOfMonth!.isStar && !dayOfWeek!.isStar
    // The schedule must select at least one day in every year. A schedule with a day from 1 to 28 does so, because every month has these
    // days. A schedule with January does so too, because January has all 31 days.
    const isSelected = isEither || [...dayOfMonth!.values].some((day) => day <= 28) || month!.values.has(1)
    if (isSelected) return { text: fields.map(({ text }) => text).join(dice.pick([' ', ' ', '  ', '\t'])), fields }
  }
}

function randomField(dice: Dice, min: number, max: number, index: number): RandomField {
  if (dice.chance(starChances[index]!))
    return { text: dice.pick(['*', '*', '?', '*/1']), values: new Set(range(min, max, 1)), isStar: true }
  const values = new Set<number>()
  const texts = [0, ...dice.times(2, () => 1)].map(() => {
    const first = min + dice.upTo(max - min)
    const last = first + dice.upTo(max - first)
    const step = 2 + dice.upTo(20)
    const name = (value: number) => (index >= 3 && dice.chance(0.3) ? (index === 3 ? months : days)[value - min]! : String(value))
    const [text, selected] = dice.pick([
      [name(first), [first]],
      [name(first), [first]],
      [`${name(first)}-${name(last)}/${step}`, range(first, last, step)],
      [`${first}/${step}`, range(first, max, step)],
      [`*/${step}`, range(min, max, step)],
    ] as [string, number[]][])
    for (const value of selected) values.add(value)
    return text
  })
  return { text: texts.join(','), values, isStar: false }
}

function range(first: number, last: number, step: number): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step)
}

const dayMs = 24 * 3_600_000

/**
 * Returns true if the schedule selects at least one time on this day. `day` is the beginning of the day in UTC, in milliseconds since 1970.
 * If the day of the month and the day of the week are both restricted, one match is enough.
 */
function selectsDay({ fields }: RandomSchedule, day: number): boolean {
  const [, , dayOfMonth, month, dayOfWeek] = fields
  const date = new Date(day)
  if (!month!.values.has(date.getUTCMonth() + 1)) return false
  const [ofMonth, ofWeek] = [dayOfMonth!.values.has(date.getUTCDate()), dayOfWeek!.values.has(date.getUTCDay())]
  return dayOfMonth!.isStar || dayOfWeek!.isStar ? ofMonth && ofWeek : ofMonth || ofWeek
}

/** Returns the times that the schedule selects on one day, in ascending order. `day` is the beginning of this day. */
function timesOf(schedule: RandomSchedule, day: number): number[] {
  if (!selectsDay(schedule, day)) return []
  const [minute, hour] = schedule.fields
  const [minutes, hours] = [minute!, hour!].map(({ values }) => [...values].sort((a, b) => a - b))
  return hours!.flatMap((one) => minutes!.map((other) => day + (one * 60 + other) * 60_000))
}

/** Returns the last selected time in (after, until]; undefined when there is none. */
export function lastTime(schedule: RandomSchedule, after: number, until: number): number | undefined {
  for (let day = Math.floor(until / dayMs) * dayMs; day + dayMs > after; day -= dayMs) {
    const found = timesOf(schedule, day).findLast((time) => time <= until)
    if (found !== undefined) return found > after ? found : undefined
  }
  return undefined
}

/** Returns the first time after `time` that the schedule selects. */
export function nextTime(schedule: RandomSchedule, time: number): number {
  for (let day = Math.floor(time / dayMs) * dayMs; ; day += dayMs) {
    const found = timesOf(schedule, day).find((one) => one > time)
    if (found !== undefined) return found
  }
}
