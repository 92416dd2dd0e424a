/** A CronJob and its Jobs without an API server: the operator's reconciler is called directly. */
import { failure } from '../../../src/api/status.ts'
import type { batch } from '../../../src/api/kubernetes/batch.ts'
import { formatTime } from '../../../src/api/conditions.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { mergePatch } from '../../../src/devcluster/patch/merge-patch.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { reconcileCronJob } from '../../../src/operators/cronjob/controller.ts'
import type { CronJob } from '../../../src/operators/cronjob/kind.ts'
import type { FakeClock } from '../../../src/testing/fake-clock.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import { endedStatus, jobName } from './objects.ts'

export class SimulatedCronJob {
  readonly #clock: FakeClock
  #object: JsonObject
  readonly #jobs = new Map<string, batch.Job>()
  /** The names of all Jobs that were created. */
  readonly created: string[] = []
  /** The number of requests that changed something. */
  writes = 0
  /** If set, the next request with this verb is carried out, but the response of this request is lost. */
  loses: 'create' | 'patchStatus' | undefined
  /** True when the next `get` fails. */
  refusesGet = false
  /** The Job that was created by a request whose response was lost. The cache does not contain this Job until a reconcile has succeeded. */
  #unseen: string | undefined

  constructor(clock: FakeClock, spec: object) {
    this.#clock = clock
    const metadata = { namespace: 'test', name: 'simulated', uid: 'uid', generation: 1, creationTimestamp: formatTime(clock.now()) }
    this.#object = { apiVersion: 'batch.tutorial.kubebuilder.io/v1', kind: 'CronJob', metadata, spec: spec as JsonObject }
  }

  get status(): CronJob['status'] {
    return (this.#object as unknown as CronJob).status
  }

  get jobs(): readonly string[] {
    return [...this.#jobs.keys()].sort()
  }

  change(spec: object): void {
    this.#object = { ...this.#object, spec: spec as JsonObject }
  }

  /** Ends a Job. If the Job has been deleted, does nothing. */
  end(time: number, outcome: 'Complete' | 'Failed'): void {
    const name = jobName('simulated', time)
    const job = this.#jobs.get(name)
    if (job === undefined) return
    const status = endedStatus(outcome, job.status!.startTime!, formatTime(this.#clock.now()))
    this.#jobs.set(name, { ...job, status } as batch.Job)
  }

  async reconcile() {
    const cached = [...this.#jobs.values()].filter(({ metadata }) => metadata.name !== this.#unseen) as never
    const context = reconcileContext({ client: this.#client, clock: this.#clock, cached })
    const result = await reconcileCronJob(this.#object as unknown as CronJob, context)
    this.#unseen = undefined
    return result
  }

  readonly #client = {
    create: async (_type: unknown, input: batch.Job) => {
      const { name } = input.metadata
      if (this.#jobs.has(name)) throw new ApiError(failure(409, 'AlreadyExists', `jobs.batch "${name}" already exists`))
      const job = { ...input, apiVersion: 'batch/v1', kind: 'Job', status: { startTime: formatTime(this.#clock.now()) } } as batch.Job
      this.#jobs.set(name, job)
      this.created.push(name)
      if (this.loses === 'create') this.#unseen = name
      return this.#written('create', job)
    },
    get: async (_type: unknown, { name }: { name: string }) => {
      const isRefused = this.refusesGet
      this.refusesGet = false
      if (isRefused) throw new ApiError(failure(500, 'InternalError', 'not now'))
      const job = this.#jobs.get(name)
      if (job === undefined) throw new ApiError(failure(404, 'NotFound', `jobs.batch "${name}" not found`))
      return job
    },
    delete: async (_type: unknown, { name }: { name: string }) => {
      if (!this.#jobs.delete(name)) throw new ApiError(failure(404, 'NotFound', `jobs.batch "${name}" not found`))
      return this.#written('delete', {})
    },
    patchStatus: async (_type: unknown, _key: unknown, patch: JsonObject) => {
      this.#object = mergePatch(this.#object, patch) as JsonObject
      return this.#written('patchStatus', this.#object)
    },
  } as unknown as Client

  #written<Result>(verb: string, result: Result): Result {
    this.writes += 1
    if (this.loses !== verb) return result
    this.loses = undefined
    throw new Error('the connection was lost')
  }
}
