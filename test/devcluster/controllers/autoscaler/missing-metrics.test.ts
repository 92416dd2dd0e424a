import t from 'tap'
import type { Metric } from '../../../../src/devcluster/controllers/autoscaler/missing-metrics.ts'
import { missingMetric } from '../../../../src/devcluster/controllers/autoscaler/missing-metrics.ts'

t.test('the error about all metrics names the kind of the metric', async (t) => {
  const target = { type: 'AverageValue', averageValue: '1' }
  const metric = { name: 'm' }
  const cases: readonly (readonly [Metric, prefix: string])[] = [
    [{ type: 'Resource', resource: { name: 'cpu', target } }, 'failed to get cpu resource metric value: failed to get cpu usage: '],
    [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } },
      'failed to get cpu resource metric value: failed to get cpu utilization: ',
    ],
    [
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'main', target } },
      'failed to get main container metric value: failed to get cpu usage: ',
    ],
    [{ type: 'Pods', pods: { metric, target } }, 'failed to get pods metric value: unable to get metric m: '],
    [
      { type: 'Object', object: { metric, target, describedObject: { kind: 'Service', name: 's' } } },
      'failed to get object metric value: unable to get metric m: Service on a s/',
    ],
    [
      { type: 'External', external: { metric, target } },
      'failed to get m external metric value: failed to get m external metric: unable to get external metric a/m/nil: ',
    ],
    [
      { type: 'External', external: { metric, target: { type: 'Value', value: '1' } } },
      'failed to get m external metric value: failed to get external metric m: unable to get external metric a/m/nil: ',
    ],
  ]
  for (const [one, prefix] of cases) {
    const { error, message } = missingMetric(one, 'a')
    t.ok(error.startsWith(prefix), error)
    t.ok(error.endsWith(message))
  }
})
