/** The operator of CronJobs: the conversion between the versions, the webhook, and the controller. */
import { accessReviewRule, batch, defineConversion, defineOperator, defineWebhook, forbidden, invalid, tooLong } from 'proreus'
import { controller } from './controller.ts'
import { cronJob } from './kind.ts'
import { fieldsOf, nextTime, textOf } from './schedule.ts'

const conversion = defineConversion(cronJob, {
  converters: {
    v2: {
      toHub: ({ spec }) => ({ spec: { ...spec, schedule: textOf(spec.schedule) } }),
      fromHub: ({ spec }) => ({ spec: { ...spec, schedule: fieldsOf(spec.schedule) } }),
    },
  },
})

// The API server converts an object of v2 before it calls this webhook.
const webhook = defineWebhook(cronJob, {
  rbac: [accessReviewRule],
  validate({ spec: { schedule } }, _old, { name }) {
    // The name of a Job has at most 63 characters. The last eleven are a hyphen and the scheduled time in seconds.
    const errors = name.length > 52 ? [tooLong('metadata.name', 52)] : []
    try {
      nextTime(schedule, Date.now())
    } catch (error) {
      errors.push(invalid('spec.schedule', schedule, error instanceof Error ? error.message : String(error)))
    }
    return errors
  },
  async validateInCluster(_object, _old, { requesterCan, user }) {
    // Otherwise the permission to create CronJobs would include the permission to create Jobs.
    if (await requesterCan({ verb: 'create', type: batch.job })) return []
    return [forbidden('spec.jobTemplate', `user "${user.username}" cannot create Jobs in this namespace`)]
  },
})

export const operator = defineOperator({
  name: 'cronjob',
  kinds: [cronJob],
  conversions: [conversion],
  webhooks: [webhook],
  controllers: [controller],
})
