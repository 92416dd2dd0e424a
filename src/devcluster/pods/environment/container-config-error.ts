/** `ContainerConfigError`: the error of a container that cannot start because of its spec or of an object to which the spec refers. */

/**
 * The reasons of a waiting container (k8s.io/kubernetes/pkg/kubelet/kuberuntime: ErrCreateContainerConfig, ErrCreateContainer;
 * k8s.io/kubernetes/pkg/kubelet/container: ErrRunContainer).
 */
export type ContainerConfigReason = 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError'

/** The message is similar to that of the kubelet or the container runtime. The status of the waiting container shows this message. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
  readonly reason: ContainerConfigReason

  /** `reason` is CreateContainerConfigError by default. */
  constructor(message: string, { reason = 'CreateContainerConfigError', cause }: { reason?: ContainerConfigReason; cause?: unknown } = {}) {
    super(message, { cause })
    this.reason = reason
  }
}
