/**
 * The built-in kinds of the group `node.k8s.io`. Each kind has a `ResourceType`, such as `node.runtimeClass`, and a TypeScript type of its
 * objects, such as `node.RuntimeClass`.
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
