/** Kubernetes' own types of `authentication.k8s.io`: `authentication.tokenReview`. */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export type TokenReview = ClusterObject<models.V1TokenReview, 'authentication.k8s.io/v1', 'TokenReview'>
export const tokenReview = clusterType<TokenReview>('authentication.k8s.io', 'v1', 'TokenReview', 'tokenreviews')
