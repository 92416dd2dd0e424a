/** The life of a PodDisruptionBudget: the steps that create, change and delete the PodDisruptionBudget, and the steps that evict Pods. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import { policy } from '../../../../../src/api/kubernetes/policy.ts'
import { isApiError } from '../../../../../src/client/api-error.ts'
import type { Life, Step } from '../life.ts'
import { has, step } from '../life.ts'
import type { Stage } from '../stage.ts'
import { named, selector, template } from './objects.ts'

const allows = (disruptionsAllowed: number): Step['until'] =>
  has(policy.podDisruptionBudget, 'budget', { 'status.disruptionsAllowed': disruptionsAllowed })

/** Evicts a Pod. If the PodDisruptionBudget forbids the eviction, the error is ignored. */
async function evict({ client, namespace }: Stage, name: string): Promise<void> {
  try {
    await client.create(core.pod, { metadata: { namespace, name } } as never, { subresource: 'eviction' })
  } catch (error) {
    if (!isApiError(error) || error.status.code !== 429) throw error
  }
}

export const disruptionLives: readonly Life[] = [
  {
    name: 'disruption',
    steps: [
      step('budget', (stage) =>
        stage.create(policy.podDisruptionBudget, { metadata: { name: 'budget' }, spec: { selector, minAvailable: '50%' } }),
      ),
      step('pods', (stage) => {
        const spec: JsonObject = { replicas: 3, serviceName: 'db', podManagementPolicy: 'Parallel', selector, template: template('1') }
        return stage.create(apps.statefulSet, { metadata: { name: 'db' }, spec })
      }),
      step('run-one', ({ pods }) => pods.run({ where: named('db-0') })),
      step('run-more', ({ pods }) => pods.run(), allows(1)),
      step('evict', (stage) => evict(stage, 'db-0'), allows(0)),
      step('refused', (stage) => evict(stage, 'db-1')),
      step('remove', ({ pods }) => pods.remove()),
      step('run-again', ({ pods }) => pods.run(), allows(1)),
      step(
        'change',
        (stage) => stage.patch(policy.podDisruptionBudget, 'budget', { spec: { minAvailable: null, maxUnavailable: 0 } }),
        allows(0),
      ),
      step('scale', (stage) => stage.patch(apps.statefulSet, 'db', { spec: { replicas: 0 } })),
      step('remove-all', ({ pods }) => pods.remove(), has(policy.podDisruptionBudget, 'budget', { 'status.expectedPods': 0 })),
      step('delete', (stage) => stage.delete(policy.podDisruptionBudget, 'budget')),
    ],
  },
]
