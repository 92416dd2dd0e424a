/** Reconciles an Xxx once with a fake client. A `Script` specifies the errors of the fake client, and the Jobs and Pods in the cache. */
import { mergePatch } from '../../../src/devcluster/patch/merge-patch.ts'
import { findCondition } from '../../../src/api/conditions.ts'
import type { JsonValue } from '../../../src/api/json.ts'
import type { batch } from '../../../src/api/kubernetes/batch.ts'
import type { core } from '../../../src/api/kubernetes/core.ts'
import type { ObjectInput } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import type { StatusCause } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Result } from '../../../src/controller/reconciler.ts'
import { buildJob } from '../../../src/operators/xxx/build-job.ts'
import { cleanUpJob } from '../../../src/operators/xxx/clean-up-job.ts'
import { finalizeXxx } from '../../../src/operators/xxx/finalize.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import type { XxxOptions } from '../../../src/operators/xxx/options.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { reconcileXxx } from '../../../src/operators/xxx/reconcile.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import type { CachedObject } from '../../../src/testing/reconcile-context.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'

export interface Script {
  /** Default: the options of an operator whose environment has no variables. */
  readonly options?: XxxOptions
  /** The objects in the cache. */
  readonly cached?: readonly CachedObject[]
  /** The error with which each create fails. */
  readonly create?: Error
  /** The error with which each delete fails. */
  readonly remove?: Error
}

export interface Step {
  /** The requests in their order: `create NAME`, `delete NAME OPTIONS` and `status`. */
  readonly requests: readonly string[]
  readonly created: readonly ObjectInput<batch.Job>[]
  /** The Events, each as `TYPE REASON: MESSAGE`. */
  readonly events: readonly string[]
  readonly result: Result
  /** The Xxx with the status that the reconcile has written. */
  readonly after: Xxx
  /** The condition `Ready` of `after`, as `STATUS REASON: MESSAGE`. `cleanUpFailed` is the condition `CleanupFailed` in the same form. */
  readonly ready: string
  readonly cleanUpFailed: string
}

/** Reconciles an Xxx. */
export function reconcileOnce(object: Xxx, script: Script = {}): Promise<Step> {
  return step(reconcileXxx, object, script)
}

/** Executes one step of the deletion of an Xxx. */
export function finalizeOnce(object: Xxx, script: Script = {}): Promise<Step> {
  return step(finalizeXxx, object, script)
}

async function step(run: typeof reconcileXxx, object: Xxx, { options, cached = [], create, remove }: Script): Promise<Step> {
  const requests: string[] = []
  const created: ObjectInput<batch.Job>[] = []
  let after = object
  const client = {
    create: async (_type: unknown, job: ObjectInput<batch.Job>) => {
      requests.push(`create ${job.metadata.name}`)
      if (create !== undefined) throw create
      created.push(job)
      return job
    },
    delete: async (_type: unknown, { name }: { name: string }, how: object) => {
      requests.push(`delete ${name} ${JSON.stringify(how)}`)
      if (remove !== undefined) throw remove
      return {}
    },
    patchStatus: async (_type: unknown, _key: unknown, patch: object) => {
      requests.push('status')
      after = mergePatch(structuredClone(after) as unknown as JsonValue, patch as JsonValue) as unknown as Xxx
      return after
    },
  } as unknown as Client
  const context = reconcileContext({
    client,
    cached: structuredClone([...cached]),
    clock: new FakeClock(Date.parse('2026-01-01T00:10:00Z')),
  })
  const result = await run(object, options ?? defaultOptions, context)
  const conditionOf = (type: string): string => {
    const found = findCondition(after.status?.conditions, type)
    return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`
  }
  return {
    requests,
    created,
    events: context.recorded.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    result,
    after,
    ready: conditionOf('Ready'),
    cleanUpFailed: conditionOf('CleanupFailed'),
  }
}

export function apiError(code: number, reason: string, message = 'no', causes?: StatusCause[]): ApiError {
  return new ApiError(failure(code, reason, message, causes && { causes }))
}

/**
 * Returns the status of an Xxx whose build has succeeded.
 *
 * @param binaryNames the names of the files that the builds of the Xxx have written
 */
export function statusWith(binaryNames: readonly string[], others: Partial<NonNullable<Xxx['status']>> = {}): NonNullable<Xxx['status']> {
  return { phase: 'Succeeded', binaryNames: [...binaryNames], observedGeneration: 1, conditions: [], ...others }
}

type Change = Partial<batch.Job['metadata']>

/** Returns the build Job of an Xxx, as the API server stores it. */
export function buildOf(owner: Xxx, status: batch.Job['status'] = {}, metadata: Change = {}): batch.Job {
  return stored(buildJob(owner, defaultOptions, undefined), 'build-uid', status, metadata)
}

/** Returns the Job that removes the files `names` of an Xxx, as the API server stores it. */
export function cleanUpOf(owner: Xxx, names: readonly string[], status: batch.Job['status'] = {}, metadata: Change = {}): batch.Job {
  return stored(cleanUpJob(owner, names, defaultOptions, undefined), 'clean-up-uid', status, metadata)
}

function stored(job: ObjectInput<batch.Job>, uid: string, status: batch.Job['status'], metadata: Change): batch.Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    ...job,
    metadata: { ...job.metadata, uid, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    status,
  } as unknown as batch.Job
}

export function endedJob(type: 'Complete' | 'Failed', reason?: string, message?: string): NonNullable<batch.Job['status']> {
  const condition = { type, status: 'True', ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) }
  return { conditions: [condition], [type === 'Complete' ? 'succeeded' : 'failed']: 1 }
}

/** Returns a Pod of a Job, as the API server stores it. */
export function podOf({ metadata, spec }: batch.Job, status: core.Pod['status'] = {}, nodeName?: string): core.Pod {
  const { namespace, name, uid } = metadata
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: `${name}-pod`,
      uid: `${uid}-pod`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { ...spec?.template.metadata?.labels },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: { ...spec!.template.spec!, ...(nodeName !== undefined && { nodeName }) },
    status,
  } as core.Pod
}
