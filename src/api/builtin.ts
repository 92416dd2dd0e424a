/** Exports the built-in types that Proreus itself uses, under names without their group (`pod` instead of `core.pod`). */
import { admissionregistration } from './kubernetes/admissionregistration.ts'
import { apiextensions } from './kubernetes/apiextensions.ts'
import { apps } from './kubernetes/apps.ts'
import { authorization } from './kubernetes/authorization.ts'
import { coordination } from './kubernetes/coordination.ts'
import { core } from './kubernetes/core.ts'

export const { configMap, event, namespace, node, pod, secret, service, serviceAccount } = core
export type ConfigMap = core.ConfigMap
export type Event = core.Event
export type Namespace = core.Namespace
export type Node = core.Node
export type Pod = core.Pod
export type PodSpec = core.PodSpec
export type Secret = core.Secret
export type Service = core.Service
export type ServiceAccount = core.ServiceAccount
export const { deployment } = apps
export type Deployment = apps.Deployment
export const { lease } = coordination
export type Lease = coordination.Lease
export const { customResourceDefinition } = apiextensions
export type CustomResourceDefinition = apiextensions.CustomResourceDefinition
export const { mutatingWebhookConfiguration, validatingWebhookConfiguration } = admissionregistration
export type MutatingWebhookConfiguration = admissionregistration.MutatingWebhookConfiguration
export type ValidatingWebhookConfiguration = admissionregistration.ValidatingWebhookConfiguration
export const { subjectAccessReview } = authorization
export type SubjectAccessReview = authorization.SubjectAccessReview
