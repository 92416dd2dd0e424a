/** `ReferenceChecks`: checks that the ConfigMaps and Secrets to which a simulated Pod refers exist. */
import type { ReadonlyPod } from '../../api-types.ts'
import type { ContainerSpec, RuntimeError } from '../container-runtime.ts'

export interface ReferenceChecks {
  /**
   * Resolves with one message for each volume that cannot be mounted. The kubelet records each message in an Event `FailedMount`. Returns
   * undefined when no volume of the Pod refers to an object.
   */
  volumes(pod: ReadonlyPod): Promise<readonly string[]> | undefined
  /**
   * Resolves with the error of a container that cannot be created, or with undefined if the container can be created. Never rejects.
   * Returns undefined when the variables of the container refer to no object.
   */
  variables(pod: ReadonlyPod, container: ContainerSpec): Promise<RuntimeError | undefined> | undefined
}
