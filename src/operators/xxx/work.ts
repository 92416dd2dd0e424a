/** What the steps of a reconcile have in common, and how they create and delete Jobs. */
import { batch, isAlreadyExists, isApiError, isConflict, isForbidden, isInvalid, isNotFound, keyOf, patchStatusIfChanged } from 'proreus'
import type { DeepReadonly, ObjectInput, ReconcileContext } from 'proreus'
import { xxx, type Xxx } from './kind.ts'
import { observe } from './observed.ts'
import type { Observed } from './observed.ts'
import type { Output, XxxOptions } from './options.ts'
import type { Reason } from './status.ts'

/** One reconcile of an Xxx. */
export interface Work {
  readonly object: DeepReadonly<Xxx>
  readonly observed: Observed
  readonly options: XxxOptions
  readonly context: ReconcileContext
}

/** Observes an Xxx, and writes into its status which files may exist. This happens before the Job is deleted that shows it. */
export async function workOn(found: DeepReadonly<Xxx>, options: XxxOptions, context: ReconcileContext): Promise<Work> {
  const observed = observe(found, context.cache)
  const { binaryNames, node = null } = observed
  if (binaryNames.length === 0) return { object: found, observed, options, context }
  const object = await patchStatusIfChanged(context.client, xxx, found, { binaryNames: [...binaryNames], node })
  return { object, observed, options, context }
}

/** The time in milliseconds after which a step is tried again that another client has to make possible. */
export const retryMs = 30_000

/** The reason of a refusal that no retry can change: a namespace that is being deleted accepts no objects. */
export const namespaceTerminating = 'NamespaceTerminating'

/** Returns why Xxxes of this namespace have no access to the output; undefined when they have. */
export function outputProblem(output: Output, namespace: string): string | undefined {
  if (output.kind !== 'hostPath' || output.namespaces.includes(namespace)) return undefined
  return `Xxxes of the namespace "${namespace}" may not write to the node: XXX_OUTPUT_NAMESPACES of the operator does not have it`
}

/**
 * Returns the node to which a Job is bound. The files are on the node of the build, if the output is a folder of the node. All later builds
 * and clean-ups then run there.
 */
export function boundNode({ observed, options }: Work): string | undefined {
  return options.output.kind === 'hostPath' && observed.binaryNames.length > 0 ? observed.node : undefined
}

/** The result of the creation of a Job. When a Job of this name exists, the cache is behind, and its event is another reconcile. */
export type Creation = 'created' | 'exists' | Reason

/** Creates a Job. Resolves to the reason when the API server refuses the Job. */
export async function createJob(job: ObjectInput<batch.Job>, { client }: ReconcileContext): Promise<Creation> {
  try {
    await client.create(batch.job, job)
    return 'created'
  } catch (error) {
    if (isAlreadyExists(error)) return 'exists'
    if (!isApiError(error) || !(isForbidden(error) || isInvalid(error))) throw error
    const isTerminating = error.causes.some(({ reason }) => reason === namespaceTerminating)
    return { reason: isTerminating ? namespaceTerminating : 'JobRefused', message: error.message }
  }
}

/** Deletes a Job after its Pods. Its last event is another reconcile. */
export async function deleteJob(job: DeepReadonly<batch.Job>, { client }: ReconcileContext): Promise<void> {
  if (job.metadata.deletionTimestamp !== undefined) return
  const { uid } = job.metadata
  try {
    await client.delete(batch.job, keyOf(job), { propagationPolicy: 'Foreground', preconditions: { uid } })
  } catch (error) {
    // It is gone, or another Job has its name.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
