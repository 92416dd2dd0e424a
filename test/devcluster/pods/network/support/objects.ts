/** Services and EndpointSlices for tests. */
import type { Service } from '../../../../../src/api/builtin.ts'
import type { discovery } from '../../../../../src/api/kubernetes/discovery.ts'
import { serviceNameLabel } from '../../../../../src/devcluster/pods/network/services/service-state.ts'

export type ServiceSpec = NonNullable<Service['spec']>
export type SliceEndpoint = NonNullable<discovery.EndpointSlice['endpoints']>[number]
export type SlicePort = NonNullable<discovery.EndpointSlice['ports']>[number]

const metadata = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }

export function service(name: string, spec: ServiceSpec, namespace = 'default'): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { ...metadata, namespace, name }, spec }
}

/** Returns the EndpointSlice `NAME-x` of the Service `NAME`. */
export function slice(name: string, ports: SlicePort[], endpoints: SliceEndpoint[], namespace = 'default'): discovery.EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, namespace, name: `${name}-x`, labels: { [serviceNameLabel]: name } },
    addressType: 'IPv4',
    ports: ports.map((port) => ({ name: '', protocol: 'TCP', ...port })),
    endpoints,
  }
}

/** Returns a ready endpoint. */
export function endpoint(address: string, more: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return { addresses: [address], conditions: { ready: true, serving: true, terminating: false }, ...more }
}
