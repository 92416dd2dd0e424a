/** Tests of the events that cause a reconcile of an Xxx. */
import t from 'tap'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { runController } from '../../../src/controller/run-controller.ts'
import { xxxOperatorWith } from '../../../src/operators/xxx/index.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { until } from '../../../src/testing/until.ts'
import { controllerWorld } from '../../support/controller/fakes.ts'
import { anXxx } from '../../support/xxx/objects.ts'
import { buildOf, cleanUpOf, podOf } from '../../support/xxx/steps.ts'
import { finalizer } from '../../support/xxx/world.ts'

const [controller] = xxxOperatorWith(defaultOptions).controllers
const object: Xxx = { ...anXxx(), metadata: { ...anXxx().metadata, finalizers: [finalizer] } }

t.test('the build begins as soon as the object is gone for which it waits', async (t) => {
  const foreign = buildOf(object, {}, { labels: {}, annotations: {}, ownerReferences: [] })
  const previous = buildOf(object, {}, { name: 'previous', labels: {} })
  const cleanUp = cleanUpOf(anXxx({ jobName: 'previous' }), ['old'])
  const pod = podOf(cleanUpOf(object, ['old']), { phase: 'Running' })
  for (const [what, plural, blocker] of [
    ['the Job of another object that has the name of the build', 'jobs', foreign],
    ['a Job that the Xxx controls, under another name', 'jobs', previous],
    ['a clean-up under another name', 'jobs', cleanUp],
    ['the Pod of a clean-up whose Job is gone', 'pods', pod],
  ] as const) {
    const requests: string[] = []
    const { environment, cache, stop } = controllerWorld({
      create: async (_type: unknown, { metadata }: { metadata: { name?: string } }) => (requests.push(`create ${metadata.name}`), {}),
      delete: async () => ({}),
      patchStatus: async () => (requests.push('status'), object),
    } as never)
    const running = runController(controller!, environment, stop.signal)
    cache.informers.get('xxxes')!.set(object)
    cache.informers.get(plural)!.set(blocker as unknown as KubernetesObject)
    for (const informer of cache.informers.values()) informer.sync()
    await until('it waits', () => requests.includes('status'))
    t.notOk(requests.includes('create build-helloworld'), what)
    cache.informers.get(plural)!.delete(blocker.metadata)
    await t.resolves(
      until('the build begins', () => requests.includes('create build-helloworld')),
      what,
    )
    stop.abort()
    await running
  }
})

t.test('four Xxxes are reconciled at once', async (t) => {
  const { environment, stop, cache, measured } = controllerWorld()
  const running = runController(controller!, environment, stop.signal)
  for (const informer of cache.informers.values()) informer.sync()
  await t.resolves(until('it has its workers', () => measured('controller_runtime_max_concurrent_reconciles{controller="xxx"} 4')))
  stop.abort()
  await running
})
