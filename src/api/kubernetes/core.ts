/** Kubernetes' own types of the core group: `core.pod`, `core.Pod`. */
import type { models } from './models.ts'
import type { ClusterObject, NamespacedObject } from './resource.ts'
import { clusterType, namespacedType } from './resource.ts'

export type Pod = NamespacedObject<models.V1Pod, 'v1', 'Pod'>
export const pod = namespacedType<Pod>('', 'v1', 'Pod', 'pods')

export type Node = ClusterObject<models.V1Node, 'v1', 'Node'>
export const node = clusterType<Node>('', 'v1', 'Node', 'nodes')

export type Namespace = ClusterObject<models.V1Namespace, 'v1', 'Namespace'>
export const namespace = clusterType<Namespace>('', 'v1', 'Namespace', 'namespaces')

export type Secret = NamespacedObject<models.V1Secret, 'v1', 'Secret'>
export const secret = namespacedType<Secret>('', 'v1', 'Secret', 'secrets')

export type ConfigMap = NamespacedObject<models.V1ConfigMap, 'v1', 'ConfigMap'>
export const configMap = namespacedType<ConfigMap>('', 'v1', 'ConfigMap', 'configmaps')

export type Service = NamespacedObject<models.V1Service, 'v1', 'Service'>
export const service = namespacedType<Service>('', 'v1', 'Service', 'services')

export type ServiceAccount = NamespacedObject<models.V1ServiceAccount, 'v1', 'ServiceAccount'>
export const serviceAccount = namespacedType<ServiceAccount>('', 'v1', 'ServiceAccount', 'serviceaccounts')

export type Event = NamespacedObject<models.CoreV1Event, 'v1', 'Event'>
export const event = namespacedType<Event>('', 'v1', 'Event', 'events')

export type PersistentVolume = ClusterObject<models.V1PersistentVolume, 'v1', 'PersistentVolume'>
export const persistentVolume = clusterType<PersistentVolume>('', 'v1', 'PersistentVolume', 'persistentvolumes')

export type PersistentVolumeClaim = NamespacedObject<models.V1PersistentVolumeClaim, 'v1', 'PersistentVolumeClaim'>
export const persistentVolumeClaim = namespacedType<PersistentVolumeClaim>('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims')

export type ReplicationController = NamespacedObject<models.V1ReplicationController, 'v1', 'ReplicationController'>
export const replicationController = namespacedType<ReplicationController>('', 'v1', 'ReplicationController', 'replicationcontrollers')

export type Endpoints = NamespacedObject<models.V1Endpoints, 'v1', 'Endpoints'>
export const endpoints = namespacedType<Endpoints>('', 'v1', 'Endpoints', 'endpoints')

export type LimitRange = NamespacedObject<models.V1LimitRange, 'v1', 'LimitRange'>
export const limitRange = namespacedType<LimitRange>('', 'v1', 'LimitRange', 'limitranges')

export type ResourceQuota = NamespacedObject<models.V1ResourceQuota, 'v1', 'ResourceQuota'>
export const resourceQuota = namespacedType<ResourceQuota>('', 'v1', 'ResourceQuota', 'resourcequotas')

export type PodTemplate = NamespacedObject<models.V1PodTemplate, 'v1', 'PodTemplate'>
export const podTemplate = namespacedType<PodTemplate>('', 'v1', 'PodTemplate', 'podtemplates')

export type Affinity = models.V1Affinity
export type Container = models.V1Container
export type ContainerPort = models.V1ContainerPort
export type EnvFromSource = models.V1EnvFromSource
export type EnvVar = models.V1EnvVar
export type LocalObjectReference = models.V1LocalObjectReference
export type ObjectReference = models.V1ObjectReference
export type PersistentVolumeClaimSpec = models.V1PersistentVolumeClaimSpec
export type PodSpec = models.V1PodSpec
export type PodStatus = models.V1PodStatus
export type PodTemplateSpec = models.V1PodTemplateSpec
export type Probe = models.V1Probe
export type ResourceRequirements = models.V1ResourceRequirements
export type SecurityContext = models.V1SecurityContext
export type ServicePort = models.V1ServicePort
export type ServiceSpec = models.V1ServiceSpec
export type Toleration = models.V1Toleration
export type Volume = models.V1Volume
export type VolumeMount = models.V1VolumeMount
