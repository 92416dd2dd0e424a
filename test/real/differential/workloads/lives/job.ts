/** The lives of Jobs: the steps that create, change and delete them. */
import type { Pod } from '../../../../../src/api/builtin.ts'
import type { JsonObject } from '../../../../../src/api/json.ts'
import { batch } from '../../../../../src/api/kubernetes/batch.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import type { Life, Step } from '../life.ts'
import { count, has, step } from '../life.ts'
import { template } from './objects.ts'

const work = template('1', { restartPolicy: 'Never' })
const create =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.create(batch.job, { metadata: { name: 'work' }, spec: { template: work, ...spec } })
const patch =
  (spec: JsonObject): Step['act'] =>
  (stage) =>
    stage.patch(batch.job, 'work', { spec })
const status = (values: JsonObject): Step['until'] =>
  has(batch.job, 'work', Object.fromEntries(Object.entries(values).map(([key, value]) => [`status.${key}`, value])))
const condition =
  (type: string): Step['until'] =>
  (stage) => {
    const conditions = stage.see(batch.job, 'work', 'status.conditions')
    return Array.isArray(conditions) && conditions.some((one) => (one as JsonObject).type === type)
  }
const ofIndex =
  (index: number): ((pod: Pod) => boolean) =>
  ({ metadata }) =>
    metadata.annotations?.['batch.kubernetes.io/job-completion-index'] === String(index)

export const jobLives: readonly Life[] = [
  {
    name: 'job',
    steps: [
      step('create', create({ parallelism: 2, completions: 3 }), status({ active: 2 })),
      step('run', ({ pods }) => pods.run(), status({ ready: 2 })),
      step('first-succeeds', ({ pods }) => pods.exit(0, { count: 1 }), status({ succeeded: 1, active: 2 })),
      step('run-third', ({ pods }) => pods.run(), status({ ready: 2 })),
      step('second-succeeds', ({ pods }) => pods.exit(0, { count: 1 }), status({ succeeded: 2, active: 1 })),
      step('third-succeeds', ({ pods }) => pods.exit(0, { count: 1 }), condition('Complete')),
      step('delete', (stage) => stage.delete(batch.job, 'work'), count(core.pod, 0)),
    ],
  },
  {
    name: 'job-suspend',
    steps: [
      step('create', create({ suspend: true, completions: 1 }), condition('Suspended')),
      step('resume', patch({ suspend: false }), status({ active: 1 })),
      step('run', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('suspend', patch({ suspend: true }), status({ active: null })),
      step('remove', ({ pods }) => pods.remove(), count(core.pod, 0)),
      step('resume-again', patch({ suspend: false }), status({ active: 1 })),
      step('run-again', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('delete', (stage) => stage.delete(batch.job, 'work', 'Foreground')),
      step('remove-again', ({ pods }) => pods.remove(), count(batch.job, 0)),
    ],
  },
  {
    name: 'job-back-off',
    steps: [
      step('create', create({ backoffLimit: 1 }), status({ active: 1 })),
      step('run', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('fails', ({ pods }) => pods.exit(1), count(core.pod, 2)),
      step('run-again', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('fails-again', ({ pods }) => pods.exit(1), condition('Failed')),
      step('delete', (stage) => stage.delete(batch.job, 'work', 'Orphan'), count(batch.job, 0)),
    ],
  },
  {
    name: 'job-deadline',
    steps: [
      step('create', create({}), status({ active: 1 })),
      step('run', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('too-late', patch({ activeDeadlineSeconds: 1 }), condition('FailureTarget')),
      step('remove', ({ pods }) => pods.remove(), condition('Failed')),
    ],
  },
  {
    name: 'job-indexed',
    steps: [
      step('create', create({ completionMode: 'Indexed', completions: 2, parallelism: 2, backoffLimitPerIndex: 0 }), status({ active: 2 })),
      step('run', ({ pods }) => pods.run(), status({ ready: 2 })),
      step('fails', ({ pods }) => pods.exit(1, { where: ofIndex(1) }), status({ failed: 1 })),
      step('succeeds', ({ pods }) => pods.exit(0, { where: ofIndex(0) }), condition('Failed')),
    ],
  },
  {
    name: 'job-policies',
    steps: [
      step(
        'create',
        create({
          backoffLimit: 3,
          podReplacementPolicy: 'Failed',
          podFailurePolicy: {
            rules: [
              { action: 'Ignore', onExitCodes: { operator: 'In', values: [7] } },
              { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
            ],
          },
        }),
        status({ active: 1 }),
      ),
      step('run', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('ignored', ({ pods }) => pods.exit(7), count(core.pod, 2)),
      step('run-again', ({ pods }) => pods.run(), status({ ready: 1 })),
      step(
        'delete-pod',
        async (stage) => {
          const running = stage.all('Pod').find((pod) => (pod.status as JsonObject).phase === 'Running')
          await stage.delete(core.pod, (running?.metadata as JsonObject).name as string)
        },
        status({ terminating: 1 }),
      ),
      step('removed', ({ pods }) => pods.remove(), status({ active: 1 })),
      step('run-third', ({ pods }) => pods.run(), status({ ready: 1 })),
      step('fails-the-job', ({ pods }) => pods.exit(42), condition('Failed')),
    ],
  },
  {
    name: 'job-success',
    steps: [
      step(
        'create',
        create({
          completionMode: 'Indexed',
          completions: 2,
          parallelism: 2,
          successPolicy: { rules: [{ succeededIndexes: '0' }] },
        }),
        status({ active: 2 }),
      ),
      step('run', ({ pods }) => pods.run(), status({ ready: 2 })),
      step('leader-succeeds', ({ pods }) => pods.exit(0, { where: ofIndex(0) }), condition('SuccessCriteriaMet')),
      step('remove', ({ pods }) => pods.remove(), condition('Complete')),
      step('expires', patch({ ttlSecondsAfterFinished: 1 }), count(batch.job, 0)),
    ],
  },
]
