/** The host name of a Pod (k8s.io/kubernetes/pkg/kubelet: GeneratePodHostNameAndDomain). */
import { quote } from '../../../api/field-error.ts'
import { dns1123Label, dns1123Subdomain } from '../../../api/name-syntax.ts'
import type { ReadonlyPod } from '../../controllers/api-types.ts'

export interface PodHostName {
  /** The name without a domain. */
  readonly hostname: string
  /** Empty for a Pod with a `hostnameOverride`, and for a Pod without a `subdomain`. */
  readonly domain: string
  /** The host name in the kernel. It includes the domain if the Pod sets `setHostnameAsFQDN`. */
  readonly nodename: string
}

/**
 * The maximum length of a name without a domain, and the maximum length of a name with a domain, in characters (kubelet_pods.go:
 * hostnameMaxLen; pkg/kubelet/util: fqdnMaxLen).
 */
const [maxHostname, maxNodename] = [63, 64]

/**
 * Returns the host names of a Pod that does not use the network of its node. The function does not read `hostNetwork`.
 *
 * @throws {Error} if a name is invalid, or if a fully qualified name is too long for the kernel. The message of the error is that of the
 *   kubelet.
 */
export function podHostName({ metadata, spec }: ReadonlyPod, clusterDomain: string): PodHostName {
  const { hostnameOverride, hostname = '', subdomain = '', setHostnameAsFQDN } = spec ?? {}
  if (hostnameOverride !== undefined) {
    check('HostnameOverride', hostnameOverride, 'DNS subdomain', dns1123Subdomain(hostnameOverride))
    const short = truncated(hostnameOverride, metadata.name)
    return { hostname: short, domain: '', nodename: short }
  }
  if (hostname !== '') check('Hostname', hostname, 'DNS label', dns1123Label(hostname))
  const short = truncated(hostname || metadata.name, metadata.name)
  if (subdomain === '') return { hostname: short, domain: '', nodename: short }
  check('Subdomain', subdomain, 'DNS label', dns1123Label(subdomain))
  const domain = `${subdomain}.${metadata.namespace}.svc.${clusterDomain}`
  return { hostname: short, domain, nodename: setHostnameAsFQDN === true ? fullName(`${short}.${domain}`) : short }
}

function check(field: string, value: string, format: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`pod ${field} ${quote(value)} is not a valid ${format}: ${problems.join(';')}`)
}

function truncated(name: string, podName: string): string {
  if (name.length <= maxHostname) return name
  const short = name.slice(0, maxHostname).replace(/[-.]+$/, '')
  if (short === '') throw new Error(`hostname for pod ${quote(podName)} was invalid: ${quote(name)}`)
  return short
}

/** Returns `name`. Throws when `name` is too long for the kernel (k8s.io/kubernetes/pkg/kubelet/util: GetNodenameForKernel). */
function fullName(name: string): string {
  if (name.length <= maxNodename) return name
  throw new Error(
    `failed to construct FQDN from pod hostname and cluster domain, FQDN ${name} is too long ` +
      `(${maxNodename} characters is the max, ${name.length} characters requested)`,
  )
}
