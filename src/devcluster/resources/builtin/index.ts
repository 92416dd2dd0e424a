/**
 * The built-in types that the API server serves. Only CustomResourceDefinition and the review types, e.g. SubjectAccessReview, are defined
 * elsewhere, because they depend on other parts of the server.
 */
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { accessResources } from './access.ts'
import { apiServices } from './api-services.ts'
import { autoscalerResources } from './autoscalers.ts'
import { batchResources } from './batch.ts'
import { certificateSigningRequests } from './certificates.ts'
import { clusterResources } from './nodes-and-leases.ts'
import { componentStatuses } from './component-statuses.ts'
import { configResources } from './config-and-service-accounts.ts'
import { controllerRevisions } from './controller-revisions.ts'
import { endpointResources } from './endpoints.ts'
import { eventResources } from './events.ts'
import { limitResources } from './quotas-and-priorities.ts'
import { namespaces } from './namespaces.ts'
import { networkResources } from './networking.ts'
import { pods } from './pods.ts'
import { replicationResources } from './replication-controllers.ts'
import { services } from './services.ts'
import { statefulSets } from './stateful-sets.ts'
import { volumeResources } from './volumes.ts'
import { webhookConfigurations } from './webhook-configurations.ts'
import { workloadResources } from './workloads.ts'

export const builtinResources: readonly ResourceInfo[] = [
  namespaces,
  pods,
  ...configResources,
  services,
  ...endpointResources,
  ...clusterResources,
  ...eventResources,
  ...volumeResources,
  ...workloadResources,
  ...replicationResources,
  statefulSets,
  controllerRevisions,
  ...batchResources,
  ...accessResources,
  ...webhookConfigurations,
  certificateSigningRequests,
  apiServices,
  componentStatuses,
  ...networkResources,
  ...limitResources,
  ...autoscalerResources,
]
