/** A model of a CronJob. It determines which Jobs the CronJob should have. It shares no code with the operator. */
import type { RandomSchedule } from './random-schedule.ts'
import { lastTime } from './random-schedule.ts'

export interface ReferenceSpec {
  readonly schedule: RandomSchedule
  readonly suspend: boolean
  readonly concurrencyPolicy: 'Allow' | 'Forbid' | 'Replace'
  readonly startingDeadlineSeconds: number | undefined
  readonly successfulJobsHistoryLimit: number
  readonly failedJobsHistoryLimit: number
}

interface ReferenceJob {
  readonly time: number
  readonly startedAt: number
  ended?: 'Complete' | 'Failed'
}

export class ReferenceCronJob {
  spec: ReferenceSpec
  readonly started: number[] = []
  #jobs: ReferenceJob[] = []
  #last: number

  constructor(spec: ReferenceSpec, createdAt: number) {
    this.spec = spec
    this.#last = createdAt
  }

  /** The scheduled times of the existing Jobs, in ascending order. */
  get times(): number[] {
    return this.#jobs.map(({ time }) => time).sort((a, b) => a - b)
  }

  get active(): number[] {
    return this.#jobs.filter(({ ended }) => ended === undefined).map(({ time }) => time).sort((a, b) => a - b) // prettier-ignore
  }

  end(time: number, outcome: 'Complete' | 'Failed'): void {
    for (const job of this.#jobs) if (job.time === time) job.ended = outcome
  }

  /** Creates and deletes the Jobs that a reconcile of the CronJob should create and delete. */
  reconcile(now: number): void {
    this.#start(now)
    for (const outcome of ['Complete', 'Failed'] as const) {
      const limit = outcome === 'Complete' ? this.spec.successfulJobsHistoryLimit : this.spec.failedJobsHistoryLimit
      const ended = this.#jobs.filter((job) => job.ended === outcome).sort((a, b) => b.startedAt - a.startedAt || b.time - a.time)
      const old = new Set(ended.slice(limit))
      this.#jobs = this.#jobs.filter((job) => !old.has(job))
    }
  }

  #start(now: number): void {
    const { schedule, suspend, concurrencyPolicy, startingDeadlineSeconds = Infinity } = this.spec
    if (suspend) return
    const time = lastTime(schedule, Math.max(this.#last, now - startingDeadlineSeconds * 1000), now)
    if (time === undefined || (concurrencyPolicy === 'Forbid' && this.active.length > 0)) return
    if (concurrencyPolicy === 'Replace') this.#jobs = this.#jobs.filter(({ ended }) => ended !== undefined)
    this.#jobs.push({ time, startedAt: now })
    this.started.push(time)
    this.#last = time
  }
}
