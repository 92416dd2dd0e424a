/** The lives of Deployments: the steps that create, change and delete them. */
import type { JsonObject, JsonValue } from '../../../../../src/api/json.ts'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import type { Life, Step } from '../life.ts'
import { count, has, step } from '../life.ts'
import type { Stage } from '../stage.ts'
import { selector, template, withImage } from './objects.ts'

const create = (spec: JsonObject): Step['act'] => {
  const metadata = { name: 'web', labels: { part: 'front' }, annotations: { note: 'kept' } }
  return (stage) => stage.create(apps.deployment, { metadata, spec: { selector, template: template('1'), ...spec } })
}
const patch =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.patch(apps.deployment, 'web', { spec })
const status = (values: JsonObject): Step['until'] =>
  has(apps.deployment, 'web', Object.fromEntries(Object.entries(values).map(([key, value]) => [`status.${key}`, value])))
const remove = (policy?: 'Background' | 'Foreground' | 'Orphan'): Step['act'] => {
  return (stage) => stage.delete(apps.deployment, 'web', policy)
}
const condition = (stage: Stage, type: string): JsonValue | undefined => {
  const conditions = stage.see(apps.deployment, 'web', 'status.conditions')
  return Array.isArray(conditions) ? conditions.find((one) => (one as JsonObject).type === type) : undefined
}
const progressingReason =
  (reason: string): Step['until'] =>
  (stage) =>
    (condition(stage, 'Progressing') as JsonObject | undefined)?.reason === reason

export const deploymentLives: readonly Life[] = [
  {
    name: 'deployment',
    steps: [
      step('create', create({ replicas: 3 }), status({ replicas: 3 })),
      step('first-runs', ({ pods }) => pods.run({ count: 1 }), status({ availableReplicas: 1 })),
      step('second-runs', ({ pods }) => pods.run({ count: 1 }), status({ availableReplicas: 2 })),
      step('third-runs', ({ pods }) => pods.run({ count: 1 }), status({ availableReplicas: 3 })),
      step('scale-up', patch({ replicas: 5 }), status({ replicas: 5 })),
      step('more-run', ({ pods }) => pods.run(), status({ availableReplicas: 5 })),
      step('scale-down', patch({ replicas: 2 }), status({ replicas: 2 })),
      step('remove', ({ pods }) => pods.remove()),
      step('one-fails', ({ pods }) => pods.exit(1, { count: 1 }), count(core.pod, 3)),
      step('another-runs', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
    ],
  },
  {
    name: 'deployment-roll',
    steps: [
      step('create', create({ replicas: 2 }), status({ replicas: 2 })),
      step('run', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
      step('roll', patch({ template: template('2') }), status({ updatedReplicas: 1 })),
      step('first-new', ({ pods }) => pods.run(), status({ updatedReplicas: 2 })),
      step('second-new', ({ pods }) => pods.run(), status({ replicas: 2 })),
      step('remove-old', ({ pods }) => pods.remove()),
      step('roll-fails', patch({ template: template('bad'), progressDeadlineSeconds: 2 }), progressingReason('ProgressDeadlineExceeded')),
      step('undo', patch({ template: template('2') }), status({ replicas: 2, updatedReplicas: 2 })),
      step('remove-bad', ({ pods }) => pods.remove()),
      step('undo-more', patch({ template: template('1'), progressDeadlineSeconds: 600 }), status({ updatedReplicas: 1 })),
      step('old-again', ({ pods }) => pods.run(), status({ updatedReplicas: 2 })),
      step('old-again-complete', ({ pods }) => pods.run(), status({ replicas: 2 })),
      step('remove-newer', ({ pods }) => pods.remove()),
      step('delete', remove('Foreground')),
      step('remove-all', ({ pods }) => pods.remove(), count(apps.deployment, 0)),
    ],
  },
  {
    name: 'deployment-pause',
    steps: [
      step('create', create({ replicas: 2, paused: true }), progressingReason('DeploymentPaused')),
      step('resume', patch({ paused: false }), status({ replicas: 2 })),
      step('run', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
      step('pause', patch({ paused: true }), progressingReason('DeploymentPaused')),
      step('roll-paused', patch({ template: template('2') })),
      step('scale-paused', patch({ replicas: 3 }), status({ replicas: 3 })),
      step('run-old', ({ pods }) => pods.run(), status({ availableReplicas: 3 })),
      step('resume-roll', patch({ paused: false }), status({ updatedReplicas: 1 })),
      step('pause-during-roll', patch({ paused: true }), progressingReason('DeploymentPaused')),
      step('scale-during-roll', patch({ replicas: 5 }), status({ replicas: 7 })),
      step('run-both', ({ pods }) => pods.run(), status({ availableReplicas: 7 })),
      step('resume-again', patch({ paused: false })),
      step('run-new', ({ pods }) => pods.run({ where: withImage('2'), count: 1 })),
      step('run-another-new', ({ pods }) => pods.run({ where: withImage('2'), count: 1 })),
    ],
  },
  {
    name: 'deployment-recreate',
    steps: [
      step('create', create({ replicas: 2, strategy: { type: 'Recreate' }, revisionHistoryLimit: 0 }), status({ replicas: 2 })),
      step('run', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
      step('roll', patch({ template: template('2') }), status({ replicas: null })),
      step('remove-first', ({ pods }) => pods.remove({ count: 1 }), count(core.pod, 1)),
      step('remove-second', ({ pods }) => pods.remove({ count: 1 }), status({ replicas: 2 })),
      step('run-new', ({ pods }) => pods.run(), count(apps.replicaSet, 1)),
      step('delete', remove('Orphan'), count(apps.deployment, 0)),
      step('create-again', create({ replicas: 2, template: template('2') }), status({ availableReplicas: 2 })),
      step('delete-again', remove('Background'), count(apps.replicaSet, 0)),
      step('remove-all', ({ pods }) => pods.remove(), count(core.pod, 0)),
    ],
  },
  {
    name: 'deployment-slow',
    steps: [
      step('create', create({ replicas: 2, minReadySeconds: 2 }), status({ replicas: 2 })),
      step('ready', ({ pods }) => pods.run(), status({ availableReplicas: 2 })),
      step('not-ready', ({ pods }) => pods.setReady(false, { count: 1 }), status({ availableReplicas: 1 })),
      step(
        'ready-again',
        ({ pods }) => pods.setReady(true, { where: ({ status: pod }) => !isReady(pod) }),
        status({ availableReplicas: 2 }),
      ),
      step('no-change', patch({ template: template('1') })),
      step('zero', patch({ replicas: 0 }), status({ replicas: null })),
      step('remove', ({ pods }) => pods.remove()),
    ],
  },
]

function isReady(status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } | undefined): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
}
