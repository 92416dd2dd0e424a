/** The states of a container: waiting, running and terminated. */
import { formatTime } from '../../../api/conditions.ts'

export interface Ended {
  readonly exitCode: number
  readonly reason: string
  readonly message?: string
  readonly startedAt?: number
  readonly finishedAt?: number
}

/** The state of a container as the status of its Pod shows it. */
export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly kind: 'running'; readonly startedAt: number }
  | ({ readonly kind: 'terminated' } & Ended)

/** Returns the state of a container as the API represents it. */
export function stateJson(state: ContainerState, containerID: string): object {
  switch (state.kind) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...(state.message !== undefined && { message: state.message }) } }
    case 'running':
      return { running: { startedAt: formatTime(state.startedAt) } }
    case 'terminated':
      return { terminated: endedJson(state, containerID) }
  }
}

export function endedJson({ exitCode, reason, message, startedAt, finishedAt }: Ended, containerID: string): object {
  return {
    exitCode,
    reason,
    ...(message !== undefined && { message }),
    startedAt: startedAt === undefined ? null : formatTime(startedAt),
    finishedAt: finishedAt === undefined ? null : formatTime(finishedAt),
    ...(finishedAt !== undefined && { containerID }),
  }
}
