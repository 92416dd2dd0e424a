/**
 * The built-in kinds of the group `networking.k8s.io`. Each kind has a `ResourceType`, such as `networking.ingress`, and a TypeScript type
 * of its objects, such as `networking.Ingress`.
 */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export declare namespace networking {
  type Ingress = NamespacedObject<models.V1Ingress, 'networking.k8s.io/v1', 'Ingress'>
  type IngressClass = ClusterObject<models.V1IngressClass, 'networking.k8s.io/v1', 'IngressClass'>
  type NetworkPolicy = NamespacedObject<models.V1NetworkPolicy, 'networking.k8s.io/v1', 'NetworkPolicy'>
  type IPAddress = ClusterObject<models.V1IPAddress, 'networking.k8s.io/v1', 'IPAddress'>
  type ServiceCIDR = ClusterObject<models.V1ServiceCIDR, 'networking.k8s.io/v1', 'ServiceCIDR'>
  type IngressSpec = models.V1IngressSpec
  type NetworkPolicySpec = models.V1NetworkPolicySpec
}

export const networking = {
  ingress: namespacedType<networking.Ingress>('networking.k8s.io', 'v1', 'Ingress', 'ingresses'),
  ingressClass: clusterType<networking.IngressClass>('networking.k8s.io', 'v1', 'IngressClass', 'ingressclasses'),
  networkPolicy: namespacedType<networking.NetworkPolicy>('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
  ipAddress: clusterType<networking.IPAddress>('networking.k8s.io', 'v1', 'IPAddress', 'ipaddresses'),
  serviceCIDR: clusterType<networking.ServiceCIDR>('networking.k8s.io', 'v1', 'ServiceCIDR', 'servicecidrs'),
} as const
