/** Time zones by their names in the IANA database. Their rules are those of `Intl`. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid } from '../../../api/field-error.ts'

/** Characters and lengths of the parts between slashes (k8s.io/kubernetes/pkg/apis/batch/validation: validTimeZoneCharacters). */
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

/**
 * Returns the error with which Go's `time.LoadLocation` refuses a name; undefined when the time zone is known. Go reads a file of this name,
 * so `europe/berlin` and `+01:00` are unknown, which `Intl` accepts. Upper case is not detected in an alternative name, e.g. `US/EASTERN`.
 */
export function locationProblem(name: string): string | undefined {
  if (name === '' || name === 'UTC' || name === 'Local') return undefined
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

/** Returns the function that returns the offset of a known time zone from UTC at a time, in milliseconds. `Local` is UTC. */
export function offsetsOf(timeZone: string): (time: number) => number {
  if (timeZone === 'UTC' || timeZone === 'Local') return () => 0
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  return (time) => {
    const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT([-+])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? []
    const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -offset : offset
  }
}
