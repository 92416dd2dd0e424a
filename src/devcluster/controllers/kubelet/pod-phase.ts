/** Derives the phase of a Pod from the states of its containers (k8s.io/kubernetes/pkg/kubelet: getPhase). */
import type { ReadonlyPod } from '../api-types.ts'
import { isSidecar, restartsContainer } from './restart-policy.ts'
import type { Container } from './container.ts'
import { succeeded, type PodWorker } from './pod-worker.ts'

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

export function phaseOf(worker: PodWorker, pod: ReadonlyPod): PodPhase {
  const { init, regular, outcome } = worker
  if (outcome !== undefined) return outcome.reason === undefined && regular.every(({ state }) => succeeded(state)) ? 'Succeeded' : 'Failed'
  const isFinal = ({ spec }: Container, exitCode: number): boolean => !restartsContainer(spec, pod, exitCode)
  const failed = init.some((one) => !isSidecar(one.spec) && exitCodeOf(one) > 0 && isFinal(one, exitCodeOf(one)))
  if (failed) return 'Failed'
  const hasStarted = regular.some((one) => one.isRunning || exitCodeOf(one) >= 0)
  const pendingInit = init.some(({ spec, state, last, isRunning, isStarted }) => {
    if (!isSidecar(spec)) return isRunning || (state.kind === 'waiting' && last === undefined)
    return !hasStarted && (isRunning ? !isStarted : state.kind === 'waiting' && last === undefined)
  })
  const waiting = regular.some(({ state, last }) => state.kind === 'waiting' && last === undefined)
  return pendingInit || waiting ? 'Pending' : 'Running'
}

/**
 * Returns the exit code of a container that has terminated, or that waits for its restart after it has terminated. Returns -1 for a
 * container that runs or that has never terminated.
 */
function exitCodeOf({ state, last }: Container): number {
  if (state.kind === 'terminated') return state.exitCode
  return state.kind === 'waiting' ? (last?.exitCode ?? -1) : -1
}
