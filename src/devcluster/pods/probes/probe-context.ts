/** `ProbeContext`: the parameters of one run of a probe. */
import type { Clock } from '../../../runtime/clock.ts'
import type { ContainerSpec } from '../../controllers/kubelet/container-runtime.ts'
import type { ProbeTarget } from './probe-target.ts'

export interface ProbeContext {
  readonly container: ContainerSpec
  readonly target: ProbeTarget
  readonly clock: Clock
  readonly timeoutMs: number
  /**
   * Aborts the run when the container has ended. If the probe is a startup or liveness probe, also aborts the run when the kubelet begins
   * to stop the container. The run then rejects with the reason of the signal.
   */
  readonly signal: AbortSignal
}
