/** The lives of DaemonSets: the steps that create, change and delete them. */
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import type { JsonObject } from '../../../../../src/api/json.ts'
import type { Life, Step } from '../life.ts'
import { count, has, step } from '../life.ts'
import { selector, template } from './objects.ts'

const onDaemonNodes = (image: string): JsonObject =>
  template(image, { nodeSelector: { role: 'daemon' }, tolerations: [{ key: 'daemons', operator: 'Exists' }] })
const create =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.create(apps.daemonSet, { metadata: { name: 'agent' }, spec: { selector, template: onDaemonNodes('1'), ...spec } })
const patch =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.patch(apps.daemonSet, 'agent', { spec })
const status = (values: JsonObject): Step['until'] =>
  has(apps.daemonSet, 'agent', Object.fromEntries(Object.entries(values).map(([key, value]) => [`status.${key}`, value])))
const onFirst = { where: ({ spec }: { readonly spec?: { readonly nodeName?: string } }) => spec?.nodeName === 'daemon-1' }
const nowhere = { nodeSelector: { role: 'nowhere' } }

export const daemonSetLives: readonly Life[] = [
  {
    name: 'daemon-set',
    steps: [
      step('create', create({}), count(core.pod, 2)),
      step('first-runs', ({ pods }) => pods.run(onFirst), status({ numberAvailable: 1 })),
      step('second-runs', ({ pods }) => pods.run(), status({ numberAvailable: 2 })),
      step('roll', patch({ template: onDaemonNodes('2') })),
      step('remove-first-old', ({ pods }) => pods.remove(), count(core.pod, 2)),
      step('first-new-runs', ({ pods }) => pods.run()),
      step('remove-second-old', ({ pods }) => pods.remove(), count(core.pod, 2)),
      step('second-new-runs', ({ pods }) => pods.run(), status({ updatedNumberScheduled: 2, numberAvailable: 2 })),
      step('fails', ({ pods }) => pods.exit(1, onFirst), status({ numberReady: 1 })),
      step('runs-again', ({ pods }) => pods.run(), status({ numberAvailable: 2 })),
      step('nowhere', patch({ template: { spec: nowhere } }), status({ desiredNumberScheduled: 0 })),
      step('remove', ({ pods }) => pods.remove(), count(core.pod, 0)),
      step('delete', (stage) => stage.delete(apps.daemonSet, 'agent', 'Foreground'), count(apps.daemonSet, 0)),
    ],
  },
  {
    name: 'daemon-set-surge',
    steps: [
      step(
        'create',
        create({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }, revisionHistoryLimit: 0 }),
        count(core.pod, 2),
      ),
      step('run', ({ pods }) => pods.run(), status({ numberAvailable: 2 })),
      step('roll', patch({ template: onDaemonNodes('2') }), count(core.pod, 3)),
      step('first-runs', ({ pods }) => pods.run()),
      step('remove-first', ({ pods }) => pods.remove(), count(core.pod, 3)),
      step('second-runs', ({ pods }) => pods.run()),
      step('remove-second', ({ pods }) => pods.remove(), status({ updatedNumberScheduled: 2, numberAvailable: 2 })),
      step('delete', (stage) => stage.delete(apps.daemonSet, 'agent', 'Orphan'), count(apps.daemonSet, 0)),
      step('create-again', create({ template: onDaemonNodes('2'), updateStrategy: { type: 'OnDelete' } }), status({ numberAvailable: 2 })),
      step('roll-on-delete', patch({ template: onDaemonNodes('3') })),
      step('delete-again', (stage) => stage.delete(apps.daemonSet, 'agent')),
      step('remove-all', ({ pods }) => pods.remove(), count(core.pod, 0)),
    ],
  },
]
