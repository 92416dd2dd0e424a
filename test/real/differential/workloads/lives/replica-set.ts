/** The lives of ReplicaSets and ReplicationControllers: the steps that create, change and delete them. */
import { core } from '../../../../../src/api/kubernetes/core.ts'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Life, Step } from '../life.ts'
import { count, has, step } from '../life.ts'
import { labels, selector, template } from './objects.ts'

const create =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.create(apps.replicaSet, { metadata: { name: 'web' }, spec: { selector, template: template('1'), ...spec } })
const scale =
  (replicas: number): Step['act'] =>
  (stage) =>
    stage.patch(apps.replicaSet, 'web', { spec: { replicas } })
const status = (values: JsonObject): Step['until'] =>
  has(apps.replicaSet, 'web', Object.fromEntries(Object.entries(values).map(([key, value]) => [`status.${key}`, value])))
/**
 * Returns a Pod without an owner. `number` is the deletion cost of the Pod. When a ReplicaSet has adopted several such Pods and must delete
 * some of them, it deletes the Pod with the lowest number first.
 */
const bare = (number: number): JsonObject => ({
  metadata: { name: `bare-${number}`, labels, annotations: { 'controller.kubernetes.io/pod-deletion-cost': String(number) } },
  spec: { containers: [{ name: 'main', image: 'example.com/app:bare' }] },
})

export const replicaSetLives: readonly Life[] = [
  {
    name: 'replica-set',
    steps: [
      step('create', create({ replicas: 2 }), status({ replicas: 2 })),
      step('run', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
      step('not-ready', ({ pods }) => pods.setReady(false, { count: 1 }), status({ readyReplicas: 1 })),
      step('fails', ({ pods }) => pods.exit(1, { count: 1 }), count(core.pod, 3)),
      step('run-again', ({ pods }) => pods.run(), count(core.pod, 3)),
      step('succeeds', ({ pods }) => pods.exit(0, { count: 1 }), count(core.pod, 4)),
      step('zero', scale(0), status({ replicas: 0 })),
      step('remove', ({ pods }) => pods.remove()),
      step('delete', (stage) => stage.delete(apps.replicaSet, 'web'), count(core.pod, 0)),
    ],
  },
  {
    name: 'replica-set-adoption',
    steps: [
      step('bare-pods', async (stage) => {
        for (const number of [1, 2, 3]) await stage.create(core.pod, bare(number))
      }),
      step('create', create({ replicas: 2 }), status({ replicas: 2 })),
      step('remove', ({ pods }) => pods.remove(), count(core.pod, 2)),
      step('delete-orphan', (stage) => stage.delete(apps.replicaSet, 'web', 'Orphan'), count(apps.replicaSet, 0)),
      step('create-again', create({ replicas: 1, minReadySeconds: 3600 }), status({ replicas: 1 })),
      step('remove-another', ({ pods }) => pods.remove(), count(core.pod, 1)),
      step(
        'release',
        async (stage) => {
          for (const pod of stage.all('Pod')) {
            const { name } = pod.metadata as { name: string }
            await stage.patch(core.pod, name, { metadata: { labels: { app: 'other' } } })
          }
        },
        count(core.pod, 2),
      ),
      step('run', ({ pods }) => pods.run(), status({ readyReplicas: 1 })),
      step('delete-foreground', (stage) => stage.delete(apps.replicaSet, 'web', 'Foreground')),
      step('remove-last', ({ pods }) => pods.remove(), count(apps.replicaSet, 0)),
    ],
  },
  {
    name: 'replication-controller',
    steps: [
      step(
        'create',
        (stage) =>
          stage.create(core.replicationController, {
            metadata: { name: 'web' },
            spec: { replicas: 2, selector: labels, template: template('1') },
          }),
        count(core.pod, 2),
      ),
      step('run', ({ pods }) => pods.run(), has(core.replicationController, 'web', { 'status.availableReplicas': 2 })),
      step('fails', ({ pods }) => pods.exit(1, { count: 1 }), count(core.pod, 3)),
      step('scale-down', (stage) => stage.patch(core.replicationController, 'web', { spec: { replicas: 1 } })),
      step('remove', ({ pods }) => pods.remove()),
      step('delete', (stage) => stage.delete(core.replicationController, 'web', 'Foreground')),
      step('remove-last', ({ pods }) => pods.remove(), count(core.replicationController, 0)),
    ],
  },
]
