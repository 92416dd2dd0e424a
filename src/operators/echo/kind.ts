/** The kinds Echo and ScheduledEcho. */
import { Conditions, defineKind, Type } from 'proreus'
import type { Infer } from 'proreus'

const group = 'mmontes.io'
const message = Type.String({ maxLength: 4096, description: 'The text that is printed, as it is.' })
const age = { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' } as const
const observedGeneration = Type.Integer({ format: 'int64', description: 'The generation that this status is about.' })
const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

export const echo = defineKind({
  group,
  kind: 'Echo',
  plural: 'echos',
  shortNames: ['ec'],
  versions: [
    {
      name: 'v1alpha1',
      spec: Type.Object({ message }),
      status: Type.Object({
        jobName: Type.Optional(Type.String({ description: 'Name of the Job that prints the message.' })),
        startTime: time('When the Job started.'),
        completionTime: time('When the Job succeeded.'),
        observedGeneration,
        conditions: Conditions,
      }),
      printerColumns: [
        { name: 'Message', jsonPath: '.spec.message' },
        { name: 'Complete', jsonPath: '.status.conditions[?(@.type=="Complete")].status' },
        { name: 'Failed', jsonPath: '.status.conditions[?(@.type=="Failed")].status', priority: 1 },
        age,
      ],
    },
  ],
})

export const scheduledEcho = defineKind({
  group,
  kind: 'ScheduledEcho',
  plural: 'scheduledechos',
  shortNames: ['sec'],
  versions: [
    {
      name: 'v1alpha1',
      spec: Type.Object({
        message,
        schedule: Type.String({
          minLength: 1,
          description: 'When the message is printed: five fields of cron, or a macro such as @daily.',
        }),
      }),
      status: Type.Object({
        cronJobName: Type.Optional(Type.String({ description: 'Name of the CronJob that prints the message.' })),
        lastScheduleTime: time('When the latest Job was created.'),
        lastSuccessfulTime: time('When a Job succeeded for the last time.'),
        active: Type.Array(Type.String(), { description: 'Names of the Jobs that run, sorted.' }),
        observedGeneration,
        conditions: Conditions,
      }),
      printerColumns: [
        { name: 'Message', jsonPath: '.spec.message' },
        { name: 'Schedule', jsonPath: '.spec.schedule' },
        { name: 'Scheduled', jsonPath: '.status.conditions[?(@.type=="Scheduled")].status' },
        { name: 'Last', jsonPath: '.status.lastScheduleTime', type: 'date' },
        age,
      ],
    },
  ],
})

export type Echo = Infer<typeof echo>
export type ScheduledEcho = Infer<typeof scheduledEcho>
