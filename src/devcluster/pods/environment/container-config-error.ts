/**
 * `ContainerConfigError`: the error of a container that cannot start. The cause is the spec of the container, or an object to which the
 * spec refers.
 */

/**
 * The reasons of a waiting container (k8s.io/kubernetes/pkg/kubelet/kuberuntime: ErrCreateContainerConfig, ErrCreateContainer;
 * k8s.io/kubernetes/pkg/kubelet/container: ErrRunContainer).
 */
export type ContainerConfigReason = 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError'

/**
 * The error of a container that cannot start. The message is similar to that of the kubelet or the container runtime, and is shown in the
 * status of the waiting container.
 */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
  readonly reason: ContainerConfigReason

  /** `reason` is CreateContainerConfigError by default. */
  constructor(message: string, { reason = 'CreateContainerConfigError', cause }: { reason?: ContainerConfigReason; cause?: unknown } = {}) {
    super(message, { cause })
    this.reason = reason
  }
}
