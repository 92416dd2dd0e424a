/**
 * The controllers that watch Services, EndpointSlices and Pods, and update the network of the cluster. In a real cluster, kube-proxy and
 * CoreDNS watch such objects.
 */
import { pod as podType, service as serviceType } from '../../../api/builtin.ts'
import { discovery } from '../../../api/kubernetes/discovery.ts'
import { formatKey } from '../../../api/object.ts'
import type { ControllerDefinition } from '../../../controller/builder.ts'
import { defineController } from '../../../controller/builder.ts'
import type { ClusterNetwork } from '../network/cluster-network.ts'

export function serviceProxy(network: ClusterNetwork): readonly ControllerDefinition[] {
  /** The addresses of the Pods that use the network of the cluster, keyed by the namespace and name of the Pod. */
  const addresses = new Map<string, string>()
  const setAddress = (key: string, address: string | undefined, node = ''): void => {
    const before = addresses.get(key)
    if (before !== undefined && before !== address) {
      network.removePod(before)
      addresses.delete(key)
    }
    if (address === undefined) return
    addresses.set(key, address)
    network.setPod(address, { node })
  }
  return [
    defineController(serviceType, {
      name: 'service-proxy',
      resyncPeriodMs: 0,
      reconcile(service) {
        network.setService(service)
        return Promise.resolve(undefined)
      },
      deleted: (key) => Promise.resolve(network.removeService(key)),
    }),
    defineController(discovery.endpointSlice, {
      name: 'endpoint-proxy',
      resyncPeriodMs: 0,
      reconcile(slice) {
        network.setEndpointSlice(slice)
        return Promise.resolve(undefined)
      },
      deleted: (key) => Promise.resolve(network.removeEndpointSlice(key)),
    }),
    defineController(podType, {
      name: 'pod-proxy',
      resyncPeriodMs: 0,
      reconcile({ metadata, spec, status }) {
        const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed'
        const hasNetwork = spec?.hostNetwork !== true && !hasEnded
        setAddress(formatKey(metadata), hasNetwork ? status?.podIP : undefined, spec?.nodeName)
        return Promise.resolve(undefined)
      },
      deleted: (key) => Promise.resolve(setAddress(formatKey(key), undefined)),
    }),
  ]
}
