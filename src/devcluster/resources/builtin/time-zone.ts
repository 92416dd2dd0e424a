/** Time zones, named as in the IANA database. Their offsets come from `Intl`. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid } from '../../../api/field-error.ts'

/** The syntax of each part of a name. Slashes separate the parts (k8s.io/kubernetes/pkg/apis/batch/validation: validTimeZoneCharacters). */
const namePart = /^[A-Za-z.\-_0-9+]{1,14}$/

/** Validates `spec.timeZone` of a CronJob (k8s.io/kubernetes/pkg/apis/batch/validation: validateTimeZone). */
export function validateTimeZone(zone: string, path: string): FieldError[] {
  if (zone === '') return [invalid(path, zone, 'timeZone must be nil or non-empty string')]
  const isName = zone.split('/').every((part) => part !== '.' && part !== '..' && !part.startsWith('-') && namePart.test(part))
  if (!isName) return [invalid(path, zone, `unknown time zone ${zone}`)]
  const errors: FieldError[] = []
  if (zone.toLowerCase() === 'local')
    errors.push(invalid(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'))
  const problem = locationProblem(zone)
  return problem === undefined ? errors : [...errors, invalid(path, zone, problem)]
}

/** Zones that Go knows, and `Intl` does not, with zones of the same offsets. */
const zonesOfGo: ReadonlyMap<string, string> = new Map([
  ['Factory', 'UTC'],
  ['posixrules', 'America/New_York'],
])

/**
 * Returns the error with which Go's `time.LoadLocation` rejects a name; undefined when Go knows the time zone. Go opens a file of this
 * name. Therefore, `europe/berlin` and `+01:00` are unknown, although `Intl` accepts them. This function does not detect one kind of error:
 * it accepts an alias in upper case, e.g. `US/EASTERN`, which Go does not know.
 */
export function locationProblem(name: string): string | undefined {
  if (name === '' || name === 'UTC' || name === 'Local' || zonesOfGo.has(name)) return undefined
  if (name.split('/').includes('..') || name.startsWith('/') || name.startsWith('\\')) return 'time: invalid location name'
  const unknown = `unknown time zone ${name}`
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return unknown
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone !== name && timeZone.toLowerCase() === name.toLowerCase() ? unknown : undefined
  } catch {
    return unknown
  }
}

/** Returns a function that maps a time to the offset of the time zone from UTC, in milliseconds. The zone must be known. `Local` is UTC. */
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
