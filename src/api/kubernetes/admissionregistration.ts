/**
 * The built-in kinds of the group `admissionregistration.k8s.io`. Each kind has a `ResourceType`, such as
 * `admissionregistration.validatingWebhookConfiguration`, and a TypeScript type of its objects, such as
 * `admissionregistration.ValidatingWebhookConfiguration`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace admissionregistration {
  type MutatingWebhookConfiguration = ClusterObject<
    models.V1MutatingWebhookConfiguration,
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration'
  >
  type ValidatingWebhookConfiguration = ClusterObject<
    models.V1ValidatingWebhookConfiguration,
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration'
  >
  type MutatingAdmissionPolicy = ClusterObject<
    models.V1MutatingAdmissionPolicy,
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicy'
  >
  type MutatingAdmissionPolicyBinding = ClusterObject<
    models.V1MutatingAdmissionPolicyBinding,
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicyBinding'
  >
  type ValidatingAdmissionPolicy = ClusterObject<
    models.V1ValidatingAdmissionPolicy,
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy'
  >
  type ValidatingAdmissionPolicyBinding = ClusterObject<
    models.V1ValidatingAdmissionPolicyBinding,
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding'
  >
}

export const admissionregistration = {
  mutatingWebhookConfiguration: clusterType<admissionregistration.MutatingWebhookConfiguration>(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
  ),
  validatingWebhookConfiguration: clusterType<admissionregistration.ValidatingWebhookConfiguration>(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
  ),
  mutatingAdmissionPolicy: clusterType<admissionregistration.MutatingAdmissionPolicy>(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingAdmissionPolicy',
    'mutatingadmissionpolicies',
  ),
  mutatingAdmissionPolicyBinding: clusterType<admissionregistration.MutatingAdmissionPolicyBinding>(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingAdmissionPolicyBinding',
    'mutatingadmissionpolicybindings',
  ),
  validatingAdmissionPolicy: clusterType<admissionregistration.ValidatingAdmissionPolicy>(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
  ),
  validatingAdmissionPolicyBinding: clusterType<admissionregistration.ValidatingAdmissionPolicyBinding>(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
  ),
} as const
