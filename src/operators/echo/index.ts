/** The operator that reconciles Echos and ScheduledEchos. */
import { defineOperator, defineWebhook, version } from 'proreus'
import { echoController } from './echo-controller.ts'
import { echo, scheduledEcho } from './kind.ts'
import { scheduledEchoController } from './scheduled-echo-controller.ts'
import { validateEcho, validateSchedule, validateScheduledEcho } from './webhook.ts'

export const echoOperator = defineOperator({
  name: 'echo',
  version,
  kinds: [echo, scheduledEcho],
  webhooks: [
    defineWebhook(echo, { validate: validateEcho }),
    defineWebhook(scheduledEcho, { validate: validateScheduledEcho, validateInCluster: validateSchedule }),
  ],
  controllers: [echoController, scheduledEchoController],
})
