/**
 * The built-in kinds of the group `authentication.k8s.io`. Each kind has a `ResourceType`, such as `authentication.tokenReview`, and a
 * TypeScript type of its objects, such as `authentication.TokenReview`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace authentication {
  type TokenReview = ClusterObject<models.V1TokenReview, 'authentication.k8s.io/v1', 'TokenReview'>
  type SelfSubjectReview = ClusterObject<models.V1SelfSubjectReview, 'authentication.k8s.io/v1', 'SelfSubjectReview'>
}

export const authentication = {
  tokenReview: clusterType<authentication.TokenReview>('authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews'),
  selfSubjectReview: clusterType<authentication.SelfSubjectReview>(
    'authentication.k8s.io',
    'v1',
    'SelfSubjectReview',
    'selfsubjectreviews',
  ),
} as const
