/**
 * The built-in kinds of the group `flowcontrol.apiserver.k8s.io`. Each kind has a `ResourceType`, such as `flowcontrol.flowSchema`, and a
 * TypeScript type of its objects, such as `flowcontrol.FlowSchema`.
 */
import type { models } from './models.ts'
import type { ClusterObject } from './resource.ts'
import { clusterType } from './resource.ts'

export declare namespace flowcontrol {
  type FlowSchema = ClusterObject<models.V1FlowSchema, 'flowcontrol.apiserver.k8s.io/v1', 'FlowSchema'>
  type PriorityLevelConfiguration = ClusterObject<
    models.V1PriorityLevelConfiguration,
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration'
  >
}

export const flowcontrol = {
  flowSchema: clusterType<flowcontrol.FlowSchema>('flowcontrol.apiserver.k8s.io', 'v1', 'FlowSchema', 'flowschemas'),
  priorityLevelConfiguration: clusterType<flowcontrol.PriorityLevelConfiguration>(
    'flowcontrol.apiserver.k8s.io',
    'v1',
    'PriorityLevelConfiguration',
    'prioritylevelconfigurations',
  ),
} as const
