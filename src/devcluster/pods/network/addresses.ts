/** The addresses of the network of the cluster. */
import { BlockList, isIPv4 } from 'node:net'
import { apiServerAddress, dnsAddress, hostAddress } from '../../resources/cluster-addresses.ts'

/** The address ranges of a cluster, and the fixed addresses of the API server, the DNS server and the developer's machine. */
export interface NetworkAddresses {
  /** The range of cluster IPs, as an IPv4 subnet. In the network namespace of the agent, all addresses of this range are local. */
  readonly services: Subnet
  /** The range of Pod IPs. */
  readonly pods: Subnet
  /** The cluster IP of the Service `kubernetes`. Connections to port 443 of this address lead to the API server. */
  readonly apiServer: string
  /** The address of the DNS server. */
  readonly dns: string
  /** The address at which Pods reach the developer's machine. Undefined when Pods must not reach the machine. */
  readonly host?: string | undefined
}

/** The two parts of an IPv4 subnet in CIDR notation: ADDRESS/PREFIX. */
export interface Subnet {
  readonly address: string
  readonly prefix: number
}

/**
 * The address ranges that the tool kind uses by default (sigs.k8s.io/kind/pkg/apis/config/v1alpha4: SetDefaultsCluster), and the addresses
 * of the API server, the DNS server and the developer's machine. The three addresses are in the range of cluster IPs.
 */
export const defaultAddresses = {
  services: { address: '10.96.0.0', prefix: 16 },
  pods: { address: '10.244.0.0', prefix: 16 },
  apiServer: apiServerAddress,
  dns: dnsAddress,
  host: hostAddress,
} as const satisfies NetworkAddresses

/** The port of the Service `kubernetes`. */
export const apiServerPort = 443
/** The port of the DNS server, for UDP and TCP. */
export const dnsPort = 53

/** Returns a function that returns true for the IPv4 addresses of a subnet, and false for any other text. */
export function memberOf({ address, prefix }: Subnet): (text: string) => boolean {
  const list = new BlockList()
  list.addSubnet(address, prefix)
  return (text) => isIPv4(text) && list.check(text)
}
