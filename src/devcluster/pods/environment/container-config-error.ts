/** `ContainerConfigError`: a container that cannot be started because of its spec, or of an object that its spec refers to. */

/**
 * The reasons of a waiting container (k8s.io/kubernetes/pkg/kubelet/kuberuntime: ErrCreateContainerConfig, ErrCreateContainer;
 * k8s.io/kubernetes/pkg/kubelet/container: ErrRunContainer).
 */
export type ContainerConfigReason = 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError'

/** The message has the words of the kubelet or the container runtime. It becomes the message of the waiting container. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
  readonly reason: ContainerConfigReason

  /** `reason` is CreateContainerConfigError by default. */
  constructor(message: string, { reason = 'CreateContainerConfigError', cause }: { reason?: ContainerConfigReason; cause?: unknown } = {}) {
    super(message, { cause })
    this.reason = reason
  }
}
