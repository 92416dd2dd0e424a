/** Runs a Job that removes files of an Xxx. */
import { keyOf } from 'proreus'
import type { batch, CacheReader, DeepReadonly } from 'proreus'
import { cleanUpJob, cleanUpName, isSameOccasion } from './clean-up-job.ts'
import { xxxesByUid } from './indexes.ts'
import { jobView } from './job-view.ts'
import { xxx, type Xxx } from './kind.ts'
import { isTask, xxxUidOf } from './labels.ts'
import { endOf } from './observed.ts'
import { failureOf } from './status.ts'
import type { Reason } from './status.ts'
import { boundNode, createJob, deleteJob, outputProblem } from './work.ts'
import type { Work } from './work.ts'

export type CleanUp = { readonly state: 'running' | 'done' } | { readonly state: 'failed'; readonly failure: Reason }

const running: CleanUp = { state: 'running' }

/**
 * Executes the next step of the removal of files. `names` are the names of the files. Resolves with the state `done` if the Job that
 * removes these files is complete.
 */
export async function cleanUp(work: Work, names: readonly string[]): Promise<CleanUp> {
  const { object, observed, options, context } = work
  const { cache, events } = context
  const { namespace } = keyOf(object)
  const problem = outputProblem(options.output, namespace)
  if (problem !== undefined) return failed(work, { reason: 'OutputNotAllowed', message: problem })
  const wanted = cleanUpJob(object, names, options, boundNode(work))
  const name = cleanUpName(object.spec.jobName)
  const obsolete = observed.cleanUps.filter(({ metadata }) => metadata.name !== name)
  for (const job of obsolete) await deleteJob(job, context)
  const live = cache.get(jobView, { namespace, name })
  if (live === undefined) {
    // A Pod that is still running could write a file again.
    if (obsolete.length > 0 || observed.activePods.length > 0) return running
    const creation = await createJob(wanted, context)
    if (typeof creation !== 'string') return failed(work, creation)
    if (creation === 'created') events.event(object, 'Normal', 'CleanupStarted', `Job ${name} removes ${names.join(', ')}`)
    return running
  }
  if (isForeign(live, object, cache))
    return failed(work, { reason: 'NameConflict', message: `The Job ${name} belongs to another object; it is not changed.` })
  if (live.metadata.deletionTimestamp !== undefined) return running
  if (!isSameOccasion(live, wanted)) {
    await deleteJob(live, context)
    return running
  }
  const end = endOf(live)
  if (end?.type === 'Failed')
    return failed(work, {
      reason: end.reason ?? 'JobFailed',
      message: `Job ${name} has not removed ${names.join(', ')}: ${end.message ?? ''}`,
    })
  if (end === undefined) return running
  events.event(object, 'Normal', 'CleanupDone', `Job ${name} has removed ${names.join(', ')}`)
  return { state: 'done' }
}

/**
 * Returns true if the Job belongs to another object, and therefore must not be replaced. A clean-up Job of an Xxx that no longer exists may
 * be replaced, so the result is false for this Job.
 */
function isForeign(job: DeepReadonly<batch.Job>, object: DeepReadonly<Xxx>, cache: CacheReader): boolean {
  const uid = xxxUidOf(job)
  if (uid === undefined || !isTask(job, 'clean-up')) return true
  const { namespace } = keyOf(object)
  return uid !== object.metadata.uid && cache.list(xxx, { namespace, index: [xxxesByUid, uid] }).length > 0
}

/** Records a Warning if the status does not contain the failure yet. */
function failed({ object, context }: Work, failure: Reason): CleanUp {
  const known = failureOf(object)
  if (known?.reason !== failure.reason || known.message !== failure.message)
    context.events.event(object, 'Warning', 'CleanupFailed', failure.message)
  return { state: 'failed', failure }
}
