/**
 * Executes the steps in the life of a workload on the real and on the embedded control plane, and compares the results of each step. No
 * kubelet runs. Instead, the steps write the same status of Pods on both control planes.
 *
 * A step ends when its `until` returns true and the objects of both control planes no longer change. These results are compared:
 *
 * - `effect`: true if `until` returns true
 * - `objects`: the objects of the namespace, after the replacement of names (see `names.ts`)
 * - `created` and `deleted`: the numbers of created and deleted objects, including objects that existed only for a moment
 * - `moments`: values that the workloads had only during the step (see `states.ts`)
 * - `events`: the set of Events, by object, type, reason and source
 *
 * If the results differ, the comparison is repeated for some seconds, because some controllers act only after a timer has ended.
 */
import type { ResourceType } from '../../../../src/api/group-version-kind.ts'
import type { JsonObject } from '../../../../src/api/json.ts'
import { jsonEqual } from '../../../../src/api/json.ts'
import type { AcceptedDifference, Review } from '../accepted.ts'
import { review } from '../accepted.ts'
import { differencesOf } from '../compare.ts'
import type { Comparison, Sides } from '../player.ts'
import type { Theatre } from './stage.ts'
import { Stage } from './stage.ts'

export interface Step {
  readonly id: string
  readonly act: (stage: Stage) => Promise<unknown>
  /**
   * Returns true when the step has had its effect in the control plane of the stage. The step does not end before the function returns true
   * for both control planes, unless a time limit (`effectMs` or `patienceMs`) is reached.
   */
  readonly until: (stage: Stage) => boolean
}

export interface Life {
  readonly name: string
  readonly steps: readonly Step[]
}

export function step(id: string, act: Step['act'], until: Step['until'] = () => true): Step {
  return { id, act, until }
}

/**
 * Returns a condition for `until`. The condition is true when the object exists, and each path in `values` has the given value in the
 * object. The value `null` requires that the object has no value at the path.
 */
export function has(type: ResourceType, name: string, values: JsonObject): Step['until'] {
  return (stage) =>
    stage.see(type, name, 'metadata') !== undefined &&
    Object.entries(values).every(([path, value]) => jsonEqual(stage.see(type, name, path) ?? null, value))
}

/** Returns a condition for `until`. It is true when there are `number` objects of the type. */
export function count({ kind }: ResourceType, number: number): Step['until'] {
  return (stage) => stage.all(kind).length === number
}

const pollMs = 50
/**
 * The maximum time in milliseconds to wait until a step has its effect. The limit is longer than a minute, because a CronJob runs at the
 * next full minute.
 */
const effectMs = 80_000
/**
 * The maximum time in milliseconds to wait until both control planes have the same outcome. The time begins when the step has had its
 * effect in both control planes.
 */
const patienceMs = 6_000

/** The maximum number of times that a life is executed. A life is executed again if it has differences that are not accepted. */
const performances = 3

/**
 * Executes a life, and returns the comparisons of its steps. Some differences depend on timing, e.g. on a race between two controllers of
 * kube-controller-manager. Therefore, a life is executed again if it has differences that are not accepted. Such a difference is returned
 * only if it occurs in every execution. Accepted differences are always returned.
 */
export async function playLife(life: Life, theatres: Sides<Theatre>, accepted: readonly AcceptedDifference[]): Promise<Comparison[]> {
  let comparisons = await perform(life, theatres, 1)
  for (let performance = 2; performance <= performances; performance += 1) {
    const { failed } = review(comparisons, accepted)
    if (failed.length === 0) return comparisons
    comparisons = withoutChance(comparisons, failed, await perform(life, theatres, performance))
  }
  return comparisons
}

/**
 * Returns the comparisons in `first`, but omits each difference that is in `failed` and does not occur in `again`. Two differences are the
 * same if the step and the path are the same.
 *
 * @param first the comparisons of the steps of a workload.
 * @param failed the differences in `first` that are not accepted.
 * @param again the comparisons of a later execution of the same steps.
 */
function withoutChance(first: readonly Comparison[], failed: Review['failed'], again: readonly Comparison[]): Comparison[] {
  return first.map((comparison) => {
    const suspects = failed.find((one) => one.comparison === comparison)?.differences ?? []
    const repeated = new Set(again.find(({ id }) => id === comparison.id)?.differences.map(({ path }) => path))
    return { ...comparison, differences: comparison.differences.filter((one) => !suspects.includes(one) || repeated.has(one.path)) }
  })
}

/**
 * Executes the steps of a life once, in a new namespace of each control plane. The namespaces and their objects are not deleted afterwards.
 */
async function perform({ name, steps }: Life, theatres: Sides<Theatre>, performance: number): Promise<Comparison[]> {
  const namespace = `life-${name}-${performance}`
  const stages = { real: new Stage(theatres.real, namespace), embedded: new Stage(theatres.embedded, namespace) }
  const both = [stages.real, stages.embedded]
  await Promise.all(both.map((stage) => stage.open()))
  const comparisons: Comparison[] = []
  for (const one of steps) {
    const { real, embedded } = await playStep(one, stages).catch((error: unknown) => {
      throw new Error(`life of ${name}: the step ${one.id} failed`, { cause: error })
    })
    both.forEach((stage) => stage.endStep())
    const differences = differencesOf(real, embedded)
    comparisons.push({ scenario: `life of ${name}`, id: one.id, request: one.id, real, embedded, differences })
  }
  return comparisons
}

/**
 * Executes a step. Resolves with the outcomes when both control planes are at rest and the outcomes are equal, or when the time is over.
 */
async function playStep({ act, until }: Step, { real, embedded }: Sides<Stage>): Promise<Sides<JsonObject>> {
  await Promise.all([act(real), act(embedded)])
  const started = Date.now()
  let patientSince = Number.POSITIVE_INFINITY
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    const hasEffect = until(real) && until(embedded)
    if (hasEffect) patientSince = Math.min(patientSince, Date.now())
    const isOver = Date.now() - patientSince > patienceMs || Date.now() - started > effectMs
    if (!isOver && !(hasEffect && real.isAtRest() && embedded.isAtRest())) continue
    if (!until(real) && !until(embedded)) throw new Error('the step has no effect in either control plane')
    const outcomes = { real: { effect: until(real), ...real.outcome() }, embedded: { effect: until(embedded), ...embedded.outcome() } }
    if (isOver || jsonEqual(outcomes.real, outcomes.embedded)) return outcomes
  }
}
