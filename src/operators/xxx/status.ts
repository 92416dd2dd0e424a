/** The status of an Xxx. */
import { findCondition, mergeConditions, patchStatusIfChanged } from 'proreus'
import type { ConditionInput, DeepReadonly, ReconcileContext } from 'proreus'
import type { Phase, Xxx } from './kind.ts'
import { xxx } from './kind.ts'

export interface Reason {
  readonly reason: string
  readonly message: string
}

/** The fields of the status that a reconcile writes. */
export interface Report {
  readonly phase: Phase
  /** The reason and message of the condition Ready. The condition is True in the phase Succeeded. */
  readonly ready: Reason
  /** If this field or one of the fields below is undefined, the corresponding field of the status does not change. */
  readonly jobName?: string
  readonly builtBinaryName?: string
  readonly binaryNames?: readonly string[]
  /** The reason why files could not be removed; null when the files are removed, or when there is no file to remove. */
  readonly cleanUpFailure?: Reason | null
}

/** Writes the status if it has changed. Resolves with the object that has the new status. */
export async function writeReport(
  object: DeepReadonly<Xxx>,
  report: Report,
  { client, clock }: ReconcileContext,
): Promise<DeepReadonly<Xxx>> {
  const { phase, ready, cleanUpFailure, binaryNames, ...fields } = report
  const { generation } = object.metadata
  const conditions: ConditionInput[] = [{ type: 'Ready', status: phase === 'Succeeded' ? 'True' : 'False', ...ready }]
  if (cleanUpFailure !== undefined) conditions.push(failureCondition(cleanUpFailure))
  else if (failureOf(object) === undefined) conditions.push(failureCondition(null))
  return patchStatusIfChanged(client, xxx, object, {
    phase,
    ...fields,
    ...(binaryNames !== undefined && { binaryNames: [...binaryNames] }),
    observedGeneration: generation,
    conditions: mergeConditions(object.status?.conditions, conditions, { now: clock.now(), generation }),
  })
}

/**
 * Writes a problem to the status. The problem must be solved by the user. If the status does not contain the problem yet, also records an
 * Event of the type Warning.
 */
export async function writeProblem(object: DeepReadonly<Xxx>, ready: Reason, context: ReconcileContext): Promise<void> {
  const known = findCondition(object.status?.conditions, 'Ready')
  if (known?.reason !== ready.reason || known.message !== ready.message)
    context.events.event(object, 'Warning', ready.reason, ready.message)
  await writeReport(object, { phase: 'Failed', ready }, context)
}

/** Returns the reason why the latest clean-up failed; undefined if it did not fail. */
export function failureOf({ status }: DeepReadonly<Xxx>): DeepReadonly<Reason> | undefined {
  const condition = findCondition(status?.conditions, 'CleanupFailed')
  return condition?.status === 'True' ? condition : undefined
}

function failureCondition(failure: Reason | null): ConditionInput {
  return failure === null
    ? { type: 'CleanupFailed', status: 'False', reason: 'AsExpected', message: '' }
    : { type: 'CleanupFailed', status: 'True', ...failure }
}
