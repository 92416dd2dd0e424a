/** Resolves Services to the addresses in their EndpointSlices. The embedded API server connects to these addresses directly. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { isObject } from '../../api/json.ts'
import { at, listAt, numberAt, textAt } from '../apimachinery/unstructured.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { ServiceReference } from './service-resolver.ts'

const slices = 'discovery.k8s.io/endpointslices'

/**
 * Returns the base URL of a stored Service, such as `https://10.0.0.1:9443`; undefined if the Service or its port does not exist, or if no
 * endpoint is ready.
 */
export function endpointOf(store: ObjectStore, { namespace, name, port }: ServiceReference): string | undefined {
  const service = store.get('/services', { namespace, name })
  const servicePort = listAt(service, 'spec', 'ports').find((one) => numberAt(one, 'port') === port)
  if (servicePort === undefined) return undefined
  const { keys, get } = store.snapshot(slices, namespace)
  for (const key of keys) {
    const slice = get(key)!
    if (at(slice, 'metadata', 'labels', 'kubernetes.io/service-name') !== name) continue
    const target = listAt(slice, 'ports').find((one) => textAt(one, 'name') === textAt(servicePort, 'name'))
    const address = addressIn(slice)
    if (target === undefined || address === undefined) continue
    return `https://${address.includes(':') ? `[${address}]` : address}:${numberAt(target, 'port')}`
  }
  return undefined
}

function addressIn(slice: JsonObject): string | undefined {
  const isReady = (endpoint: JsonValue): boolean => isObject(endpoint) && at(endpoint, 'conditions', 'ready') !== false
  const [address] = listAt(listAt(slice, 'endpoints').find(isReady), 'addresses')
  return typeof address === 'string' ? address : undefined
}
