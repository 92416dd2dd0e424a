import t from 'tap'
import type { JsonObject } from '../../../../src/api/json.ts'
import { StatusError } from '../../../../src/devcluster/apimachinery/status-error.ts'
import { allowsUnready, budgetsOf, decremented, isUnprotected } from '../../../../src/devcluster/registry/verbs/eviction-budgets.ts'

const budgetWith = (status: JsonObject, generation = 1): JsonObject => ({
  metadata: { name: 'b', namespace: 'a', generation },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { observedGeneration: 1, ...status },
})

t.test('a Pod that has not started, has ended or is being deleted is not protected', async (t) => {
  t.strictSame(
    ['Pending', 'Running', 'Unknown', 'Succeeded', 'Failed'].map((phase) => isUnprotected({ status: { phase } })),
    [true, false, false, true, true],
  )
  t.ok(isUnprotected({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { phase: 'Running' } }))
})

t.test('a budget is about the Pods that it selects', async (t) => {
  const pod = { metadata: { labels: { app: 'web' } } }
  const selecting = (selector: JsonObject | undefined): JsonObject => ({ spec: selector === undefined ? {} : { selector } })
  const budgets = [{ matchLabels: { app: 'web' } }, { matchLabels: { app: 'other' } }, {}, undefined].map(selecting)
  t.strictSame(budgetsOf(pod, budgets), [budgets[0], budgets[2]])
})

t.test('a Pod that is not ready is evicted if the others suffice, or by policy', async (t) => {
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } }
  const healthy = budgetWith({ currentHealthy: 2, desiredHealthy: 2 })
  t.strictSame([allowsUnready({}, healthy), allowsUnready(ready, healthy)], [true, false])
  t.notOk(allowsUnready({}, budgetWith({ currentHealthy: 1, desiredHealthy: 2 })))
  t.notOk(allowsUnready({}, budgetWith({ currentHealthy: 1, desiredHealthy: 0 })), 'nothing is known yet')
  t.ok(allowsUnready({}, { ...budgetWith({}), spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }))
})

t.test('an eviction takes one disruption', async (t) => {
  const conditions = [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', lastTransitionTime: 'x' }]
  const two = decremented(budgetWith({ disruptionsAllowed: 2, conditions }), 'p', 0)
  t.strictSame(two.status, {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    conditions,
    disruptedPods: { p: '1970-01-01T00:00:00Z' },
  })
  const one = decremented(two, 'q', 1000)
  t.match(one.status, {
    disruptionsAllowed: 0,
    conditions: [{ status: 'False', reason: 'InsufficientPods', lastTransitionTime: '1970-01-01T00:00:01Z' }],
    disruptedPods: { p: '1970-01-01T00:00:00Z', q: '1970-01-01T00:00:01Z' },
  })
})

t.test('each refusal has its reason', async (t) => {
  const condition = (reason: string, message: string): JsonObject => ({ type: 'DisruptionAllowed', status: 'False', reason, message })
  const many = Object.fromEntries(Array.from({ length: 2001 }, (_, index) => [`p${index}`, '']))
  const cases: readonly (readonly [JsonObject, number, string])[] = [
    [budgetWith({ disruptionsAllowed: 1 }, 2), 429, 'The disruption budget b is still being processed by the server.'],
    [budgetWith({ currentHealthy: 1, desiredHealthy: 2 }), 429, 'The disruption budget b needs 2 healthy pods and has 1 currently'],
    [
      budgetWith({ currentHealthy: 1, conditions: [condition('SyncFailed', 'broken')] }),
      429,
      'The disruption budget b does not allow evicting pods currently because it failed sync: broken',
    ],
    [
      budgetWith({ currentHealthy: 1, conditions: [condition('Other', 'text')] }),
      429,
      'The disruption budget b does not allow evicting pods currently (Other): text',
    ],
    [budgetWith({ currentHealthy: 1 }), 429, 'The disruption budget b does not allow evicting pods currently'],
    [budgetWith({ disruptionsAllowed: -1 }), 403, 'pdb disruptions allowed is negative'],
    [
      budgetWith({ disruptionsAllowed: 1, disruptedPods: many }),
      403,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    ],
  ]
  for (const [budget, code, text] of cases) {
    const refuse = (): JsonObject => decremented(budget, 'p', 0)
    t.throws(refuse, StatusError, text)
    try {
      refuse()
    } catch (error) {
      const { status } = error as StatusError
      t.equal(status.code, code)
      t.match(status.details?.causes?.[0]?.message ?? status.message, text)
      t.equal(status.details?.retryAfterSeconds, text.includes('still') ? 10 : undefined)
    }
  }
})
