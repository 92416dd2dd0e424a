/**
 * The built-in types of the group `node.k8s.io`: resource types such as `node.runtimeClass`, and static types such as `node.RuntimeClass`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace node {
  type RuntimeClass = ClusterObject<models.V1RuntimeClass, 'node.k8s.io/v1', 'RuntimeClass'>
}

export const node = {
  runtimeClass: clusterType<node.RuntimeClass>('node.k8s.io', 'v1', 'RuntimeClass', 'runtimeclasses'),
} as const
