/** The built-in types of the group `apiregistration.k8s.io`: the resource type `apiregistration.apiService` and its static type. */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace apiregistration {
  type APIService = ClusterObject<models.V1APIService, 'apiregistration.k8s.io/v1', 'APIService'>
}

export const apiregistration = {
  apiService: clusterType<apiregistration.APIService>('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices'),
} as const
