/**
 * The built-in kinds of the group `discovery.k8s.io`. Each kind has a `ResourceType`, such as `discovery.endpointSlice`, and a TypeScript
 * type of its objects, such as `discovery.EndpointSlice`.
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
