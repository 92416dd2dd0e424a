/** Kubernetes' own types of `apps`: `apps.deployment`, `apps.Deployment`. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export type Deployment = NamespacedObject<models.V1Deployment, 'apps/v1', 'Deployment'>
export const deployment = namespacedType<Deployment>('apps', 'v1', 'Deployment', 'deployments')

export type StatefulSet = NamespacedObject<models.V1StatefulSet, 'apps/v1', 'StatefulSet'>
export const statefulSet = namespacedType<StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets')

export type DaemonSet = NamespacedObject<models.V1DaemonSet, 'apps/v1', 'DaemonSet'>
export const daemonSet = namespacedType<DaemonSet>('apps', 'v1', 'DaemonSet', 'daemonsets')

export type ReplicaSet = NamespacedObject<models.V1ReplicaSet, 'apps/v1', 'ReplicaSet'>
export const replicaSet = namespacedType<ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets')

export type ControllerRevision = NamespacedObject<models.V1ControllerRevision, 'apps/v1', 'ControllerRevision'>
export const controllerRevision = namespacedType<ControllerRevision>('apps', 'v1', 'ControllerRevision', 'controllerrevisions')

export type DeploymentSpec = models.V1DeploymentSpec
export type StatefulSetSpec = models.V1StatefulSetSpec
export type DaemonSetSpec = models.V1DaemonSetSpec
