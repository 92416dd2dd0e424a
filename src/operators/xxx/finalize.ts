/** Removes the files of an Xxx that is being deleted. */
import type { DeepReadonly, ReconcileContext, Result } from 'proreus'
import { cleanUp } from './clean-up.ts'
import type { Xxx } from './kind.ts'
import { isTask } from './labels.ts'
import type { XxxOptions } from './options.ts'
import { failureOf, writeReport } from './status.ts'
import type { Reason, Report } from './status.ts'
import { deleteJob, namespaceTerminating, retryMs, workOn } from './work.ts'

/** An Xxx with this annotation is deleted even if its files could not be removed. */
const forceAnnotation = 'test.inspur.com/force-delete'

/** While `finalizeXxx` returns this result, the finalizer is kept, and `finalizeXxx` is called again. */
const wait: Result = { requeueAfterMs: retryMs }

/** Stops the build, and then removes the files. When no result is returned, the framework removes the finalizer. */
export async function finalizeXxx(found: DeepReadonly<Xxx>, options: XxxOptions, context: ReconcileContext): Promise<Result> {
  const work = await workOn(found, options, context)
  const { object, observed } = work
  for (const job of observed.builds) await deleteJob(job, context)
  const isStopped = observed.builds.length === 0 && !observed.activePods.some((pod) => isTask(pod, 'build'))
  if (!isStopped) {
    await writeReport(object, deleting('StoppingBuild', 'The build is being stopped.'), context)
    return wait
  }
  const names = observed.binaryNames
  if (names.length === 0) return
  const isForced = object.metadata.annotations?.[forceAnnotation] === 'true'
  const before = failureOf(object)
  if (isForced && before !== undefined) return skip(object, names, before, context)
  const step = await cleanUp(work, names)
  switch (step.state) {
    case 'running':
      await writeReport(object, deleting('CleaningUp', `Removes ${names.join(', ')}.`), context)
      return wait
    case 'failed':
      // In a namespace that is being deleted, no Job can be created. If the Xxx waited for a Job, the namespace could never be deleted.
      if (isForced || step.failure.reason === namespaceTerminating) return skip(object, names, step.failure, context)
      await writeReport(object, { ...deleting('CleanupFailed', step.failure.message), cleanUpFailure: step.failure }, context)
      return wait
    case 'done':
      await writeReport(object, { ...deleting('CleanedUp', ''), binaryNames: [], cleanUpFailure: null }, context)
      return
  }
}

function skip(object: DeepReadonly<Xxx>, names: readonly string[], { message }: Reason, { events, logger }: ReconcileContext): void {
  events.event(object, 'Warning', 'CleanupSkipped', `${names.join(', ')} may still exist: ${message}`)
  logger.warn({ files: names }, `deleted without a clean-up: ${message}`)
}

function deleting(reason: string, message: string): Report {
  return { phase: 'Deleting', ready: { reason, message } }
}
