/** The completion indexes of an Indexed Job (k8s.io/kubernetes/pkg/controller/job: indexed_job_utils). */
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { IndexSet } from './index-set.ts'

/** The name of the annotation and of the label that contain the index of a Pod. */
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'

/** Returns the index of a Pod; undefined when the Pod has no valid index. */
export function indexOf({ metadata }: ReadonlyPod): number | undefined {
  const text = metadata.annotations?.[indexAnnotation] ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

/** Returns the index of a Pod, if the index is lower than `spec.completions` of the Job; otherwise undefined. */
export function validIndexOf(pod: ReadonlyPod, { spec }: DeepReadonly<batch.Job>): number | undefined {
  const index = indexOf(pod)
  return index !== undefined && index < (spec?.completions ?? 0) ? index : undefined
}

/** Parses `status.completedIndexes`, e.g. `"0-2,5"`. Only indexes below `completions` are returned. */
export function parseIndexes(text: string | undefined, completions: number): IndexSet {
  return new IndexSet(
    (text ?? '').split(',').flatMap((interval) => {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(interval) ?? []
      const [start, end] = [Number(first), Math.min(Number(last), completions - 1)]
      return start <= end ? [[start, end] as const] : []
    }),
  )
}
