/** Kubernetes' own types of `admissionregistration.k8s.io`: `admissionregistration.validatingWebhookConfiguration`. */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export type MutatingWebhookConfiguration = ClusterObject<
  models.V1MutatingWebhookConfiguration,
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration'
>
export const mutatingWebhookConfiguration = clusterType<MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
)

export type ValidatingWebhookConfiguration = ClusterObject<
  models.V1ValidatingWebhookConfiguration,
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration'
>
export const validatingWebhookConfiguration = clusterType<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
)

export type ValidatingAdmissionPolicy = ClusterObject<
  models.V1ValidatingAdmissionPolicy,
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy'
>
export const validatingAdmissionPolicy = clusterType<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
)

export type ValidatingAdmissionPolicyBinding = ClusterObject<
  models.V1ValidatingAdmissionPolicyBinding,
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding'
>
export const validatingAdmissionPolicyBinding = clusterType<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
)
