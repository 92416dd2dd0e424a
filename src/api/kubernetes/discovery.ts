/**
 * The built-in types of the group `discovery.k8s.io`: resource types such as `discovery.endpointSlice`, and static types such as
 * `discovery.EndpointSlice`.
 */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace discovery {
  type EndpointSlice = NamespacedObject<models.V1EndpointSlice, 'discovery.k8s.io/v1', 'EndpointSlice'>
}

export const discovery = {
  endpointSlice: namespacedType<discovery.EndpointSlice>('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices'),
} as const
