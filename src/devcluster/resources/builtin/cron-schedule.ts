/** Validates the schedules of CronJobs, with the error messages of github.com/robfig/cron. */

interface Field {
  readonly min: number
  readonly max: number
  /** Names for the numbers from `min` on, e.g. the names of the months. */
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
]
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']

/** Returns the error in a schedule; undefined when it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S*\s*/, '').trim()
  if (text.startsWith('@')) {
    if (descriptors.includes(text) || /^@every [-+]?(?:\d+(?:\.\d+)?(?:ns|us|ms|h|m|s))+$/.test(text)) return undefined
    const [, duration] = /^@every (.*)$/.exec(text) ?? []
    if (duration === undefined) return `unrecognized descriptor: ${text}`
    return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`
  }
  const parts = text === '' ? [] : text.split(/\s+/)
  if (parts.length !== fields.length) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`
  for (const [index, part] of parts.entries()) {
    for (const expression of part.split(',')) {
      const problem = expression === '' ? undefined : rangeProblem(expression, fields[index]!)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

/** Validates `*`, `5` or `1-5`, each optionally with a step such as `/2`. */
function rangeProblem(expression: string, field: Field): string | undefined {
  const [range = '', step, ...moreSteps] = expression.split('/')
  const [low = '', high, ...moreBounds] = range.split('-')
  const wild = low === '*' || low === '?'
  const start = wild ? field.min : numberOf(low, field)
  if (typeof start === 'string') return start
  if (moreBounds.length > 0) return `too many hyphens: ${expression}`
  const given = wild ? field.max : high === undefined ? start : numberOf(high, field)
  if (typeof given === 'string') return given
  if (moreSteps.length > 0) return `too many slashes: ${expression}`
  const every = step === undefined ? 1 : numberOf(step)
  if (typeof every === 'string') return every
  // In cron, `5/15` means every 15th value from 5 to the maximum.
  const end = step !== undefined && !wild && high === undefined ? field.max : given
  if (start < field.min) return `beginning of range (${start}) below minimum (${field.min}): ${expression}`
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  return every === 0 ? `step of range should be a positive number: ${expression}` : undefined
}

/** Returns the number that `text` denotes, or an error message. With `field`, the names of its values are allowed, too. */
function numberOf(text: string, field?: Field): number | string {
  const named = field?.names?.indexOf(text.toLowerCase()) ?? -1
  if (named >= 0) return named + field!.min
  if (/^[+]?\d+$/.test(text)) return Number(text)
  if (/^-\d+$/.test(text)) return `negative number (${text}) not allowed: ${text}`
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
}
