/** The conversion of CronJobs between v1, whose schedule is a string, and v2, whose schedule is an object. */
import { defineConversion, jsonEqual } from 'proreus'
import { cronJob } from './kind.ts'
import { fieldsOf, maxScheduleLength, textOf } from './schedule.ts'
import type { ScheduleFields } from './schedule.ts'

/** The annotation in v2 with a schedule of v1 that the fields do not express, such as `@hourly`. */
export const scheduleAnnotation = 'batch.tutorial.kubebuilder.io/v1-schedule'

export const conversion = defineConversion(cronJob, {
  // Only the schedule differs, and the annotation above keeps what v2 cannot express of it.
  lossless: false,
  converters: {
    v2: {
      toHub: (object) => ({ spec: { ...object.spec, schedule: textInV1(object) }, ...withKept(object, undefined) }),
      fromHub(object) {
        const text = object.spec.schedule
        // A text that has not five fields was stored without the webhook. An error would make every list of v2 fail.
        const schedule = fieldsOf(text) ?? {}
        return { spec: { ...object.spec, schedule }, ...withKept(object, textOf(schedule) === text ? undefined : text) }
      },
    },
  },
})

/** The metadata may be absent: the API server also converts objects with only the fields of one field manager. */
interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
}
interface Scheduled extends Annotated {
  readonly spec: { readonly schedule: ScheduleFields }
}

/** Returns the schedule that a CronJob of v2 has in v1: the text in the annotation, unless the fields have changed since. */
export function textInV1({ metadata, spec }: Scheduled): string {
  const text = textOf(spec.schedule)
  const kept = metadata?.annotations?.[scheduleAnnotation]
  return kept !== undefined && kept.length <= maxScheduleLength && jsonEqual(fieldsOf(kept) ?? {}, fieldsOf(text)) ? kept : text
}

/** Returns the metadata with this text in the annotation, or without the annotation; nothing when nothing changes. */
function withKept({ metadata }: Annotated, text: string | undefined) {
  const { [scheduleAnnotation]: before, ...others } = metadata?.annotations ?? {}
  if (before === text) return {}
  return { metadata: { annotations: text === undefined ? others : { ...others, [scheduleAnnotation]: text } } }
}
