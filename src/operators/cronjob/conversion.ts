/** The conversion of CronJobs between v1, whose schedule is a string, and v2, whose schedule is an object. */
import { defineConversion, jsonEqual } from 'proreus'
import { cronJob } from './kind.ts'
import { fieldsOf, maxScheduleLength, textOf } from './schedule.ts'
import type { ScheduleFields } from './schedule.ts'

/**
 * The annotation that stores the v1 schedule in a v2 object. The annotation is set if the fields of v2 cannot express the schedule exactly,
 * for example `@hourly`.
 */
export const scheduleAnnotation = 'batch.tutorial.kubebuilder.io/v1-schedule'

export const conversion = defineConversion(cronJob, {
  // The framework does not need to store lost fields, because the versions differ only in the schedule. If v2 cannot express a schedule,
  // the converters store the schedule in the annotation above.
  lossless: false,
  converters: {
    v2: {
      toHub: (object) => ({ spec: { ...object.spec, schedule: textInV1(object) }, ...withKept(object, undefined) }),
      fromHub(object) {
        const text = object.spec.schedule
        // If `fieldsOf` returns undefined, the text is invalid, and the object was stored while the webhook was not called. In v2, the
        // schedule of such an object has no fields. If this function threw an error instead, every list request for v2 would fail.
        const schedule = fieldsOf(text) ?? {}
        return { spec: { ...object.spec, schedule }, ...withKept(object, textOf(schedule) === text ? undefined : text) }
      },
    },
  },
})

/**
 * For server-side apply, the API server also converts objects that contain only the fields of one field manager. The metadata of such an
 * object may be absent.
 */
interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
}
interface Scheduled extends Annotated {
  readonly spec: { readonly schedule: ScheduleFields }
}

/**
 * Returns the v1 schedule of a v2 CronJob. If the annotation matches the fields of the schedule, returns the text of the annotation. If the
 * annotation is missing, too long, or does not match the fields, returns the text of the fields.
 */
export function textInV1({ metadata, spec }: Scheduled): string {
  const text = textOf(spec.schedule)
  const kept = metadata?.annotations?.[scheduleAnnotation]
  return kept !== undefined && kept.length <= maxScheduleLength && jsonEqual(fieldsOf(kept) ?? {}, fieldsOf(text)) ? kept : text
}

/**
 * Returns an object whose field `metadata` contains the annotations of the converted object. If `text` is defined, the value of the
 * annotation `scheduleAnnotation` is `text`. If `text` is undefined, the annotation `scheduleAnnotation` is absent. The other annotations
 * are those of the source object.
 *
 * If the value of `scheduleAnnotation` is the same in the source object, the function returns an object without `metadata`. The framework
 * then copies the metadata of the source object.
 */
function withKept({ metadata }: Annotated, text: string | undefined) {
  const { [scheduleAnnotation]: before, ...others } = metadata?.annotations ?? {}
  if (before === text) return {}
  return { metadata: { annotations: text === undefined ? others : { ...others, [scheduleAnnotation]: text } } }
}
