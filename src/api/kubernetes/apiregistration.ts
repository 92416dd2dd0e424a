/**
 * The built-in kind APIService of the group `apiregistration.k8s.io`: its `ResourceType` is `apiregistration.apiService`, and the
 * TypeScript type of its objects is `apiregistration.APIService`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace apiregistration {
  type APIService = ClusterObject<models.V1APIService, 'apiregistration.k8s.io/v1', 'APIService'>
}

export const apiregistration = {
  apiService: clusterType<apiregistration.APIService>('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices'),
} as const
