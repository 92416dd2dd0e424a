import t from 'tap'
import { runController } from '../../../src/controller/run-controller.ts'
import { version } from '../../../src/api/version.ts'
import { mypodOperator } from '../../../src/operators/mypod/index.ts'
import { mypod } from '../../../src/operators/mypod/kind.ts'
import { controllerWorld } from '../../support/controller/fakes.ts'
import { until } from '../../../src/testing/until.ts'

t.test('the operator has one webhook, and one controller with four workers that watches its Pods', async (t) => {
  const { name, kinds, webhooks, conversions, controllers, rbac, ...rest } = mypodOperator
  t.strictSame([name, kinds, conversions, rbac, rest], ['mypod', [mypod], [], [], { version, runnables: [], checks: { healthz: [], readyz: [] } }]) // prettier-ignore
  t.equal(webhooks.length, 1)
  const [controller, ...others] = controllers
  t.strictSame(others, [])
  t.strictSame(
    controller!.types.map(({ kind }) => kind),
    ['MyPod', 'Pod'],
  )
  const { environment, stop, cache, measured } = controllerWorld()
  const running = runController(controller!, environment, stop.signal)
  for (const informer of cache.informers.values()) informer.sync()
  await until('it has its workers', () => measured('controller_runtime_max_concurrent_reconciles{controller="mypod"} 4'))
  stop.abort()
  await running
})

t.test('the CRD preserves the Pod spec, and has printer columns', (t) => {
  const [{ name, printerColumns, hasStatus, schema }, ...others] = mypod.versions as readonly [(typeof mypod.versions)[number]]
  t.strictSame([name, hasStatus, others], ['v1', true, []]) // prettier-ignore
  t.strictSame(printerColumns, [
    { name: 'Phase', jsonPath: '.status.podPhase' },
    { name: 'PodIp', jsonPath: '.status.podIp' },
    { name: 'NodeIp', jsonPath: '.status.nodeIp', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' },
  ])
  const { spec, status } = (
    schema as unknown as {
      properties: Record<'spec' | 'status', { properties: Record<string, Record<string, unknown>>; required?: string[] }>
    }
  ).properties
  t.strictSame([spec.required, status.required], [['podSpec'], undefined]) // prettier-ignore
  for (const field of ['podAnnotations', 'podLabels'])
    t.match(spec.properties[field], { maxProperties: 1000, additionalProperties: { type: 'string' } })
  t.match(spec.properties['podSpec'], {
    'x-kubernetes-preserve-unknown-fields': true,
    required: ['containers'],
    properties: {
      containers: {
        minItems: 1,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { required: ['name', 'image'], properties: { image: { minLength: 1 } }, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  })
  for (const field of ['createdTimestamp', 'observedGeneration']) t.match(status.properties[field], { type: 'integer', format: 'int64' })
  t.end()
})
