import t from 'tap'
import { core } from '../../../../src/api/kubernetes/core.ts'
import { policy } from '../../../../src/api/kubernetes/policy.ts'
import type { KubernetesObject } from '../../../../src/api/object.ts'
import type { ControllerDefinition } from '../../../../src/controller/builder.ts'
import { disruptionController } from '../../../../src/devcluster/controllers/disruption/disruption.ts'
import { until } from '../../../../src/testing/until.ts'
import { conflict, objectOf, podOf, quiet, runScripted, time } from '../../../support/devcluster/scripted-controller.ts'

const labels = { app: 'web' }
const spec = { minAvailable: 1, selector: { matchLabels: labels } }
const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: time }]
const web = podOf('web', {}, { status: { phase: 'Running', conditions } }, { labels })
const disruption = (): ControllerDefinition =>
  disruptionController({ types: () => [], byKind: () => undefined, onChange: () => () => undefined })
const budgetOf = (status: object): KubernetesObject => objectOf('budget', { spec, status })
const statusOf = ([, , budget]: unknown[]): object => (budget as { status: object }).status

t.test('a Pod that was evicted but not deleted counts as healthy again after two minutes, without any event', async (t) => {
  const world = runScripted(t, disruption)
  world.set(core.pod, web)
  world.set(policy.podDisruptionBudget, budgetOf({ disruptedPods: { web: time } }))
  const [first = []] = await world.take(1)
  t.match(first, ['updateStatus', 'poddisruptionbudgets'])
  t.match(statusOf(first), { currentHealthy: 0, disruptedPods: { web: time } })
  world.set(policy.podDisruptionBudget, budgetOf(statusOf(first)))
  await quiet()
  await world.clock.advance(120_000)
  await quiet()
  t.strictSame(world.asked, [])
  await world.clock.advance(1)
  const [second = []] = await world.take(1)
  t.match(statusOf(second), { currentHealthy: 1, disruptedPods: undefined })
  t.match(world.events.at(-1), /^web Warning NotDeleted: /)
})

t.test('the status is computed again after a conflict', async (t) => {
  let conflicts = 1
  const world = runScripted(t, disruption, () => {
    conflicts -= 1
    if (conflicts >= 0) throw conflict
    return {}
  })
  world.set(core.pod, web)
  world.set(policy.podDisruptionBudget, budgetOf({}))
  t.match(await world.take(1), [['updateStatus', 'poddisruptionbudgets', { status: { currentHealthy: 1 } }]])
  await until('it is tried again', async () => {
    await world.clock.advance(10)
    return world.asked.length > 0
  })
  t.match(world.asked, [['updateStatus', 'poddisruptionbudgets', { status: { currentHealthy: 1 } }]])
})

t.test('a changed Pod that several budgets select gets an Event', async (t) => {
  const world = runScripted(t, disruption, () => ({}))
  world.set(policy.podDisruptionBudget, objectOf('first', { spec, status: {} }))
  world.set(policy.podDisruptionBudget, objectOf('second', { spec: { ...spec, selector: {} }, status: {} }))
  world.set(core.pod, podOf('other', {}, {}, { labels: {} }))
  await quiet()
  world.events.length = 0
  world.set(core.pod, web)
  await quiet()
  t.strictSame(world.events, [
    'web Warning MultiplePodDisruptionBudgets: Pod "ns"/"web" matches multiple PodDisruptionBudgets.  Chose "first" arbitrarily.',
  ])
})
