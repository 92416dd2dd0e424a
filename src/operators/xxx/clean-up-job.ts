/** The Job that removes files from the output folder. */
import { jsonHash, keyOf } from 'proreus'
import type { batch, DeepReadonly, ObjectInput } from 'proreus'
import type { Xxx } from './kind.ts'
import { taskLabels } from './labels.ts'
import type { XxxOptions } from './options.ts'
import { onNode, outputFolder, podSpec } from './pod-spec.ts'

/**
 * The name of an annotation of the Job. The value of the annotation is a hash of the uid and the generation of the Xxx, the names of the
 * files, and the node. If the existing Job and the wanted Job have different hashes, the existing Job cannot be used, and another Job is
 * needed.
 */
export const occasionHash = 'test.inspur.com/clean-up'

/** The time in seconds after which a clean-up fails. */
const cleanUpSeconds = 300
/** The time in seconds after which an ended Job is deleted. After the deletion, a failed clean-up is tried again. */
const keptSeconds = 300

export function cleanUpName(jobName: string): string {
  return `${jobName}-delete`
}

/**
 * Returns the Job that removes the files `names`. The Job has no owner, because users must be able to see the result of the Job after the
 * Xxx has been deleted.
 *
 * @param names valid file names, sorted
 */
export function cleanUpJob(
  object: DeepReadonly<Xxx>,
  names: readonly string[],
  options: XxxOptions,
  node: string | undefined,
): ObjectInput<batch.Job> {
  const { namespace } = keyOf(object)
  const labels = taskLabels(object, 'clean-up')
  const { uid, generation } = object.metadata
  const pod = podSpec(options, {
    command: ['rm', '-f', '--', ...names.map((name) => `${outputFolder}/${name}`)],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '64Mi' } },
  })
  return {
    metadata: {
      namespace,
      name: cleanUpName(object.spec.jobName),
      labels,
      annotations: { [occasionHash]: jsonHash({ uid, generation: generation ?? 0, names, node: node ?? null }) },
    },
    spec: {
      backoffLimit: 3,
      activeDeadlineSeconds: cleanUpSeconds,
      ttlSecondsAfterFinished: keptSeconds,
      template: { metadata: { labels }, spec: { ...pod, ...(node !== undefined && onNode(node)) } },
    },
  }
}

/** Returns true when both Jobs remove the same files of the same Xxx on the same node. */
export function isSameOccasion(job: DeepReadonly<batch.Job>, wanted: ObjectInput<batch.Job>): boolean {
  return job.metadata.annotations?.[occasionHash] === wanted.metadata.annotations?.[occasionHash]
}
