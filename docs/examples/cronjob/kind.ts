/** The kind CronJob of the kubebuilder tutorial. In v1 the schedule is a string, in v2 an object. */
import { defineKind, Type } from 'proreus'
import type { Infer } from 'proreus'

const spec = {
  startingDeadlineSeconds: Type.Optional(Type.Integer({ format: 'int64', minimum: 0, description: 'Default: no deadline.' })),
  concurrencyPolicy: Type.Enum(['Allow', 'Forbid', 'Replace'], { default: 'Allow' }),
  suspend: Type.Boolean({ default: false }),
  jobTemplate: Type.Builtin('JobTemplateSpec'),
  successfulJobsHistoryLimit: Type.Integer({ format: 'int32', minimum: 0, default: 3, description: 'Number of complete Jobs to keep.' }),
  failedJobsHistoryLimit: Type.Integer({ format: 'int32', minimum: 0, default: 1, description: 'Number of failed Jobs to keep.' }),
}
const text = Type.String({ minLength: 1, maxLength: 500, description: 'Five fields of cron, in UTC, or one of @hourly, @daily, …' })
const field = Type.Optional(Type.String({ pattern: '^\\S+$', maxLength: 99, description: 'Default: *' }))
const fields = Type.Object({ minute: field, hour: field, dayOfMonth: field, month: field, dayOfWeek: field })
const status = Type.Object({
  active: Type.Array(Type.Builtin('ObjectReference'), { description: 'The Jobs that have not finished, newest first.' }),
  lastScheduleTime: Type.String({ format: 'date-time', description: 'The scheduled time of the newest Job.' }),
})
const printerColumns = [
  { name: 'Suspend', jsonPath: '.spec.suspend', type: 'boolean' },
  { name: 'Last Schedule', jsonPath: '.status.lastScheduleTime', type: 'date' },
] as const

export const cronJob = defineKind({
  group: 'batch.tutorial.kubebuilder.io',
  kind: 'CronJob',
  versions: [
    { name: 'v1', storage: true, spec: Type.Object({ schedule: text, ...spec }), status, printerColumns },
    { name: 'v2', spec: Type.Object({ schedule: fields, ...spec }), status, printerColumns },
  ],
})

export type CronJob = Infer<typeof cronJob>
