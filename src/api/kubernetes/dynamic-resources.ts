/**
 * The built-in kinds of the group `resource.k8s.io`. Each kind has a `ResourceType`, such as `resource.resourceClaim`, and a TypeScript
 * type of its objects, such as `resource.ResourceClaim`.
 */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export declare namespace resource {
  type DeviceClass = ClusterObject<models.V1DeviceClass, 'resource.k8s.io/v1', 'DeviceClass'>
  type ResourceClaim = NamespacedObject<models.V1ResourceClaim, 'resource.k8s.io/v1', 'ResourceClaim'>
  type ResourceClaimTemplate = NamespacedObject<models.V1ResourceClaimTemplate, 'resource.k8s.io/v1', 'ResourceClaimTemplate'>
  type ResourceSlice = ClusterObject<models.V1ResourceSlice, 'resource.k8s.io/v1', 'ResourceSlice'>
}

export const resource = {
  deviceClass: clusterType<resource.DeviceClass>('resource.k8s.io', 'v1', 'DeviceClass', 'deviceclasses'),
  resourceClaim: namespacedType<resource.ResourceClaim>('resource.k8s.io', 'v1', 'ResourceClaim', 'resourceclaims'),
  resourceClaimTemplate: namespacedType<resource.ResourceClaimTemplate>(
    'resource.k8s.io',
    'v1',
    'ResourceClaimTemplate',
    'resourceclaimtemplates',
  ),
  resourceSlice: clusterType<resource.ResourceSlice>('resource.k8s.io', 'v1', 'ResourceSlice', 'resourceslices'),
} as const
