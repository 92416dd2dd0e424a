/** Tests of HorizontalPodAutoscalers in a cluster without metrics. */
import t from 'tap'
import { findCondition } from '../../src/api/conditions.ts'
import { apps } from '../../src/api/kubernetes/apps.ts'
import { autoscaling } from '../../src/api/kubernetes/autoscaling.ts'
import { core } from '../../src/api/kubernetes/core.ts'
import type { ObjectInput } from '../../src/api/object.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { needsKubectl } from '../support/process/process.ts'

const namespace = 'conformance-autoscalers'
const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace] })
const { client } = controlPlane
/** A time limit in milliseconds. kube-controller-manager reconciles a new autoscaler only after 15 s. */
const patientMs = 60_000

async function createTarget(name: string, replicas: number): Promise<void> {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } }
  await client.create(apps.deployment, { metadata: { namespace, name }, spec: { replicas, selector: { matchLabels: labels }, template } })
}

async function createAutoscaler(name: string, more: object = {}): Promise<void> {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name }
  const spec = { scaleTargetRef, minReplicas: 2, maxReplicas: 3, ...more }
  const autoscaler = { metadata: { namespace, name }, spec }
  await client.create(autoscaling.horizontalPodAutoscaler, autoscaler as unknown as ObjectInput<autoscaling.HorizontalPodAutoscaler>)
}

/** Resolves with the autoscaler when its condition `type` has the reason `reason`. */
function untilReason(name: string, type: string, reason: string): Promise<autoscaling.HorizontalPodAutoscaler> {
  return until(
    `${type} of ${name} is ${reason}`,
    async () => {
      const found = await client.get(autoscaling.horizontalPodAutoscaler, { namespace, name })
      return findCondition(found.status?.conditions, type)?.reason === reason && found
    },
    patientMs,
  )
}

/**
 * Resolves with the message of the autoscaler's Event that has the reason `reason`. The function waits for the Event, because the Event may
 * be written later than the status.
 */
function untilEvent(name: string, reason: string): Promise<string> {
  const fieldSelector = `involvedObject.kind=HorizontalPodAutoscaler,involvedObject.name=${name}`
  return until(`${name} has an Event ${reason}`, async () => {
    const { items } = await client.list(core.event, { namespace, fieldSelector })
    return items.find((event) => event.reason === reason)?.message
  })
}

const notServed = 'the server could not find the requested resource'
const custom = 'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered'
const able = {
  type: 'AbleToScale',
  status: 'True',
  reason: 'SucceededGetScale',
  message: "the HPA controller was able to get the target's current scale",
}
const target = { type: 'AverageValue', averageValue: '1' }

/** Metrics of an autoscaler. Each entry has a metric, and the reason and message of the condition that the metric causes. */
const metrics: Readonly<Record<string, readonly [metric: object | undefined, reason: string, message: string]>> = {
  cpu: [
    undefined,
    'FailedGetResourceMetric',
    `failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: ${notServed} (get pods.metrics.k8s.io)`,
  ],
  memory: [
    { type: 'Resource', resource: { name: 'memory', target } },
    'FailedGetResourceMetric',
    `failed to get memory usage: unable to get metrics for resource memory: unable to fetch metrics from resource metrics API: ${notServed} (get pods.metrics.k8s.io)`,
  ],
  container: [
    { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'main', target } },
    'FailedGetContainerResourceMetric',
    `failed to get cpu usage: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: ${notServed} (get pods.metrics.k8s.io)`,
  ],
  pods: [{ type: 'Pods', pods: { metric: { name: 'm' }, target } }, 'FailedGetPodsMetric', `unable to get metric m: ${custom}`],
  object: [
    { type: 'Object', object: { metric: { name: 'm' }, describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' }, target } },
    'FailedGetObjectMetric',
    `unable to get metric m: Service on ${namespace} s/${custom}`,
  ],
  external: [
    { type: 'External', external: { metric: { name: 'm', selector: { matchLabels: { a: 'b' } } }, target } },
    'FailedGetExternalMetric',
    `unable to get external metric ${namespace}/m/&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: ${notServed} (get m.external.metrics.k8s.io)`,
  ],
}

t.test('an autoscaler reports that there are no metrics', async (t) => {
  for (const [name, [metric]] of Object.entries(metrics)) {
    await createTarget(name, 2)
    await createAutoscaler(name, metric === undefined ? {} : { metrics: [metric] })
  }
  for (const [name, [, reason, message]] of Object.entries(metrics)) {
    const { status } = await untilReason(name, 'ScalingActive', reason)
    const { conditions = [], ...others } = status!
    t.strictSame(others, { currentReplicas: 2, desiredReplicas: 0, currentMetrics: [{ type: '' }] })
    const inactive = {
      type: 'ScalingActive',
      status: 'False',
      reason,
      message: `the HPA was unable to compute the replica count: ${message}`,
    }
    t.strictSame(
      conditions.map(({ lastTransitionTime: _time, ...condition }) => condition),
      [able, inactive],
    )
    t.equal(await untilEvent(name, reason), message)
    const invalid = await untilEvent(name, 'FailedComputeMetricsReplicas')
    const [, error] = /^invalid metrics \(1 invalid out of 1\), first error is: (.+)$/.exec(invalid) ?? []
    t.ok(error?.startsWith('failed to get ') && error.endsWith(message))
  }
})

t.test('the replicas are kept between the minimum and the maximum', async (t) => {
  await createTarget('many', 5)
  await createTarget('few', 1)
  await createTarget('none', 0)
  for (const name of ['many', 'few', 'none']) await createAutoscaler(name)
  for (const [name, replicas, bound] of [
    ['many', 3, 'above Spec.MaxReplicas'],
    ['few', 2, 'below Spec.MinReplicas'],
  ] as const) {
    await until(
      `${name} is scaled`,
      async () => (await client.get(apps.deployment, { namespace, name })).spec?.replicas === replicas,
      patientMs,
    )
    const { status } = await untilReason(name, 'ScalingActive', 'FailedGetResourceMetric')
    t.strictSame([status?.currentReplicas, status?.desiredReplicas], [replicas, replicas])
    t.ok(status?.lastScaleTime)
    t.equal(await untilEvent(name, 'SuccessfulRescale'), `New size: ${replicas}; reason: Current number of replicas ${bound}`)
  }
  const { status } = await untilReason('none', 'ScalingActive', 'ScalingDisabled')
  t.equal(findCondition(status?.conditions, 'ScalingActive')?.message, 'scaling is disabled since the replica count of the target is zero')
  t.strictSame([status?.currentReplicas, status?.desiredReplicas, status?.currentMetrics], [undefined, 0, null])
})

t.test('a target without a scale is reported', async (t) => {
  await createAutoscaler('missing')
  await createAutoscaler('kindless', { scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'None', name: 'x' } })
  await createAutoscaler('scaleless', { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x' } })
  const messages = {
    missing: 'deployments.apps "missing" not found',
    kindless: 'no matches for kind "None" in group "example.com"',
    scaleless: notServed,
  }
  for (const [name, message] of Object.entries(messages)) {
    const { status } = await untilReason(name, 'AbleToScale', 'FailedGetScale')
    const expected = {
      type: 'AbleToScale',
      status: 'False',
      message: `the HPA controller was unable to get the target's current scale: ${message}`,
    }
    t.match(status?.conditions, [expected])
    t.equal(status?.conditions?.length, 1)
    t.equal(await untilEvent(name, 'FailedGetScale'), message)
  }
})

t.test('kubectl autoscale creates an autoscaler', needsKubectl, async (t) => {
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  await createTarget('by-kubectl', 1)
  const created = await kubectl.ok(`autoscale deployment by-kubectl --min=1 --max=4 --cpu=70% -n ${namespace}`)
  t.equal(created, 'horizontalpodautoscaler.autoscaling/by-kubectl autoscaled\n')
  await untilReason('by-kubectl', 'ScalingActive', 'FailedGetResourceMetric')
  const shown = await kubectl.ok(`get hpa by-kubectl --no-headers -n ${namespace}`)
  t.match(shown, /^by-kubectl +Deployment\/by-kubectl +cpu: <unknown>\/70% +1 +4 +1 /)
  t.match(await kubectl.ok(`describe hpa by-kubectl -n ${namespace}`), /ScalingActive +False +FailedGetResourceMetric/)
})
