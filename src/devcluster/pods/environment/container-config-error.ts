/** `ContainerConfigError`: the error of a container that cannot start because of its spec, or because of an object to which the spec refers. */

/**
 * The reasons of a container in the state `waiting` (k8s.io/kubernetes/pkg/kubelet/kuberuntime: ErrCreateContainerConfig, ErrCreateContainer;
 * k8s.io/kubernetes/pkg/kubelet/container: ErrRunContainer).
 */
export type ContainerConfigReason = 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError'

/** The message is similar to that of the kubelet or the container runtime. It becomes the message of the container in the state `waiting`. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
  readonly reason: ContainerConfigReason

  /** `reason` is CreateContainerConfigError by default. */
  constructor(message: string, { reason = 'CreateContainerConfigError', cause }: { reason?: ContainerConfigReason; cause?: unknown } = {}) {
    super(message, { cause })
    this.reason = reason
  }
}
