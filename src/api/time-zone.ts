/** Time zones with the names of the IANA database. The offsets of the zones come from `Intl`. */

/** The keys are time zones that Go supports and `Intl` does not support. Each value is a time zone of `Intl` with the same offsets. */
const zonesOfGo: ReadonlyMap<string, string> = new Map([
  ['Factory', 'UTC'],
  ['posixrules', 'America/New_York'],
])

/** The names in the IANA database that consist of three capital letters. `Intl` also accepts other names of this form, such as PST. */
const shortNames = new Set(['CET', 'EET', 'EST', 'GMT', 'HST', 'MET', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'WET'])

/**
 * Returns the error of Go's `time.LoadLocation` for the name of a time zone; undefined when Go knows the time zone. Go opens a file with
 * this name. Therefore, Go does not know some names that `Intl` accepts:
 *
 * - Names such as `europe/berlin` and `+01:00`: the function returns the error.
 * - Aliases in upper case, such as `US/EASTERN`: the function does not detect the error, and returns undefined.
 */
export function locationProblem(name: string): string | undefined {
  if (name === '' || name === 'UTC' || name === 'Local' || zonesOfGo.has(name)) return undefined
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) return 'time: invalid location name'
  const unknown = `unknown time zone ${name}`
  if (!name.split('/').every((part) => /^[A-Z]/.test(part)) || (/^[A-Z]{3}$/.test(name) && !shortNames.has(name))) return unknown
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone !== name && timeZone.toLowerCase() === name.toLowerCase() ? unknown : undefined
  } catch {
    return unknown
  }
}

/**
 * Returns a function that maps a time to the UTC offset that the time zone has at this time. The time and the offset are in milliseconds.
 * `timeZone` must be a name that `locationProblem` accepts. The time zone `Local` has the offset 0.
 */
export function offsetsOf(timeZone: string): (time: number) => number {
  const known = zonesOfGo.get(timeZone) ?? timeZone
  if (known === 'UTC' || known === 'Local') return () => 0
  const format = new Intl.DateTimeFormat('en', { timeZone: known, timeZoneName: 'longOffset' })
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT([-+])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? []
    const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -offset : offset
  }
}
