/** `FakeSources`: the objects to which the environment variables and volumes of a Pod refer, for tests without a cluster. */
import type { ReadonlyPod, ReadonlyService } from '../../../src/devcluster/controllers/api-types.ts'
import type {
  EnvironmentSources,
  ReadonlyConfigMap,
  ReadonlyContainer,
  ReadonlySecret,
} from '../../../src/devcluster/pods/environment/sources.ts'

/** ConfigMaps and Secrets of the namespace `ns`, keyed by name, and Services of any namespace. */
export class FakeSources implements EnvironmentSources {
  readonly configMaps = new Map<string, object>()
  readonly secrets = new Map<string, object>()
  readonly allServices: ReadonlyService[] = []
  /** The reads of ConfigMaps and Secrets so far, such as `configMap ns/x`. */
  readonly reads: string[] = []
  /** When set, all reads fail with this error. */
  failure: Error | undefined

  configMap(namespace: string, name: string): Promise<ReadonlyConfigMap | undefined> {
    return this.#read('configMap', namespace, name, this.configMaps)
  }

  secret(namespace: string, name: string): Promise<ReadonlySecret | undefined> {
    return this.#read('secret', namespace, name, this.secrets)
  }

  async services(namespace: string): Promise<readonly ReadonlyService[]> {
    if (this.failure !== undefined) throw this.failure
    return this.allServices.filter(({ metadata }) => metadata.namespace === namespace)
  }

  setConfigMap(name: string, data: object, rest: object = {}): void {
    this.configMaps.set(name, { metadata: { namespace: 'ns', name }, data, ...rest })
  }

  /** Sets a Secret whose values are given as text or bytes. */
  setSecret(name: string, data: Readonly<Record<string, string | Buffer>>): void {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
    this.secrets.set(name, { metadata: { namespace: 'ns', name }, data: Object.fromEntries(encoded) as object })
  }

  addService(namespace: string, name: string, spec: object): void {
    this.allServices.push({ metadata: { namespace, name }, spec } as unknown as ReadonlyService)
  }

  async #read<T>(kind: string, namespace: string, name: string, objects: ReadonlyMap<string, object>): Promise<T | undefined> {
    this.reads.push(`${kind} ${namespace}/${name}`)
    if (this.failure !== undefined) throw this.failure
    return (namespace === 'ns' ? objects.get(name) : undefined) as T | undefined
  }
}

/** Returns a Pod `web` in the namespace `ns`. */
export function podWith(spec: object = {}, metadata: object = {}, status: object = {}): ReadonlyPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name: 'web', uid: '11111111-2222-3333-4444-555555555555', ...metadata },
    spec: { nodeName: 'node-1', serviceAccountName: 'robot', enableServiceLinks: true, containers: [], ...spec },
    status: { podIP: '10.244.0.7', podIPs: [{ ip: '10.244.0.7' }], hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.1' }], ...status },
  } as unknown as ReadonlyPod
}

/** Returns a container `main`. */
export function containerWith(fields: object): ReadonlyContainer {
  return { name: 'main', ...fields }
}
