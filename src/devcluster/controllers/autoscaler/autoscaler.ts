/**
 * The HorizontalPodAutoscaler controller for a cluster that serves no metrics. The controller keeps the number of replicas between the
 * minimum and the maximum, and reports each metric as missing (k8s.io/kubernetes/pkg/controller/podautoscaler: reconcileAutoscaler).
 */
import { formatTime } from '../../../api/conditions.ts'
import type { ResourceType } from '../../../api/group-version-kind.ts'
import { parseApiVersion } from '../../../api/group-version-kind.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { autoscaling } from '../../../api/kubernetes/autoscaling.ts'
import { isApiError } from '../../../client/api-error.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ReconcileContext, Result } from '../../../controller/reconciler.ts'
import type { Scale } from '../scale.ts'
import { NoScale, readScale, referencedType, writeReplicas } from '../scale.ts'
import type { TypeSource } from '../type-source.ts'
import { retryRefused } from '../retry-refused.ts'
import { writeStatus } from '../workloads/workload-status.ts'
import { missingMetric } from './missing-metrics.ts'

type Autoscaler = DeepReadonly<autoscaling.HorizontalPodAutoscaler>
type Condition = NonNullable<NonNullable<Autoscaler['status']>['conditions']>[number]
type ConditionType = 'AbleToScale' | 'ScalingActive'

/** Time in milliseconds between two reconciles of an autoscaler (kube-controller-manager's `--horizontal-pod-autoscaler-sync-period`). */
const periodMs = 15_000

/** @param source the types of the cluster. The controller looks up the type of the scale target in `source`. */
export function autoscalerController(source: TypeSource): ControllerDefinition {
  return defineController(autoscaling.horizontalPodAutoscaler, {
    name: 'horizontalpodautoscaler',
    resyncPeriodMs: 0,
    reconcile: retryRefused(async (autoscaler: Autoscaler, context: ReconcileContext): Promise<Result> => {
      await new Reconcile(autoscaler, context).run(source)
      return { requeueAfterMs: periodMs }
    }),
  })
}

/** Performs one reconcile of an autoscaler: collects the changes of the status, and writes the status once at the end. */
class Reconcile {
  readonly #autoscaler: Autoscaler
  readonly #context: ReconcileContext
  #conditions: readonly Condition[]

  constructor(autoscaler: Autoscaler, context: ReconcileContext) {
    this.#autoscaler = autoscaler
    this.#context = context
    this.#conditions = autoscaler.status?.conditions ?? []
  }

  async run(source: TypeSource): Promise<void> {
    let target
    try {
      target = await this.#readTarget(source)
    } catch (error) {
      const message = messageOf(error)
      this.#warn('FailedGetScale', message)
      this.#set('AbleToScale', 'False', 'FailedGetScale', `the HPA controller was unable to get the target's current scale: ${message}`)
      return this.#write({})
    }
    this.#set('AbleToScale', 'True', 'SucceededGetScale', "the HPA controller was able to get the target's current scale")
    const { type, scale } = target
    const current = scale.spec?.replicas ?? 0
    const { minReplicas = 1, maxReplicas = 0 } = this.#autoscaler.spec ?? {}
    if (current === 0) {
      this.#set('ScalingActive', 'False', 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero')
      return this.#write({ currentReplicas: 0, desiredReplicas: 0, currentMetrics: null })
    }
    if (current > maxReplicas) return this.#rescale(type, scale, maxReplicas, 'above Spec.MaxReplicas')
    if (current < minReplicas) return this.#rescale(type, scale, minReplicas, 'below Spec.MinReplicas')
    return this.#reportMetrics(scale)
  }

  async #readTarget(source: TypeSource): Promise<{ readonly type: ResourceType; readonly scale: Scale }> {
    const { apiVersion = '', kind = '', name = '' } = this.#autoscaler.spec?.scaleTargetRef ?? {}
    const type = referencedType({ apiVersion, kind }, source)
    if (type === undefined) throw new Error(`no matches for kind "${kind}" in group "${parseApiVersion(apiVersion).group}"`)
    const key = { namespace: this.#autoscaler.metadata.namespace!, name }
    return { type, scale: await readScale(this.#context.client, type, key) }
  }

  async #rescale(type: ResourceType, scale: Scale, desired: number, bound: string): Promise<void> {
    const { client, events, clock } = this.#context
    const current = scale.spec?.replicas ?? 0
    const reason = `Current number of replicas ${bound}`
    try {
      await writeReplicas(client, type, scale, desired)
    } catch (error) {
      const message = messageOf(error)
      this.#warn('FailedRescale', `New size: ${desired}; reason: ${reason}; error: ${message}`)
      this.#set('AbleToScale', 'False', 'FailedUpdateScale', `the HPA controller was unable to update the target scale: ${message}`)
      return this.#write({ currentReplicas: current, currentMetrics: null })
    }
    this.#set('AbleToScale', 'True', 'SucceededRescale', `the HPA controller was able to update the target scale to ${desired}`)
    events.event(this.#autoscaler, 'Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${reason}`)
    const lastScaleTime = formatTime(clock.now())
    return this.#write({ currentReplicas: current, desiredReplicas: desired, currentMetrics: null, lastScaleTime })
  }

  /** Reports that none of the metrics can be read. */
  #reportMetrics(scale: Scale): Promise<void> {
    const { metadata, spec } = this.#autoscaler
    const currentReplicas = scale.spec?.replicas ?? 0
    if (!scale.status?.selector) {
      this.#warn('SelectorRequired', 'selector is required')
      this.#set('ScalingActive', 'False', 'InvalidSelector', "the HPA target's scale is missing a selector")
      this.#warn('FailedComputeMetricsReplicas', 'selector is required')
      return this.#write({ currentReplicas, currentMetrics: null })
    }
    const metrics = spec?.metrics ?? []
    const failures = metrics.map((metric) => missingMetric(metric, metadata.namespace!))
    for (const { reason, message } of failures) this.#warn(reason, message)
    const [first] = failures
    if (first !== undefined) {
      this.#set('ScalingActive', 'False', first.reason, `the HPA was unable to compute the replica count: ${first.message}`)
      const count = failures.length
      this.#warn('FailedComputeMetricsReplicas', `invalid metrics (${count} invalid out of ${count}), first error is: ${first.error}`)
    }
    return this.#write({ currentReplicas, currentMetrics: metrics.map(() => ({ type: '' })) })
  }

  #warn(reason: string, message: string): void {
    this.#context.events.event(this.#autoscaler, 'Warning', reason, message)
  }

  #set(type: ConditionType, status: 'True' | 'False', reason: string, message: string): void {
    const before = this.#conditions.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(this.#context.clock.now())
    const changed = { type, status, reason, message, lastTransitionTime } as Condition
    this.#conditions =
      before === undefined
        ? [...this.#conditions, changed]
        : this.#conditions.map((condition) => (condition === before ? changed : condition))
  }

  async #write(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const { desiredReplicas = 0 } = this.#autoscaler.status ?? {}
    const status = { desiredReplicas, ...changes, conditions: this.#conditions }
    await writeStatus(autoscaling.horizontalPodAutoscaler, this.#autoscaler, status, this.#context, ['desiredReplicas'])
  }
}

function messageOf(error: unknown): string {
  // kube-controller-manager reports a missing scale subresource with this message.
  if (error instanceof NoScale) return 'the server could not find the requested resource'
  if (isApiError(error)) return error.status.message ?? error.message
  return error instanceof Error ? error.message : String(error)
}
