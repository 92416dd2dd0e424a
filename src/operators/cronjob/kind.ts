/** The kind CronJob. Both versions have the same fields, except that the schedule is a string in v1 and an object in v2. */
import { Conditions, defineKind, Type, versionOf } from 'proreus'
import type { Infer } from 'proreus'
import { maxFieldLength, maxScheduleLength } from './schedule.ts'

/** The longest deadline in seconds: a hundred years. Even in milliseconds, this deadline is a safe integer of JavaScript. */
const maxDeadlineSeconds = 3_155_760_000

/**
 * The schema of a container in the CRD. It has only the name and the image, because the full schema of a Pod spec would make the CRD too
 * large for `kubectl apply`.
 */
const container = Type.Object({ name: Type.String(), image: Type.String({ minLength: 1 }) }, { preserveUnknownFields: true })
const containers = Type.Array(container, { minItems: 1, listType: 'map', listMapKeys: ['name'] })
const podSpec = Type.Builtin('PodSpec', { required: ['containers'], properties: { containers } })
const podTemplate = Type.Builtin('PodTemplateSpec', { required: ['spec'], properties: { spec: podSpec } })
const jobSpec = Type.Builtin('JobSpec', { required: ['template'], properties: { template: podTemplate } })

const historyLimit = (state: string, value: number) =>
  Type.Integer({ format: 'int32', minimum: 0, default: value, description: `Number of ${state} Jobs to keep.` })

const spec = {
  startingDeadlineSeconds: Type.Optional(
    Type.Integer({
      format: 'int64',
      minimum: 0,
      maximum: maxDeadlineSeconds,
      description: 'A Job that could not start for this long is skipped. Default: no deadline.',
    }),
  ),
  concurrencyPolicy: Type.Enum(['Allow', 'Forbid', 'Replace'], {
    default: 'Allow',
    description: 'Whether a Job may start while an earlier one is active, waits for it, or replaces it.',
  }),
  suspend: Type.Boolean({ default: false, description: 'True to start no Jobs. Active Jobs continue.' }),
  jobTemplate: Type.Builtin('JobTemplateSpec', {
    required: ['spec'],
    properties: { spec: jobSpec },
    description: 'Labels, annotations and spec of the Jobs, as in batch/v1.',
  }),
  successfulJobsHistoryLimit: historyLimit('complete', 3),
  failedJobsHistoryLimit: historyLimit('failed', 1),
}

const status = Type.Object({
  active: Type.Optional(Type.Array(Type.Builtin('ObjectReference'), { description: 'The Jobs that have not ended, sorted by name.' })),
  activeCount: Type.Optional(Type.Integer({ format: 'int32', description: 'Number of Jobs that have not ended.' })),
  lastScheduleTime: Type.Optional(Type.String({ format: 'date-time', description: 'The scheduled time of the newest Job.' })),
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64', description: 'The generation that this status is about.' })),
  conditions: Type.Optional(Conditions),
})

const columns = [
  { name: 'Suspend', jsonPath: '.spec.suspend', type: 'boolean' },
  { name: 'Active', jsonPath: '.status.activeCount', type: 'integer' },
  { name: 'Last Schedule', jsonPath: '.status.lastScheduleTime', type: 'date' },
  { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
] as const

const schedule = Type.String({
  minLength: 1,
  maxLength: maxScheduleLength,
  description: 'When Jobs start, in UTC: five fields of cron, or a macro such as @daily.',
})
const field = Type.Optional(Type.String({ pattern: '^\\S+$', maxLength: maxFieldLength, description: 'A field of cron. Default: *' }))
const fields = Type.Object(
  { minute: field, hour: field, dayOfMonth: field, month: field, dayOfWeek: field },
  { description: 'When Jobs start, in UTC.' },
)

export const cronJob = defineKind({
  group: 'batch.tutorial.kubebuilder.io',
  kind: 'CronJob',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({ schedule, ...spec }),
      status,
      printerColumns: [{ name: 'Schedule', jsonPath: '.spec.schedule' }, ...columns],
    },
    { name: 'v2', spec: Type.Object({ schedule: fields, ...spec }), status, printerColumns: columns },
  ],
})
export const cronJobV2 = versionOf(cronJob, 'v2')

export type CronJob = Infer<typeof cronJob>
export type CronJobV2 = Infer<typeof cronJob, 'v2'>
