/** The objects to which the environment variables and the volumes of a Pod refer, and the functions that read these objects. */
import type { DeepReadonly } from '../../../api/json.ts'
import type { core } from '../../../api/kubernetes/core.ts'
import type { ReadonlyPod, ReadonlyService } from '../../controllers/api-types.ts'

export type ReadonlyConfigMap = DeepReadonly<core.ConfigMap>
export type ReadonlySecret = DeepReadonly<core.Secret>
/** A container in the spec of a Pod: an init container, a sidecar, a regular or an ephemeral container. */
export type ReadonlyContainer = NonNullable<ReadonlyPod['spec']>['containers'][number]
export type ResourceList = Readonly<Record<string, string>>

/**
 * Reads ConfigMaps and Secrets. A method resolves with undefined if the object does not exist. It rejects if the object could not be read.
 * The message of that error then becomes the reason why the container waits, or why the volume cannot be mounted.
 */
export interface ConfigSources {
  configMap(namespace: string, name: string): Promise<ReadonlyConfigMap | undefined>
  secret(namespace: string, name: string): Promise<ReadonlySecret | undefined>
}

export interface EnvironmentSources extends ConfigSources {
  /**
   * Resolves with the Services of a namespace. For every container, `serviceVariables` reads the Services of the namespace `default`,
   * because the Service of the API server is in this namespace.
   */
  services(namespace: string): Promise<readonly ReadonlyService[]>
}

/**
 * The addresses of a Pod and of its node, and the resources of the node. The kubelet knows the addresses before the status of the Pod
 * contains them.
 */
export interface PodPlace {
  readonly hostIPs: readonly string[]
  readonly podIPs: readonly string[]
  /**
   * The allocatable resources of the node. If a container sets no limit, `resourceFieldRef` uses these resources as limits. Default: none.
   */
  readonly allocatable?: ResourceList
}

/** Returns the addresses in the status of a Pod. */
export function placeOf({ status }: ReadonlyPod): PodPlace {
  const addresses = (list: readonly { readonly ip?: string }[] | undefined, first: string | undefined): readonly string[] => {
    const all = (list ?? []).flatMap(({ ip }) => ip ?? [])
    return all.length > 0 || first === undefined ? all : [first]
  }
  return { hostIPs: addresses(status?.hostIPs, status?.hostIP), podIPs: addresses(status?.podIPs, status?.podIP) }
}

/** Returns the value of a key, or undefined. Ignores inherited properties, such as `constructor`. */
export function entryOf(map: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}
