/** Brings the Jobs of an Xxx to the state that the spec of the Xxx describes. */
import { findCondition, isControlledBy, keyOf } from 'proreus'
import type { batch, DeepReadonly, ReconcileContext, Result } from 'proreus'
import { buildJob, buildsSpec } from './build-job.ts'
import { cleanUp } from './clean-up.ts'
import { jobView } from './job-view.ts'
import type { Xxx } from './kind.ts'
import { endOf } from './observed.ts'
import type { XxxOptions } from './options.ts'
import { writeProblem, writeReport } from './status.ts'
import type { Reason, Report } from './status.ts'
import { boundNode, createJob, deleteJob, outputProblem, retryMs, workOn } from './work.ts'
import type { Work } from './work.ts'

type Job = DeepReadonly<batch.Job>

const retry: Result = { requeueAfterMs: retryMs }

export async function reconcileXxx(found: DeepReadonly<Xxx>, options: XxxOptions, context: ReconcileContext): Promise<Result> {
  const work = await workOn(found, options, context)
  const { object, observed } = work
  const { namespace } = keyOf(object)
  const name = object.spec.jobName
  const problem = outputProblem(options.output, namespace)
  if (problem !== undefined) return refuse(work, { reason: 'OutputNotAllowed', message: problem })
  const live = context.cache.get(jobView, { namespace, name })
  if (live !== undefined && !isControlledBy(live, object))
    return refuse(work, { reason: 'NameConflict', message: `The Job ${name} belongs to another object; it is not changed.` })
  const isCurrent = (job: Job): boolean =>
    job.metadata.name === name && job.metadata.deletionTimestamp === undefined && buildsSpec(job, object.spec)
  const outdated = observed.builds.filter((job) => !isCurrent(job))
  if (outdated.length > 0) return replace(work, outdated)
  const [build] = observed.builds
  return build === undefined ? startBuild(work) : reportBuild(work, build)
}

async function refuse({ object, context }: Work, problem: Reason): Promise<Result> {
  await writeProblem(object, problem, context)
  return retry
}

/** Deletes the outdated Jobs. Their deletion events trigger the reconcile that starts the new build. */
async function replace({ object, context }: Work, outdated: readonly Job[]): Promise<Result> {
  await writeReport(object, building('ReplacingJob', `Job ${namesOf(outdated)} is being deleted.`), context)
  for (const job of outdated.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
    await deleteJob(job, context)
    const change = `Job ${job.metadata.name} is replaced by ${object.spec.jobName}`
    context.events.event(object, 'Normal', 'JobReplaced', `${change}, because it does not build the current spec`)
  }
}

async function startBuild(work: Work): Promise<Result> {
  const { object, observed, options, context } = work
  const { spec, status } = object
  // If an earlier build did not succeed, its file may still exist. This file is removed before the new build starts, unless the new build
  // writes a file with the same name. The file of the last successful build is removed only after the new build has succeeded.
  const unwanted = observed.binaryNames.filter((name) => name !== spec.binaryName && name !== status?.builtBinaryName)
  if (unwanted.length > 0) return remove(work, unwanted, building('CleaningUp', `Removes ${unwanted.join(', ')}.`))
  for (const job of observed.cleanUps) await deleteJob(job, context)
  const pods = observed.activePods
  if (observed.cleanUps.length + pods.length > 0) {
    const waiting = [...observed.cleanUps, ...pods]
    await writeReport(object, building('Waiting', `Waits for the end of ${namesOf(waiting)}.`), context)
    return
  }
  const creation = await createJob(buildJob(object, options, boundNode(work)), context)
  if (creation === 'exists') return
  if (creation !== 'created') return refuse(work, creation)
  context.events.event(object, 'Normal', 'JobCreated', `Job ${spec.jobName} builds ${spec.binaryName}`)
  await writeReport(object, { ...isRunning(spec.jobName), jobName: spec.jobName }, context)
}

async function reportBuild(work: Work, job: Job): Promise<Result> {
  const { object, observed, context } = work
  const { binaryName, jobName } = object.spec
  const end = endOf(job)
  const known = findCondition(object.status?.conditions, 'Ready')?.reason
  if (end === undefined) {
    await writeReport(object, { ...isRunning(jobName), jobName }, context)
    return
  }
  if (end.type === 'Failed') {
    const message = `Job ${jobName} has failed: ${end.message ?? ''}`
    if (known !== 'BuildFailed') context.events.event(object, 'Warning', 'BuildFailed', message)
    await writeReport(object, { phase: 'Failed', ready: { reason: 'BuildFailed', message }, jobName }, context)
    return
  }
  const message = `Job ${jobName} has built ${binaryName}.`
  if (known !== 'BuildSucceeded') context.events.event(object, 'Normal', 'BuildSucceeded', message)
  const report: Report = { phase: 'Succeeded', ready: { reason: 'BuildSucceeded', message }, jobName, builtBinaryName: binaryName }
  const unwanted = observed.binaryNames.filter((name) => name !== binaryName)
  if (unwanted.length > 0) return remove(work, unwanted, report)
  await writeReport(object, { ...report, cleanUpFailure: null }, context)
}

/** Removes files that are no longer wanted. `report` is written to the status, with the result of the clean-up. */
async function remove(work: Work, names: readonly string[], report: Report): Promise<Result> {
  const { object, observed, context } = work
  const step = await cleanUp(work, names)
  switch (step.state) {
    case 'running':
      await writeReport(object, report, context)
      return
    case 'failed':
      await writeReport(object, { ...report, cleanUpFailure: step.failure }, context)
      return retry
    case 'done': {
      const binaryNames = observed.binaryNames.filter((name) => !names.includes(name))
      await writeReport(object, { ...report, binaryNames, cleanUpFailure: null }, context)
      return { requeue: true }
    }
  }
}

function isRunning(jobName: string): Report {
  return building('JobRunning', `Job ${jobName} has not ended yet.`)
}

function building(reason: string, message: string): Report {
  return { phase: 'Building', ready: { reason, message } }
}

function namesOf(objects: readonly { readonly metadata: { readonly name: string } }[]): string {
  return objects
    .map(({ metadata }) => metadata.name)
    .sort()
    .join(', ')
}
