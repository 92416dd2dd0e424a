/**
 * The built-in kind CustomResourceDefinition of the group `apiextensions.k8s.io`: its `ResourceType` is
 * `apiextensions.customResourceDefinition`, and the TypeScript type of its objects is `apiextensions.CustomResourceDefinition`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace apiextensions {
  type CustomResourceDefinition = ClusterObject<models.V1CustomResourceDefinition, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition'>
}

export const apiextensions = {
  customResourceDefinition: clusterType<apiextensions.CustomResourceDefinition>(
    'apiextensions.k8s.io',
    'v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
  ),
} as const
