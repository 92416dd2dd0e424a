/** Kubernetes' own types of `authorization.k8s.io`: `authorization.subjectAccessReview`. */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export type SubjectAccessReview = ClusterObject<models.V1SubjectAccessReview, 'authorization.k8s.io/v1', 'SubjectAccessReview'>
export const subjectAccessReview = clusterType<SubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
)

export type SelfSubjectAccessReview = ClusterObject<models.V1SelfSubjectAccessReview, 'authorization.k8s.io/v1', 'SelfSubjectAccessReview'>
export const selfSubjectAccessReview = clusterType<SelfSubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
)

export type LocalSubjectAccessReview = NamespacedObject<
  models.V1LocalSubjectAccessReview,
  'authorization.k8s.io/v1',
  'LocalSubjectAccessReview'
>
export const localSubjectAccessReview = namespacedType<LocalSubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'LocalSubjectAccessReview',
  'localsubjectaccessreviews',
)
