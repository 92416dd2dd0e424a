/** `rememberImmutable`: reads an `immutable` ConfigMap or Secret only once. */
import type { ConfigSources } from '../environment/sources.ts'

/**
 * Returns sources that read an immutable object once, and keep it in memory. Similarly, the kubelet stops watching immutable objects
 * (k8s.io/kubernetes/pkg/kubelet/util/manager: objectCache.Get). If an immutable object is deleted and created again, the Pod does not see
 * the new object.
 */
export function rememberImmutable(sources: ConfigSources): ConfigSources {
  return { configMap: remembering(sources.configMap.bind(sources)), secret: remembering(sources.secret.bind(sources)) }
}

type Read<T> = (namespace: string, name: string) => Promise<T | undefined>

function remembering<T extends { readonly immutable?: boolean }>(read: Read<T>): Read<T> {
  const immutable = new Map<string, T>()
  return async (namespace, name) => {
    const key = `${namespace}/${name}`
    const known = immutable.get(key)
    if (known !== undefined) return known
    const found = await read(namespace, name)
    if (found?.immutable === true) immutable.set(key, found)
    return found
  }
}
