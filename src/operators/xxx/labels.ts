/** The labels of the Jobs of an Xxx and of their Pods. */
import type { DeepReadonly } from 'proreus'
import type { Xxx } from './kind.ts'

export type Task = 'build' | 'clean-up'

/** The label with the uid of the Xxx. The name would not be sufficient, because an earlier Xxx may have had the same name. */
export const uidLabel = 'test.inspur.com/xxx-uid'
const taskLabel = 'test.inspur.com/task'
export const jobLabels = [uidLabel, taskLabel] as const

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
}

export function taskLabels({ metadata: { uid } }: DeepReadonly<Xxx>, task: Task): Record<string, string> {
  return { [uidLabel]: uid, [taskLabel]: task }
}

/** Returns the uid of the Xxx for which the Job or Pod was created. */
export function xxxUidOf({ metadata }: Labelled): string | undefined {
  return metadata.labels?.[uidLabel]
}

export function isTask({ metadata }: Labelled, task: Task): boolean {
  return metadata.labels?.[taskLabel] === task
}
