/** The built-in types of the group `authentication.k8s.io`: the resource type `authentication.tokenReview` and its static type. */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace authentication {
  type TokenReview = ClusterObject<models.V1TokenReview, 'authentication.k8s.io/v1', 'TokenReview'>
}

export const authentication = {
  tokenReview: clusterType<authentication.TokenReview>('authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews'),
} as const
