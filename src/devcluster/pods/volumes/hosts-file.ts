/** The content of /etc/hosts (k8s.io/kubernetes/pkg/kubelet: managedHostsFileContent, nodeHostsFileContent). */
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import type { PodHostName } from './host-name.ts'

type HostAliases = NonNullable<ReadonlyPod['spec']>['hostAliases']

const local = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
]

/** Returns the content of /etc/hosts for a Pod without `hostNetwork`. */
export function podHostsFile(
  podIPs: readonly string[],
  { hostname, domain }: Pick<PodHostName, 'hostname' | 'domain'>,
  hostAliases: HostAliases = [],
): string {
  const names = domain === '' ? hostname : `${hostname}.${domain}\t${hostname}`
  const own = podIPs.map((ip) => `${ip}\t${names}`)
  return `${['# Kubernetes-managed hosts file.', ...local, ...own].join('\n')}\n${aliasLines(hostAliases)}`
}

/** Returns the content for a Pod with `hostNetwork`: the hosts file of the node, followed by the `hostAliases` of the Pod. */
export function hostNetworkHostsFile(nodeFile: string, hostAliases: HostAliases = []): string {
  return `# Kubernetes-managed hosts file (host network).\n${nodeFile}${aliasLines(hostAliases)}`
}

function aliasLines(hostAliases: NonNullable<HostAliases>): string {
  if (hostAliases.length === 0) return ''
  const lines = hostAliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}`)
  return `\n# Entries added by HostAliases.\n${lines.join('\n')}\n`
}
