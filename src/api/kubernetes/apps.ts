/**
 * The built-in kinds of the group `apps`. Each kind has a `ResourceType`, such as `apps.deployment`, and a TypeScript type of its objects,
 * such as `apps.Deployment`.
 */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace apps {
  type Deployment = NamespacedObject<models.V1Deployment, 'apps/v1', 'Deployment'>
  type StatefulSet = NamespacedObject<models.V1StatefulSet, 'apps/v1', 'StatefulSet'>
  type DaemonSet = NamespacedObject<models.V1DaemonSet, 'apps/v1', 'DaemonSet'>
  type ReplicaSet = NamespacedObject<models.V1ReplicaSet, 'apps/v1', 'ReplicaSet'>
  type ControllerRevision = NamespacedObject<models.V1ControllerRevision, 'apps/v1', 'ControllerRevision'>
  type DeploymentSpec = models.V1DeploymentSpec
  type StatefulSetSpec = models.V1StatefulSetSpec
  type DaemonSetSpec = models.V1DaemonSetSpec
}

export const apps = {
  deployment: namespacedType<apps.Deployment>('apps', 'v1', 'Deployment', 'deployments'),
  statefulSet: namespacedType<apps.StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets'),
  daemonSet: namespacedType<apps.DaemonSet>('apps', 'v1', 'DaemonSet', 'daemonsets'),
  replicaSet: namespacedType<apps.ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets'),
  controllerRevision: namespacedType<apps.ControllerRevision>('apps', 'v1', 'ControllerRevision', 'controllerrevisions'),
} as const
