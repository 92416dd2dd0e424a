/** The operator that reconciles the CronJobs of the kubebuilder tutorial. */
import { defineOperator, version } from 'proreus'
import { controller } from './controller.ts'
import { conversion } from './conversion.ts'
import { cronJob } from './kind.ts'
import { webhooks } from './webhook.ts'

export const cronJobOperator = defineOperator({
  name: 'cronjob',
  version,
  kinds: [cronJob],
  conversions: [conversion],
  webhooks,
  controllers: [controller],
})
