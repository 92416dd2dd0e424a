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
   * Checks the ConfigMaps and Secrets to which the environment variables of a container refer. Returns undefined if they refer to none.
   * Otherwise, returns a promise that never rejects. The promise resolves with an error if the container cannot be created, and with
   * undefined if it can.
   */
  variables(pod: ReadonlyPod, container: ContainerSpec): Promise<RuntimeError | undefined> | undefined
}
