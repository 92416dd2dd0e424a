/**
 * The built-in kinds of the core group. Each kind has a `ResourceType`, such as `core.pod`, and a TypeScript type of its objects, such as
 * `core.Pod`.
 */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export declare namespace core {
  type Pod = NamespacedObject<models.V1Pod, 'v1', 'Pod'>
  type Node = ClusterObject<models.V1Node, 'v1', 'Node'>
  type Namespace = ClusterObject<models.V1Namespace, 'v1', 'Namespace'>
  type Secret = NamespacedObject<models.V1Secret, 'v1', 'Secret'>
  type ConfigMap = NamespacedObject<models.V1ConfigMap, 'v1', 'ConfigMap'>
  type Service = NamespacedObject<models.V1Service, 'v1', 'Service'>
  type ServiceAccount = NamespacedObject<models.V1ServiceAccount, 'v1', 'ServiceAccount'>
  type Event = NamespacedObject<models.CoreV1Event, 'v1', 'Event'>
  type PersistentVolume = ClusterObject<models.V1PersistentVolume, 'v1', 'PersistentVolume'>
  type PersistentVolumeClaim = NamespacedObject<models.V1PersistentVolumeClaim, 'v1', 'PersistentVolumeClaim'>
  type ReplicationController = NamespacedObject<models.V1ReplicationController, 'v1', 'ReplicationController'>
  type Endpoints = NamespacedObject<models.V1Endpoints, 'v1', 'Endpoints'>
  type LimitRange = NamespacedObject<models.V1LimitRange, 'v1', 'LimitRange'>
  type ResourceQuota = NamespacedObject<models.V1ResourceQuota, 'v1', 'ResourceQuota'>
  type PodTemplate = NamespacedObject<models.V1PodTemplate, 'v1', 'PodTemplate'>
  type Affinity = models.V1Affinity
  type Container = models.V1Container
  type ContainerPort = models.V1ContainerPort
  type EnvFromSource = models.V1EnvFromSource
  type EnvVar = models.V1EnvVar
  type LocalObjectReference = models.V1LocalObjectReference
  type ObjectReference = models.V1ObjectReference
  type PersistentVolumeClaimSpec = models.V1PersistentVolumeClaimSpec
  type PodSpec = models.V1PodSpec
  type PodStatus = models.V1PodStatus
  type PodTemplateSpec = models.V1PodTemplateSpec
  type Probe = models.V1Probe
  type ResourceRequirements = models.V1ResourceRequirements
  type SecurityContext = models.V1SecurityContext
  type ServicePort = models.V1ServicePort
  type ServiceSpec = models.V1ServiceSpec
  type Toleration = models.V1Toleration
  type Volume = models.V1Volume
  type VolumeMount = models.V1VolumeMount
}

export const core = {
  pod: namespacedType<core.Pod>('', 'v1', 'Pod', 'pods'),
  node: clusterType<core.Node>('', 'v1', 'Node', 'nodes'),
  namespace: clusterType<core.Namespace>('', 'v1', 'Namespace', 'namespaces'),
  secret: namespacedType<core.Secret>('', 'v1', 'Secret', 'secrets'),
  configMap: namespacedType<core.ConfigMap>('', 'v1', 'ConfigMap', 'configmaps'),
  service: namespacedType<core.Service>('', 'v1', 'Service', 'services'),
  serviceAccount: namespacedType<core.ServiceAccount>('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  event: namespacedType<core.Event>('', 'v1', 'Event', 'events'),
  persistentVolume: clusterType<core.PersistentVolume>('', 'v1', 'PersistentVolume', 'persistentvolumes'),
  persistentVolumeClaim: namespacedType<core.PersistentVolumeClaim>('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  replicationController: namespacedType<core.ReplicationController>('', 'v1', 'ReplicationController', 'replicationcontrollers'),
  endpoints: namespacedType<core.Endpoints>('', 'v1', 'Endpoints', 'endpoints'),
  limitRange: namespacedType<core.LimitRange>('', 'v1', 'LimitRange', 'limitranges'),
  resourceQuota: namespacedType<core.ResourceQuota>('', 'v1', 'ResourceQuota', 'resourcequotas'),
  podTemplate: namespacedType<core.PodTemplate>('', 'v1', 'PodTemplate', 'podtemplates'),
} as const
