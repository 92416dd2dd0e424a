/**
 * The built-in kinds of the group `authorization.k8s.io`. Each kind has a `ResourceType`, such as `authorization.subjectAccessReview`, and
 * a TypeScript type of its objects, such as `authorization.SubjectAccessReview`.
 */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export declare namespace authorization {
  type SubjectAccessReview = ClusterObject<models.V1SubjectAccessReview, 'authorization.k8s.io/v1', 'SubjectAccessReview'>
  type SelfSubjectAccessReview = ClusterObject<models.V1SelfSubjectAccessReview, 'authorization.k8s.io/v1', 'SelfSubjectAccessReview'>
  type SelfSubjectRulesReview = ClusterObject<models.V1SelfSubjectRulesReview, 'authorization.k8s.io/v1', 'SelfSubjectRulesReview'>
  type LocalSubjectAccessReview = NamespacedObject<models.V1LocalSubjectAccessReview, 'authorization.k8s.io/v1', 'LocalSubjectAccessReview'>
}

export const authorization = {
  subjectAccessReview: clusterType<authorization.SubjectAccessReview>(
    'authorization.k8s.io',
    'v1',
    'SubjectAccessReview',
    'subjectaccessreviews',
  ),
  selfSubjectAccessReview: clusterType<authorization.SelfSubjectAccessReview>(
    'authorization.k8s.io',
    'v1',
    'SelfSubjectAccessReview',
    'selfsubjectaccessreviews',
  ),
  selfSubjectRulesReview: clusterType<authorization.SelfSubjectRulesReview>(
    'authorization.k8s.io',
    'v1',
    'SelfSubjectRulesReview',
    'selfsubjectrulesreviews',
  ),
  localSubjectAccessReview: namespacedType<authorization.LocalSubjectAccessReview>(
    'authorization.k8s.io',
    'v1',
    'LocalSubjectAccessReview',
    'localsubjectaccessreviews',
  ),
} as const
