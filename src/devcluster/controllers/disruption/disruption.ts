/** The disruption controller: updates the status of PodDisruptionBudgets (k8s.io/kubernetes/pkg/controller/disruption). */
import type { Condition } from '../../../api/conditions.ts'
import { jsonEqual } from '../../../api/json.ts'
import { apps } from '../../../api/kubernetes/apps.ts'
import { core } from '../../../api/kubernetes/core.ts'
import { policy } from '../../../api/kubernetes/policy.ts'
import type { ObjectInput, ObjectKey } from '../../../api/object.ts'
import { formatKey } from '../../../api/object.ts'
import { isConflict, isNotFound } from '../../../client/api-error.ts'
import type { CacheReader } from '../../../cache/cache.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import { withDisruptionAllowed, withSyncFailed } from '../../resources/disruption-budget.ts'
import type { ReadonlyPod } from '../api-types.ts'
import { goSelector } from '../go-selector.ts'
import type { TypeSource } from '../type-source.ts'
import { selects } from '../workloads/dependents.ts'
import type { Budget } from './budget-status.ts'
import { desiredHealthy, disruptedPods, healthyPods, needsScale } from './budget-status.ts'
import { expectedPods } from './expected-pods.ts'

type Status = NonNullable<policy.PodDisruptionBudget['status']>

/**
 * @param source the types of the cluster. The controller looks up the types of the Pods' owners in `source`. These types are needed to read
 *   the scale of the owners.
 */
export function disruptionController(source: TypeSource): ControllerDefinition {
  const ambiguous: AmbiguousPods = new Map()
  return defineController(policy.podDisruptionBudget, {
    name: 'disruption',
    resyncPeriodMs: 0,
    watches: [
      { type: core.pod, map: (pod, context) => budgetsOfPod(pod, ambiguous, context) },
      { type: apps.replicaSet, map: () => [] },
      { type: apps.deployment, map: () => [] },
    ],
    reconcile: (budget, context) => {
      reportAmbiguous(budget, ambiguous, context)
      return reconcileBudget(budget, source, context)
    },
    deleted: (key) => Promise.resolve(void ambiguous.delete(formatKey(key))),
  })
}

/**
 * The changed Pods that several budgets select. The outer key is the key of the first of these budgets. The inner key is the name of the
 * Pod. The next reconcile of the first budget records an Event for each Pod in the inner map.
 */
type AmbiguousPods = Map<string, Map<string, ReadonlyPod>>

/** Records an Event for each Pod that several budgets select (DisruptionController.getPdbForPod). */
function reportAmbiguous({ metadata }: Budget, ambiguous: AmbiguousPods, { events }: ReconcileContext): void {
  const key = formatKey(metadata)
  for (const [name, pod] of ambiguous.get(key) ?? []) {
    const quoted = `${JSON.stringify(metadata.namespace)}/${JSON.stringify(name)}`
    const message = `Pod ${quoted} matches multiple PodDisruptionBudgets.  Chose ${JSON.stringify(metadata.name)} arbitrarily.`
    events.event(pod, 'Warning', 'MultiplePodDisruptionBudgets', message)
  }
  ambiguous.delete(key)
}

function budgetsOfPod(pod: ReadonlyPod, ambiguous: AmbiguousPods, { cache }: { readonly cache: CacheReader }): readonly ObjectKey[] {
  const { namespace, name } = pod.metadata
  const budgets = cache.list(policy.podDisruptionBudget, { namespace }).filter(({ spec }) => selects(spec?.selector, pod))
  const [first] = budgets
  if (first !== undefined && budgets.length > 1) {
    const key = formatKey(first.metadata)
    const pods = ambiguous.get(key) ?? new Map<string, ReadonlyPod>()
    ambiguous.set(key, pods.set(name, pod))
  }
  return budgets.map(({ metadata }) => metadata)
}

async function reconcileBudget(budget: Budget, source: TypeSource, context: ReconcileContext): Promise<Result> {
  const { cache, events, clock } = context
  const pods = cache.list(core.pod, { namespace: budget.metadata.namespace }).filter((pod) => selects(budget.spec?.selector, pod))
  if (pods.length === 0) events.event(budget, 'Normal', 'NoPods', 'No matching pods found')
  let expected
  try {
    expected = await expectedOf(budget, pods, source, context)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    events.event(budget, 'Warning', 'CalculateExpectedPodCountFailed', `Failed to calculate the number of expected pods: ${message}`)
    return reportFailure(budget, message, context)
  }
  const now = clock.now()
  const { pending, overdue, nextInMs } = disruptedPods(budget, pods, now)
  const { namespace } = budget.metadata
  for (const pod of overdue) {
    // As in kube-controller-manager, the message contains the namespace twice, and not the name of the budget
    // (DisruptionController.buildDisruptedPodMap).
    events.event(pod, 'Warning', 'NotDeleted', `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`)
  }
  const current = healthyPods(pods, pending)
  const desired = desiredHealthy(budget, expected)
  const allowed = expected === 0 ? 0 : Math.max(0, current - desired)
  const { generation } = budget.metadata
  const conditions = budget.status?.conditions as readonly Condition[] | undefined
  const status = {
    currentHealthy: current,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed: allowed,
    ...(Object.keys(pending).length > 0 && { disruptedPods: pending }),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: withDisruptionAllowed(conditions, allowed, { now, generation }),
  }
  return (await write(budget, status as Status, context)) ?? (nextInMs === undefined ? undefined : { requeueAfterMs: nextInMs })
}

/** Resolves with the number of Pods that should exist. */
async function expectedOf(budget: Budget, pods: readonly ReadonlyPod[], source: TypeSource, context: ReconcileContext): Promise<number> {
  if (!needsScale(budget)) return budget.spec?.minAvailable === undefined ? 0 : pods.length
  const { count, hasUnmanaged } = await expectedPods(pods, source, context)
  if (hasUnmanaged) {
    const selector = goSelector(budget.spec?.selector)
    const message =
      `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the PDB ` +
      'cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" ' +
      'field of the PDB to an integer value.'
    context.events.event(budget, 'Warning', 'UnmanagedPods', message)
  }
  return count
}

/**
 * Reports in the status that the number of expected Pods cannot be computed, and sets `disruptionsAllowed` to 0
 * (DisruptionController.failSafe).
 */
function reportFailure(budget: Budget, message: string, context: ReconcileContext): Promise<Result> {
  const { observedGeneration: generation, conditions } = budget.status ?? {}
  const at = { now: context.clock.now(), generation }
  const changed = { disruptionsAllowed: 0, conditions: withSyncFailed(conditions as readonly Condition[] | undefined, message, at) }
  return write(budget, { ...budget.status, ...changed } as Status, context)
}

/**
 * Writes the status if it has changed. After a conflict, resolves with `requeue: true`. For example, an eviction that changes the budget at
 * the same time causes a conflict.
 */
async function write(budget: Budget, status: Status, { client }: ReconcileContext): Promise<Result> {
  if (jsonEqual(status, budget.status)) return undefined
  try {
    await client.updateStatus(policy.podDisruptionBudget, { ...budget, status } as ObjectInput<policy.PodDisruptionBudget>)
  } catch (error) {
    if (isConflict(error)) return { requeue: true }
    if (!isNotFound(error)) throw error
  }
  return undefined
}
