/** The subresources of Pods that discovery lists when containers can be reached (k8s.io/kubernetes/pkg/registry/core/rest). */
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { SubresourceInfo } from '../../rest/subresource.ts'

const subresources: Readonly<Record<string, SubresourceInfo>> = {
  attach: { kind: 'PodAttachOptions', verbs: ['create', 'get'] },
  exec: { kind: 'PodExecOptions', verbs: ['create', 'get'] },
  log: { kind: 'Pod', verbs: ['get'] },
  portforward: { kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
}

export function withContainerSubresources(info: ResourceInfo): ResourceInfo {
  return info.storageKey === '/pods' ? { ...info, subresources: { ...info.subresources, ...subresources } } : info
}
