/** `validateTimeZone`: validates the time zone of a CronJob. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid } from '../../../api/field-error.ts'
import { locationProblem } from '../../../api/time-zone.ts'

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
