/** The Events about Pod settings that have no effect on the processes of the Pod. */
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { RuntimeEvent } from '../../controllers/kubelet/container-runtime.ts'
import { containersOf } from '../volumes/containers.ts'

/**
 * Returns the Event which reports that the limits of CPU and memory are not enforced. Returns undefined when neither the Pod nor a
 * container has such a limit.
 */
export function limitsNotEnforced(pod: ReadonlyPod): RuntimeEvent | undefined {
  const all = [pod.spec?.resources?.limits, ...containersOf(pod).map(({ resources }) => resources?.limits)]
  if (all.every((limits) => limits?.['cpu'] === undefined && limits?.['memory'] === undefined)) return undefined
  const message = 'The limits of CPU and memory are not enforced: the containers are processes of this machine'
  return { type: 'Normal', reason: 'LimitsNotEnforced', message }
}

/** Returns the Event for a Pod that is started without the volume with the token of the ServiceAccount. */
export function tokenOmitted(volume: string): RuntimeEvent {
  const message = `The containers have no volume ${volume} with the token of the ServiceAccount: this machine cannot give them files of their own`
  return { type: 'Normal', reason: 'ServiceAccountTokenOmitted', message }
}
