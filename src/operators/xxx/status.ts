/** The status of an Xxx. */
import { findCondition, mergeConditions, patchStatusIfChanged } from 'proreus'
import type { ConditionInput, DeepReadonly, ReconcileContext } from 'proreus'
import type { Phase, Xxx } from './kind.ts'
import { xxx } from './kind.ts'

export interface Reason {
  readonly reason: string
  readonly message: string
}

/** The outcome of a reconcile. */
export interface Report {
  readonly phase: Phase
  /** Why the Xxx is ready or not. It is ready in the phase Succeeded. */
  readonly ready: Reason
  /** Default: no change, as for the fields below. */
  readonly jobName?: string
  readonly builtBinaryName?: string
  readonly binaryNames?: readonly string[]
  /** Why files could not be removed; null when nothing has to be removed. */
  readonly cleanUpFailure?: Reason | null
}

/** Writes the status if it differs, and resolves to the object with it. */
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

/** Reports a problem that another client has to solve, with a Warning when it is new. */
export async function writeProblem(object: DeepReadonly<Xxx>, ready: Reason, context: ReconcileContext): Promise<void> {
  const known = findCondition(object.status?.conditions, 'Ready')
  if (known?.reason !== ready.reason || known.message !== ready.message)
    context.events.event(object, 'Warning', ready.reason, ready.message)
  await writeReport(object, { phase: 'Failed', ready }, context)
}

/** Returns why the latest clean-up failed; undefined when it did not fail. */
export function failureOf({ status }: DeepReadonly<Xxx>): DeepReadonly<Reason> | undefined {
  const condition = findCondition(status?.conditions, 'CleanupFailed')
  return condition?.status === 'True' ? condition : undefined
}

function failureCondition(failure: Reason | null): ConditionInput {
  return failure === null
    ? { type: 'CleanupFailed', status: 'False', reason: 'AsExpected', message: '' }
    : { type: 'CleanupFailed', status: 'True', ...failure }
}
