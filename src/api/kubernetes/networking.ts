/** Kubernetes' own types of `networking.k8s.io`: `networking.ingress`, `networking.Ingress`. */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export type Ingress = NamespacedObject<models.V1Ingress, 'networking.k8s.io/v1', 'Ingress'>
export const ingress = namespacedType<Ingress>('networking.k8s.io', 'v1', 'Ingress', 'ingresses')

export type IngressClass = ClusterObject<models.V1IngressClass, 'networking.k8s.io/v1', 'IngressClass'>
export const ingressClass = clusterType<IngressClass>('networking.k8s.io', 'v1', 'IngressClass', 'ingressclasses')

export type NetworkPolicy = NamespacedObject<models.V1NetworkPolicy, 'networking.k8s.io/v1', 'NetworkPolicy'>
export const networkPolicy = namespacedType<NetworkPolicy>('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies')

export type IngressSpec = models.V1IngressSpec
export type NetworkPolicySpec = models.V1NetworkPolicySpec
