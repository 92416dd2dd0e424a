/** The data that all steps of a reconcile need, and functions that create and delete Jobs. */
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

/**
 * Reads the state of an Xxx, and updates the status of the Xxx: the field `binaryNames` gets the names of all files that builds of the Xxx
 * may have written. This function is called before any Job is deleted. Until the status is written, an annotation of a Job can be the only
 * place that contains the name of a file.
 */
export async function workOn(found: DeepReadonly<Xxx>, options: XxxOptions, context: ReconcileContext): Promise<Work> {
  const observed = observe(found, context.cache)
  const { binaryNames, node = null } = observed
  if (binaryNames.length === 0) return { object: found, observed, options, context }
  const object = await patchStatusIfChanged(context.client, xxx, found, { binaryNames: [...binaryNames], node })
  return { object, observed, options, context }
}

/** The retry interval in milliseconds when a step has to wait for a user or another client. */
export const retryMs = 30_000

/**
 * The reason that the API server reports if the namespace of a new object is being deleted. Retries are useless, because no objects can be
 * created in this namespace.
 */
export const namespaceTerminating = 'NamespaceTerminating'

/** Returns the reason why Xxxes of `namespace` may not write to the output; undefined if they may. */
export function outputProblem(output: Output, namespace: string): string | undefined {
  if (output.kind !== 'hostPath' || output.namespaces.includes(namespace)) return undefined
  return `Xxxes of the namespace "${namespace}" may not write to the node: XXX_OUTPUT_NAMESPACES of the operator does not have it`
}

/**
 * Returns the node on which the next Job must run; undefined if the Job may run on any node. If the output is a hostPath, and built files
 * may exist in it, builds and clean-ups run on the node of the latest build.
 */
export function boundNode({ observed, options }: Work): string | undefined {
  return options.output.kind === 'hostPath' && observed.binaryNames.length > 0 ? observed.node : undefined
}

/**
 * The result of the creation of a Job. `exists` means that the API server has a Job with this name, but the cache does not contain this Job
 * yet. The event of the existing Job triggers a reconcile.
 */
export type Creation = 'created' | 'exists' | Reason

/**
 * Creates a Job. Resolves to one of these values:
 *
 * - `created` if the Job has been created.
 * - `exists` if the API server returns the error AlreadyExists.
 * - a `Reason` for the status of the Xxx if the API server rejects the Job with the error Forbidden (403) or Invalid (422).
 *
 * Rejects with all other errors.
 */
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

/** Deletes a Job in the foreground: its Pods are deleted first. The deletion event of the Job triggers a reconcile. */
export async function deleteJob(job: DeepReadonly<batch.Job>, { client }: ReconcileContext): Promise<void> {
  if (job.metadata.deletionTimestamp !== undefined) return
  const { uid } = job.metadata
  try {
    await client.delete(batch.job, keyOf(job), { propagationPolicy: 'Foreground', preconditions: { uid } })
  } catch (error) {
    // NotFound means that the Job is already deleted. Conflict means that another Job has the same name. In both cases, there is nothing to
    // delete.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
