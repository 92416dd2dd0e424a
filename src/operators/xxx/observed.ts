/** Reads the Jobs and Pods of an Xxx from the cache, and determines the files that its builds may have written. */
import { findCondition, isControlledBy, keyOf } from 'proreus'
import type { batch, CacheReader, core, DeepReadonly } from 'proreus'
import { binaryNameOf } from './build-job.ts'
import { jobsByController, jobsByXxx, podsByXxx, xxxPods } from './indexes.ts'
import { jobView } from './job-view.ts'
import type { Xxx } from './kind.ts'
import { isBinaryName } from './kind.ts'
import { isTask } from './labels.ts'

type Job = DeepReadonly<batch.Job>
type Pod = DeepReadonly<core.Pod>

export interface Observed {
  /** The Jobs that the Xxx controls. */
  readonly builds: readonly Job[]
  /** The clean-up Jobs that have not ended. */
  readonly cleanUps: readonly Job[]
  /** The Pods that may still write or remove files. */
  readonly activePods: readonly Pod[]
  /** The names of the files that builds of the Xxx may have written, sorted. */
  readonly binaryNames: readonly string[]
  /** The node of the latest build that started. */
  readonly node: string | undefined
}

export function observe(object: DeepReadonly<Xxx>, cache: CacheReader): Observed {
  const { namespace } = keyOf(object)
  const { uid } = object.metadata
  const builds = cache.list(jobView, { namespace, index: [jobsByController, uid] })
  const labelled = cache.list(jobView, { namespace, index: [jobsByXxx, uid] })
  const pods = cache.list(xxxPods, { namespace, index: [podsByXxx, uid] })
  const binaryNames = new Set(object.status?.binaryNames)
  let { node } = object.status ?? {}
  for (const job of builds) {
    const own = pods.filter((pod) => isControlledBy(pod, job))
    if (!hasStarted(job, own)) continue
    binaryNames.add(binaryNameOf(job))
    node = own.find(({ spec }) => spec?.nodeName !== undefined)?.spec?.nodeName ?? node
  }
  return {
    builds,
    cleanUps: labelled.filter((job) => isTask(job, 'clean-up') && !builds.includes(job) && endOf(job) === undefined),
    activePods: pods.filter(({ status }) => !hasEnded(status?.phase)),
    // Another client can write any text into the status or an annotation. Only valid file names are kept, because they become arguments of
    // a command.
    binaryNames: [...binaryNames].filter(isBinaryName).sort(),
    node,
  }
}

/** Returns the condition with which the Job has ended; undefined if the Job has not ended. */
export function endOf({ status }: Job): NonNullable<NonNullable<Job['status']>['conditions']>[number] | undefined {
  return [findCondition(status?.conditions, 'Complete'), findCondition(status?.conditions, 'Failed')].find(
    (condition) => condition?.status === 'True',
  )
}

/** Returns true if the build may have written its file. A Pod that waits for a node or for its image has not started the build. */
function hasStarted({ status }: Job, pods: readonly Pod[]): boolean {
  return (status?.succeeded ?? 0) + (status?.failed ?? 0) > 0 || pods.some(hasRun)
}

function hasRun({ status }: Pod): boolean {
  const containers = status?.containerStatuses ?? []
  return hasEnded(status?.phase) || status?.phase === 'Running' || containers.some(({ state }) => state?.running ?? state?.terminated)
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}
