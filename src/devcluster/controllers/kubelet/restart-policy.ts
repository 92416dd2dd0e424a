/** Decides whether an ended container is restarted (k8s.io/kubernetes/pkg/api/v1/pod: ContainerShouldRestart). */
import type { ReadonlyPod } from '../api-types.ts'
import type { ContainerSpec } from './container-runtime.ts'

/** Returns true when the kubelet restarts a container that has ended with `exitCode`. */
export function restartsContainer(container: ContainerSpec, { spec }: ReadonlyPod, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [], name } = container
  if (restartPolicy !== undefined) {
    const matches = restartPolicyRules.some(({ exitCodes }) => {
      const isListed = exitCodes?.values?.includes(exitCode) === true
      return exitCodes !== undefined && (exitCodes.operator === 'In' ? isListed : !isListed)
    })
    return matches || restarts(restartPolicy, exitCode)
  }
  if ((spec?.ephemeralContainers ?? []).some((one) => one.name === name)) return false
  // An init container that has succeeded is not restarted, even if the restart policy of the Pod is Always.
  if (exitCode === 0 && (spec?.initContainers ?? []).some((one) => one.name === name)) return false
  return restarts(spec?.restartPolicy ?? 'Always', exitCode)
}

/**
 * Returns true when the kubelet restarts a container that it stops because of a failed probe. The exit code of the container is ignored
 * (k8s.io/kubernetes/pkg/kubelet/kuberuntime: computePodActions).
 */
export function restartsAfterProbe(container: ContainerSpec, { spec }: ReadonlyPod): boolean {
  return (container.restartPolicy ?? spec?.restartPolicy) !== 'Never'
}

/**
 * Returns true when an init container is a sidecar. A sidecar continues to run while the other containers run, and is restarted whenever it
 * ends.
 */
export function isSidecar({ restartPolicy }: ContainerSpec): boolean {
  return restartPolicy === 'Always'
}

function restarts(policy: string, exitCode: number): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}
