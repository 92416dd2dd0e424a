import t from 'tap'
import type { Budget } from '../../../../src/devcluster/controllers/disruption/budget-status.ts'
import { desiredHealthy, disruptedPods, healthyPods } from '../../../../src/devcluster/controllers/disruption/budget-status.ts'
import { podWith } from '../../../support/workloads/objects.ts'

const budgetWith = (spec: object, status: object = {}): Budget => ({ metadata: { name: 'b' }, spec, status }) as unknown as Budget

t.test('the number of Pods that must be healthy is rounded up for minAvailable, and down for maxUnavailable', async (t) => {
  const cases: readonly (readonly [object, number, number])[] = [
    [{}, 3, 0],
    [{ minAvailable: 2 }, 3, 2],
    [{ minAvailable: '50%' }, 3, 2],
    [{ minAvailable: '0%' }, 3, 0],
    [{ maxUnavailable: 1 }, 3, 2],
    [{ maxUnavailable: 4 }, 3, 0],
    [{ maxUnavailable: '50%' }, 3, 1],
    [{ maxUnavailable: '100%' }, 3, 0],
  ]
  for (const [spec, expected, desired] of cases) t.equal(desiredHealthy(budgetWith(spec), expected), desired, JSON.stringify(spec))
})

t.test('an evicted Pod has two minutes to be deleted', async (t) => {
  const now = Date.parse('2026-01-01T00:02:30Z')
  const pods = ['pending', 'overdue', 'other'].map((name) => podWith({ name, readySince: 0 }))
  const deleted = podWith({ name: 'deleted', readySince: 0, isDeleted: true })
  const evicted = {
    pending: '2026-01-01T00:01:00Z',
    overdue: '2026-01-01T00:00:00Z',
    deleted: '2026-01-01T00:01:00Z',
    gone: '2026-01-01T00:01:00Z',
  }
  const { pending, overdue, nextInMs } = disruptedPods(budgetWith({}, { disruptedPods: evicted }), [...pods, deleted], now)
  t.strictSame(pending, { pending: evicted.pending })
  t.strictSame(
    overdue.map(({ metadata }) => metadata.name),
    ['overdue'],
  )
  t.equal(nextInMs, 30_000)
  t.equal(healthyPods([...pods, deleted, podWith({ name: 'unready' })], pending), 2)
})
