/**
 * The subresources of Pods that connect to containers, such as `exec`. Discovery lists them only when the embedded cluster runs the
 * containers of Pods (k8s.io/kubernetes/pkg/registry/core/rest).
 */
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
