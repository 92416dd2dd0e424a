/** The rows of Kubernetes' own types, without CustomResourceDefinition and the access reviews, which need more than a table. */
import type { ResourceInfo } from '../resource-info.ts'
import { accessResources } from './access.ts'
import { batchResources } from './batch.ts'
import { clusterResources } from './cluster.ts'
import { configResources } from './config.ts'
import { namespaces } from './namespaces.ts'
import { otherResources } from './others.ts'
import { pods } from './pods.ts'
import { serviceResources } from './services.ts'
import { webhookConfigurations } from './webhook-configurations.ts'
import { workloadResources } from './workloads.ts'

export const builtinResources: readonly ResourceInfo[] = [
  namespaces,
  pods,
  ...configResources,
  ...serviceResources,
  ...clusterResources,
  ...workloadResources,
  ...batchResources,
  ...accessResources,
  ...webhookConfigurations,
  ...otherResources,
]
