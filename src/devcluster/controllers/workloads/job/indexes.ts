/** The completion indexes of an Indexed Job (k8s.io/kubernetes/pkg/controller/job: indexed_job_utils). */
import type { Pod } from '../../../../api/builtin.ts'
import type { batch } from '../../../../api/kubernetes/batch.ts'
import type { DeepReadonly } from '../../../../api/json.ts'

/** The name of the annotation and of the label that contain the index of a Pod. */
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index'

/** Returns the index of a Pod; undefined when the Pod has no valid index. */
export function indexOf({ metadata }: DeepReadonly<Pod>): number | undefined {
  const text = metadata.annotations?.[indexAnnotation] ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

/** Returns the index of a Pod, if the index is lower than `spec.completions` of the Job; otherwise undefined. */
export function validIndexOf(pod: DeepReadonly<Pod>, { spec }: DeepReadonly<batch.Job>): number | undefined {
  const index = indexOf(pod)
  return index !== undefined && index < (spec?.completions ?? 0) ? index : undefined
}

/** Parses `status.completedIndexes`, e.g. `"0-2,5"`. Only indexes below `completions` are returned. */
export function parseIndexes(text: string | undefined, completions: number): ReadonlySet<number> {
  const indexes = new Set<number>()
  for (const interval of (text ?? '').split(',')) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(interval) ?? []
    if (first === undefined) continue
    for (let index = Number(first); index <= Number(last) && index < completions; index += 1) indexes.add(index)
  }
  return indexes
}

/** Formats indexes as intervals, e.g. `"0-2,5"`. An interval of only two indexes is formatted as a list, e.g. `"0,1"`. */
export function formatIndexes(indexes: Iterable<number>): string {
  const intervals: [number, number][] = []
  for (const index of [...indexes].toSorted((a, b) => a - b)) {
    const last = intervals.at(-1)
    if (last !== undefined && last[1] === index - 1) last[1] = index
    else intervals.push([index, index])
  }
  return intervals.map(([first, last]) => (first === last ? String(first) : `${first}${last === first + 1 ? ',' : '-'}${last}`)).join(',')
}

/** Returns the first `count` indexes below `completions` that none of the sets in `taken` contains. */
export function pendingIndexes(
  count: number,
  completions: number,
  ...taken: readonly { has(index: number): boolean }[]
): readonly number[] {
  const pending: number[] = []
  for (let index = 0; index < completions && pending.length < count; index += 1)
    if (!taken.some((set) => set.has(index))) pending.push(index)
  return pending
}
