/** The lives of StatefulSets: the steps that create, change and delete them. */
import { core } from '../../../../../src/api/kubernetes/core.ts'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Life, Step } from '../life.ts'
import { count, has, step } from '../life.ts'
import { named, selector, template } from './objects.ts'

const create =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.create(apps.statefulSet, {
      metadata: { name: 'db' },
      spec: { serviceName: 'db', selector, template: template('1'), ...spec },
    })
const patch =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.patch(apps.statefulSet, 'db', { spec })
const status = (values: JsonObject): Step['until'] =>
  has(apps.statefulSet, 'db', Object.fromEntries(Object.entries(values).map(([key, value]) => [`status.${key}`, value])))
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } },
}
/**
 * Returns a Pod template that sets `nodeName`. The Pods use PersistentVolumeClaims that are not bound to a volume, and the scheduler would
 * not schedule such Pods.
 */
const placed = (image: string): JsonObject => template(image, { nodeName: 'main' })

export const statefulSetLives: readonly Life[] = [
  {
    name: 'stateful-set',
    steps: [
      step('create', create({ replicas: 3, volumeClaimTemplates: [claim], template: placed('1') }), count(core.pod, 1)),
      step('first-runs', ({ pods }) => pods.run({ count: 1 }), count(core.pod, 2)),
      step('second-runs', ({ pods }) => pods.run({ count: 1 }), count(core.pod, 3)),
      step('third-runs', ({ pods }) => pods.run({ count: 1 }), status({ availableReplicas: 3 })),
      step('scale-down', patch({ replicas: 1 })),
      step('remove-third', ({ pods }) => pods.remove()),
      step('remove-second', ({ pods }) => pods.remove(), status({ replicas: 1 })),
      step('scale-up', patch({ replicas: 2 }), count(core.pod, 2)),
      step('second-again', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
      step('roll', patch({ template: placed('2') })),
      step('remove-old-second', ({ pods }) => pods.remove(), count(core.pod, 2)),
      step('new-second-runs', ({ pods }) => pods.run({ count: 1 })),
      step('remove-old-first', ({ pods }) => pods.remove(), count(core.pod, 2)),
      step('new-first-runs', ({ pods }) => pods.run({ count: 1 }), status({ updatedReplicas: 2 })),
      step('first-fails', ({ pods }) => pods.exit(1, { where: named('db-0') }), status({ readyReplicas: 1 })),
      step('run-first', ({ pods }) => pods.run({ count: 1 }), status({ availableReplicas: 2 })),
      step('delete', (stage) => stage.delete(apps.statefulSet, 'db', 'Foreground')),
      step('remove-all', ({ pods }) => pods.remove(), count(apps.statefulSet, 0)),
    ],
  },
  {
    name: 'stateful-set-partition',
    steps: [
      step(
        'create',
        create({
          replicas: 3,
          podManagementPolicy: 'Parallel',
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
        }),
        count(core.pod, 3),
      ),
      step('run', ({ pods }) => pods.run(), status({ availableReplicas: 3 })),
      step('roll-last', patch({ template: template('2') })),
      step('remove-last', ({ pods }) => pods.remove(), count(core.pod, 3)),
      step('last-runs', ({ pods }) => pods.run(), status({ updatedReplicas: 1, availableReplicas: 3 })),
      step('undo', patch({ template: template('1') })),
      step('remove-undone', ({ pods }) => pods.remove(), count(core.pod, 3)),
      step('undone-runs', ({ pods }) => pods.run(), status({ availableReplicas: 3 })),
      step('roll-all', patch({ template: template('3'), updateStrategy: { rollingUpdate: { partition: 0 } } })),
      ...[3, 2, 1].flatMap((number) => [
        step(`roll-remove-${number}`, ({ pods }) => pods.remove(), count(core.pod, 3)),
        step(`roll-run-${number}`, ({ pods }) => pods.run()),
      ]),
      step('rolled', async () => undefined, status({ updatedReplicas: 3, availableReplicas: 3 })),
      step('delete', (stage) => stage.delete(apps.statefulSet, 'db', 'Orphan'), count(apps.statefulSet, 0)),
      step('create-again', create({ replicas: 3, template: template('3') }), status({ availableReplicas: 3 })),
      step('delete-again', (stage) => stage.delete(apps.statefulSet, 'db')),
      step('remove-all', ({ pods }) => pods.remove(), count(core.pod, 0)),
    ],
  },
  {
    name: 'stateful-set-on-delete',
    steps: [
      step(
        'create',
        create({
          replicas: 1,
          updateStrategy: { type: 'OnDelete' },
          minReadySeconds: 2,
          ordinals: { start: 5 },
          volumeClaimTemplates: [claim],
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
          template: placed('1'),
        }),
        count(core.pod, 1),
      ),
      step('run', ({ pods }) => pods.run(), status({ availableReplicas: 1 })),
      step('roll', patch({ template: placed('2') })),
      step('delete-pod', (stage) => stage.delete(core.pod, 'db-5')),
      step('remove', ({ pods }) => pods.remove(), count(core.pod, 1)),
      step('run-new', ({ pods }) => pods.run(), status({ updatedReplicas: 1, availableReplicas: 1 })),
      step('scale-up', patch({ replicas: 2 }), count(core.pod, 2)),
      step('not-ready', ({ pods }) => pods.start()),
      step('scale-down', patch({ replicas: 1 })),
      step('remove-surplus', ({ pods }) => pods.remove(), count(core.persistentVolumeClaim, 1)),
      step('delete', (stage) => stage.delete(apps.statefulSet, 'db')),
      step('remove-all', ({ pods }) => pods.remove(), count(core.persistentVolumeClaim, 0)),
    ],
  },
]
