import t from 'tap'
import type { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { newReplicaSetAnnotations, revisionOf } from '../../../../../src/devcluster/controllers/workloads/deployment/annotations.ts'

const revision = 'deployment.kubernetes.io/revision'
const history = 'deployment.kubernetes.io/revision-history'

function deploymentOf(annotations: Record<string, string>): apps.Deployment {
  return { metadata: { name: 'web', annotations }, spec: {} } as unknown as apps.Deployment
}

t.test('a ReplicaSet gets the annotations of its Deployment, but not those of the revision', async (t) => {
  const from = deploymentOf({
    'kubernetes.io/change-cause': 'image 2',
    [revision]: '1',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
  })
  t.strictSame(newReplicaSetAnnotations(from, {}, 2), { 'kubernetes.io/change-cause': 'image 2', [revision]: '2' })
})

t.test('an earlier revision moves to the history', async (t) => {
  t.strictSame(newReplicaSetAnnotations(deploymentOf({}), { [revision]: '1' }, 3), { [revision]: '3', [history]: '1' })
  t.strictSame(newReplicaSetAnnotations(deploymentOf({}), { [revision]: '3', [history]: '1' }, 5), { [revision]: '5', [history]: '1,3' })
  t.strictSame(newReplicaSetAnnotations(deploymentOf({}), { [revision]: '7' }, 5), { [revision]: '7' })
  t.strictSame(newReplicaSetAnnotations(deploymentOf({}), { [revision]: 'x' }, 5), { [revision]: 'x' })
})

t.test('a history that is too long loses its oldest revisions', async (t) => {
  const long = Array.from({ length: 500 }, (_, index) => 1000 + index).join(',')
  const result = newReplicaSetAnnotations(deploymentOf({}), { [revision]: '1500', [history]: long }, 1501)[history]!
  t.ok(result.length <= 2000 && result.length > 1990, String(result.length))
  t.ok(result.endsWith(',1499,1500'))
})

t.test('an annotation that is no number is revision 0', async (t) => {
  const of = (value: string): number => revisionOf({ metadata: { annotations: { [revision]: value } } } as unknown as apps.ReplicaSet)
  t.strictSame([of('12'), of(''), of('-1'), of('x')], [12, 0, 0, 0])
})
