/** Messages for metrics that the autoscaler cannot read (k8s.io/kubernetes/pkg/controller/podautoscaler). */
import type { autoscaling } from '../../../api/kubernetes/autoscaling.ts'
import type { DeepReadonly } from '../../../api/json.ts'
import { goSelector } from '../go-selector.ts'

export type Metric = NonNullable<NonNullable<DeepReadonly<autoscaling.HorizontalPodAutoscaler>['spec']>['metrics']>[number]

/** The reason and the messages that the autoscaler reports for a metric that it cannot read. */
export interface MissingMetric {
  /** The reason of the condition ScalingActive and of the Event. */
  readonly reason: string
  readonly message: string
  /** The error for this metric. The Event `FailedComputeMetricsReplicas` contains the error for the first metric. */
  readonly error: string
}

const notServed = 'the server could not find the requested resource'
const customMetrics = 'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'

/**
 * Returns the reason and the messages that the autoscaler reports for a metric. The autoscaler cannot read any metric, because the cluster
 * serves no metrics API.
 */
export function missingMetric({ type, resource, containerResource, pods, object, external }: Metric, namespace: string): MissingMetric {
  if (containerResource !== undefined) {
    const message = resourceMessage(containerResource)
    return missing('FailedGetContainerResourceMetric', message, `${containerResource.container} container metric value`)
  }
  if (pods !== undefined)
    return missing('FailedGetPodsMetric', `unable to get metric ${pods.metric.name}: ${customMetrics}`, 'pods metric value')
  if (object !== undefined) {
    const { kind, name } = object.describedObject
    const message = `unable to get metric ${object.metric.name}: ${kind} on ${namespace} ${name}/${customMetrics}`
    return missing('FailedGetObjectMetric', message, 'object metric value')
  }
  if (external !== undefined) {
    const { name, selector } = external.metric
    const cause = `unable to fetch metrics from external metrics API: ${notServed} (get ${name}.external.metrics.k8s.io)`
    const message = `unable to get external metric ${namespace}/${name}/${goSelector(selector)}: ${cause}`
    const failed = external.target.averageValue === undefined ? `external metric ${name}` : `${name} external metric`
    return missing('FailedGetExternalMetric', message, `${name} external metric value: failed to get ${failed}`)
  }
  if (resource !== undefined) return missing('FailedGetResourceMetric', resourceMessage(resource), `${resource.name} resource metric value`)
  return missing('InvalidMetricSourceType', `unknown metric source type "${type}"`, 'metric value')
}

function missing(reason: string, message: string, value: string): MissingMetric {
  return { reason, message, error: `failed to get ${value}: ${message}` }
}

function resourceMessage({ name, target }: NonNullable<Metric['resource']>): string {
  const wanted = target.averageValue === undefined ? 'utilization' : 'usage'
  const cause = `unable to fetch metrics from resource metrics API: ${notServed} (get pods.metrics.k8s.io)`
  return `failed to get ${name} ${wanted}: unable to get metrics for resource ${name}: ${cause}`
}
