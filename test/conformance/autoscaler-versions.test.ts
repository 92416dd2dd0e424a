/** Tests of HorizontalPodAutoscalers that are written in one version and read in the other version. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { mergePatch, metadataOf } from '../support/conformance/objects.ts'

const namespace = 'conformance-autoscaler-versions'
const controlPlane = await conformanceControlPlane(t, { namespaces: [namespace], controllers: false })
const api = apiOf(t, controlPlane.connection)
const pathOf = (version: string): string => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`
const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }
const cpu = (averageUtilization: number): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

t.test('the CPU utilization is a metric in v2, and 80 percent if there is none', async (t) => {
  for (const [name, given, expected] of [
    ['sixty', { targetCPUUtilizationPercentage: 60 }, 60],
    ['default', {}, 80],
  ] as const) {
    const created = await api('POST', pathOf('v1'), { body: { metadata: { name }, spec: { scaleTargetRef, maxReplicas: 3, ...given } } })
    t.equal(created.status, 201)
    t.strictSame(created.body.spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: expected })
    const { body } = await api('GET', `${pathOf('v2')}/${name}`)
    t.strictSame(body.spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics: [cpu(expected)] })
  }
})

t.test('what v1 has no field for is in annotations, and survives a write in v1', async (t) => {
  const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '500Mi' } } }
  const scaleDown = { stabilizationWindowSeconds: 60, selectPolicy: 'Min', policies: [{ type: 'Pods', value: 1, periodSeconds: 30 }] }
  const spec = { scaleTargetRef, maxReplicas: 3, metrics: [memory, cpu(70)], behavior: { scaleDown } }
  await api('POST', pathOf('v2'), { body: { metadata: { name: 'rich' }, spec } })
  const old = await api('GET', `${pathOf('v1')}/rich`)
  t.strictSame(old.body.spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 70 })
  const { annotations } = metadataOf(old.body)
  t.strictSame(Object.keys(annotations as JsonObject).sort(), [
    'autoscaling.alpha.kubernetes.io/behavior',
    'autoscaling.alpha.kubernetes.io/metrics',
  ])
  t.equal(
    (annotations as JsonObject)['autoscaling.alpha.kubernetes.io/metrics'],
    '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"500Mi"}}]',
  )
  await api('PATCH', `${pathOf('v1')}/rich`, { contentType: mergePatch, body: { spec: { targetCPUUtilizationPercentage: 90 } } })
  const { body } = await api('GET', `${pathOf('v2')}/rich`)
  t.strictSame((body.spec as JsonObject).metrics, [memory, cpu(90)])
  t.match((body.spec as JsonObject).behavior, { scaleDown })
  t.equal(metadataOf(body).annotations, undefined)
})

t.test('annotations that are not what v1 would write are ignored and dropped', async (t) => {
  const annotations = {
    'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods","pods":{"metricName":7}}]',
    'autoscaling.alpha.kubernetes.io/behavior': '{"ScaleUp":',
  }
  const created = await api('POST', pathOf('v1'), {
    body: { metadata: { name: 'odd', annotations }, spec: { scaleTargetRef, maxReplicas: 3 } },
  })
  t.equal(created.status, 201)
  t.equal(metadataOf(created.body).annotations, undefined)
  t.equal((created.body.spec as JsonObject).targetCPUUtilizationPercentage, 80)
})
