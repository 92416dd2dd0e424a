/** All sequences of steps (`Life`) that are executed on the real and on the embedded control plane. */
import type { Life } from '../life.ts'
import { autoscalerLives } from './autoscaler.ts'
import { cronJobLives } from './cron-job.ts'
import { daemonSetLives } from './daemon-set.ts'
import { deploymentLives } from './deployment.ts'
import { disruptionLives } from './disruption.ts'
import { jobLives } from './job.ts'
import { replicaSetLives } from './replica-set.ts'
import { serviceLives } from './service.ts'
import { statefulSetLives } from './stateful-set.ts'
import { volumeLives } from './volumes.ts'

export const lives: readonly Life[] = [
  ...deploymentLives,
  ...replicaSetLives,
  ...statefulSetLives,
  ...daemonSetLives,
  ...jobLives,
  ...cronJobLives,
  ...disruptionLives,
  ...autoscalerLives,
  ...volumeLives,
  ...serviceLives,
]
