import t from 'tap'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import type { KubernetesObject } from '../../../../../src/api/object.ts'
import { deploymentController } from '../../../../../src/devcluster/controllers/workloads/deployment/deployment.ts'
import { objectOf, quiet, runScripted } from '../../../../support/devcluster/scripted-controller.ts'

const labels = { app: 'web' }
const selector = { matchLabels: labels }
const templateOf = (image: string): object => ({ metadata: { labels }, spec: { containers: [{ name: 'main', image }] } })
const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'uid-web', controller: true }]

/** Returns a ReplicaSet of the Deployment. If `isComplete` is false, one of its Pods is not available. */
function replicaSetOf(name: string, image: string, replicas: number, isComplete = true): KubernetesObject {
  const availableReplicas = isComplete ? replicas : replicas - 1
  const metadata = { generation: 1, labels, ownerReferences, annotations: { 'deployment.kubernetes.io/revision': name.slice(-1) } }
  const status = { replicas, readyReplicas: availableReplicas, availableReplicas, observedGeneration: 1 }
  return objectOf(name, { spec: { replicas, selector, template: templateOf(image) }, status }, metadata)
}

t.test('the history is shortened when the rollout is complete, and not before', async (t) => {
  const world = runScripted(t, deploymentController)
  world.set(apps.replicaSet, replicaSetOf('web-1', 'x:1', 0), replicaSetOf('web-2', 'x:2', 2, false))
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
  const spec = { replicas: 2, revisionHistoryLimit: 0, selector, strategy, template: templateOf('x:2') }
  world.set(apps.deployment, objectOf('web', { apiVersion: 'apps/v1', kind: 'Deployment', spec }, { generation: 1 }))
  const deleted = (): unknown[] => world.asked.splice(0).filter(([method]) => method === 'delete')
  await quiet()
  t.ok(world.asked.length > 0)
  t.strictSame(deleted(), [])
  world.set(apps.replicaSet, replicaSetOf('web-2', 'x:2', 2))
  await quiet()
  t.match(deleted(), [['delete', 'replicasets', { name: 'web-1' }]])
})
