/** Kubernetes' own types of `scheduling.k8s.io`: `scheduling.priorityClass`, `scheduling.PriorityClass`. */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export type PriorityClass = ClusterObject<models.V1PriorityClass, 'scheduling.k8s.io/v1', 'PriorityClass'>
export const priorityClass = clusterType<PriorityClass>('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses')
