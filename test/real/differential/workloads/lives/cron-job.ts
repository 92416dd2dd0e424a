/** The life of a CronJob: the steps that create, change and delete it. */
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import type { Life } from '../life.ts'
import { count, step } from '../life.ts'
import { template } from './objects.ts'

const spec = {
  schedule: '* * * * *',
  timeZone: 'Etc/UTC',
  concurrencyPolicy: 'Forbid',
  successfulJobsHistoryLimit: 1,
  jobTemplate: { metadata: { labels: { part: 'nightly' } }, spec: { template: template('1', { restartPolicy: 'Never' }) } },
}

export const cronJobLives: readonly Life[] = [
  {
    name: 'cron-job',
    steps: [
      step('create', (stage) => stage.create(batch.cronJob, { metadata: { name: 'nightly' }, spec: { ...spec, suspend: true } })),
      step('first-run', (stage) => stage.patch(batch.cronJob, 'nightly', { spec: { suspend: false } }), count(core.pod, 1)),
      step('suspend', (stage) => stage.patch(batch.cronJob, 'nightly', { spec: { suspend: true } })),
      step('run', ({ pods }) => pods.run()),
      step('succeeds', ({ pods }) => pods.exit(0)),
      step('delete', (stage) => stage.delete(batch.cronJob, 'nightly'), count(core.pod, 0)),
    ],
  },
]
