/**
 * The built-in kinds of the group `scheduling.k8s.io`. Each kind has a `ResourceType`, such as `scheduling.priorityClass`, and a TypeScript
 * type of its objects, such as `scheduling.PriorityClass`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace scheduling {
  type PriorityClass = ClusterObject<models.V1PriorityClass, 'scheduling.k8s.io/v1', 'PriorityClass'>
}

export const scheduling = {
  priorityClass: clusterType<scheduling.PriorityClass>('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses'),
} as const
