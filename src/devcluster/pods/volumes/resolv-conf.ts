/**
 * `podDns` returns the DNS settings of a Pod, and `resolvConf` returns the /etc/resolv.conf with these settings
 * (k8s.io/kubernetes/pkg/kubelet/network/dns: Configurer).
 */
import type { ReadonlyPod } from '../../controllers/api-types.ts'

export interface NodeDns {
  /** The addresses of the DNS servers of the cluster. Empty when the cluster has no DNS server. */
  readonly clusterDns: readonly string[]
  /** The DNS domain of the cluster, for example `cluster.local`. */
  readonly clusterDomain: string
  /** The content of /etc/resolv.conf of this machine. */
  readonly resolvConf: string
}

export interface DnsSettings {
  readonly servers: readonly string[]
  readonly searches: readonly string[]
  readonly options: readonly string[]
}

export interface PodDns extends DnsSettings {
  /** The reasons and messages of Events of the type Warning. */
  readonly warnings: readonly { readonly reason: 'DNSConfigForming' | 'MissingClusterDNS'; readonly message: string }[]
}

/**
 * The limits of the DNS settings, in this order (k8s.io/kubernetes/pkg/apis/core/validation: MaxDNSNameservers, MaxDNSSearchPaths,
 * MaxDNSSearchListChars; dns.go: formDNSSearchFitsLimits):
 *
 * - The maximum number of DNS servers.
 * - The maximum number of search domains.
 * - The maximum length in characters of all search domains together, including the spaces between them.
 * - The maximum length in characters of one search domain.
 */
const [maxServers, maxSearches, maxSearchLength, maxNameLength] = [3, 32, 2048, 253]
/** The default DNS options of a Pod that uses the DNS servers of the cluster (dns.go: defaultDNSOptions). */
const clusterOptions = ['ndots:5']

/** Returns the DNS settings of a Pod from its `dnsPolicy` and `dnsConfig` (dns.go: GetPodDNS). */
export function podDns(pod: ReadonlyPod, node: NodeDns): PodDns {
  const warnings: PodDns['warnings'][number][] = []
  const form = (text: string): void => void warnings.push({ reason: 'DNSConfigForming', message: text })
  const { settings, isFallback } = baseSettings(pod, node)
  if (isFallback) {
    const { name, namespace, uid } = pod.metadata
    const message = `pod: "${name}_${namespace}(${uid})". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`
    warnings.push({ reason: 'MissingClusterDNS', message })
  }
  const merged = withConfig(settings, pod)
  const servers = merged.servers.slice(0, maxServers)
  if (servers.length < merged.servers.length) {
    form(`Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${servers.join(' ')}`)
  }
  const searches = fittingSearches(merged.searches)
  if (searches.length < merged.searches.length) {
    form(`Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(' ')}`)
  }
  return { servers, searches, options: merged.options, warnings }
}

/** Returns the content of /etc/resolv.conf (github.com/containerd/containerd, internal/cri/server: parseDNSOptions). */
export function resolvConf({ servers, searches, options }: DnsSettings): string {
  const lines = [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/**
 * Returns the DNS settings of a Pod without the settings of `dnsConfig`. If `dnsPolicy` requires a DNS server of the cluster, but the
 * cluster has none, the function returns the settings of the node, and `isFallback` is true.
 */
function baseSettings({ metadata, spec }: ReadonlyPod, node: NodeDns): { readonly settings: DnsSettings; readonly isFallback: boolean } {
  const { dnsPolicy = 'ClusterFirst', hostNetwork } = spec ?? {}
  const ofNode = parseResolvConf(node.resolvConf)
  if (dnsPolicy === 'None') return { settings: { servers: [], searches: [], options: [] }, isFallback: false }
  if (dnsPolicy === 'Default' || (dnsPolicy === 'ClusterFirst' && hostNetwork === true)) return { settings: ofNode, isFallback: false }
  const { clusterDns, clusterDomain } = node
  if (clusterDns.length === 0) return { settings: ofNode, isFallback: true }
  const domains = clusterDomain === '' ? [] : [`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain]
  const searches = [...new Set([...domains, ...ofNode.searches])]
  return { settings: { servers: clusterDns, searches, options: clusterOptions }, isFallback: false }
}

/** Adds the settings of `dnsConfig` (dns.go: appendDNSConfig). */
function withConfig({ servers, searches, options }: DnsSettings, { spec }: ReadonlyPod): DnsSettings {
  const { dnsConfig } = spec ?? {}
  if (dnsConfig === undefined) return { servers, searches, options }
  const values = new Map(options.map(splitOption))
  for (const { name = '', value = '' } of dnsConfig.options ?? []) values.set(name, value)
  return {
    servers: [...new Set([...servers, ...(dnsConfig.nameservers ?? [])])],
    searches: [...new Set([...searches, ...(dnsConfig.searches ?? [])])],
    options: [...values].map(([name, value]) => (value === '' ? name : `${name}:${value}`)),
  }
}

function splitOption(option: string): [name: string, value: string] {
  const colon = option.indexOf(':')
  return colon === -1 ? [option, ''] : [option.slice(0, colon), option.slice(colon + 1)]
}

/** Removes the search domains that exceed a limit (dns.go: formDNSSearchFitsLimits). */
function fittingSearches(searches: readonly string[]): readonly string[] {
  const fitting = searches.slice(0, maxSearches).filter((name) => name.length <= maxNameLength)
  while (fitting.join(' ').length > maxSearchLength) fitting.pop()
  return fitting
}

/** Parses /etc/resolv.conf (dns.go: parseResolvConf). Only the last `search` line and the last value of each option are used. */
function parseResolvConf(text: string): DnsSettings {
  const servers: string[] = []
  let searches: readonly string[] = []
  const options = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [keyword, ...fields] = line.trim().split(/\s+/)
    if (keyword === 'nameserver' && fields[0] !== undefined) servers.push(fields[0])
    if (keyword === 'search') searches = fields.filter((name) => name !== '.').map((name) => name.replace(/\.$/, ''))
    if (keyword === 'options') for (const option of fields) options.set(splitOption(option)[0], option)
  }
  return { servers, searches, options: [...options.values()] }
}
