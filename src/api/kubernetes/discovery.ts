/** Kubernetes' own types of `discovery.k8s.io`: `discovery.endpointSlice`, `discovery.EndpointSlice`. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export type EndpointSlice = NamespacedObject<models.V1EndpointSlice, 'discovery.k8s.io/v1', 'EndpointSlice'>
export const endpointSlice = namespacedType<EndpointSlice>('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices')
