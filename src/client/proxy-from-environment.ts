/** `proxyFromEnvironment`: the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY select for an API server. */
import { BlockList, isIP, isIPv4 } from 'node:net'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the URL of the proxy for requests to `server`; undefined when the requests need no proxy. The environment variables HTTPS_PROXY,
 * HTTP_PROXY and NO_PROXY have the same meaning as for kubectl (golang.org/x/net/http/httpproxy: Config.ProxyFunc). The name of a variable
 * may also be in lower case. HTTPS_PROXY applies to a server with TLS, and HTTP_PROXY to a server without TLS. Requests to `localhost` or
 * to a loopback address never use a proxy. NO_PROXY is a comma-separated list of the hosts that need no proxy. An entry is one of these:
 *
 * - a host, which stands for the host itself and all its subdomains
 * - `.domain` or `*.domain`, which stands for the subdomains, but not for the domain itself
 * - an IP address or a CIDR
 * - `*` for all hosts
 *
 * An entry other than a CIDR or `*` may have a port. An entry with a port applies only to servers with this port.
 */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  if (!URL.canParse(server)) return undefined
  const { protocol, hostname, port } = new URL(server)
  const secure = protocol === 'https:'
  const proxy = secure ? variable(env, 'HTTPS_PROXY') : variable(env, 'HTTP_PROXY')
  if (proxy === '') return undefined
  const host = { name: hostname.replace(/^\[|\]$/g, '').toLowerCase(), port: port === '' ? (secure ? '443' : '80') : port }
  if (isLoopback(host.name) || variable(env, 'NO_PROXY').split(',').some(excludes(host))) return undefined
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`
}

/**
 * Returns the value of the environment variable `name`. If this variable is unset or empty, returns the value of the variable with the
 * lower-case name. If both are unset or empty, returns an empty string.
 */
function variable(env: Environment, name: string): string {
  return (env[name] || env[name.toLowerCase()] || '').trim()
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, familyOf(host)))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6'
}

interface Host {
  readonly name: string
  readonly port: string
}

/** Returns a function that returns whether an entry of NO_PROXY matches `host`. */
function excludes(host: Host): (entry: string) => boolean {
  return (text) => {
    const entry = text.trim().toLowerCase()
    if (entry === '*') return true
    if (entry.includes('/')) return isInSubnet(host.name, entry)
    const { name, port } = split(entry)
    if (name === '' || (port !== '' && port !== host.port)) return false
    if (isIP(name) !== 0) return isInSubnet(host.name, `${name}/${isIPv4(name) ? 32 : 128}`)
    const domain = name.startsWith('*.') ? name.slice(1) : name
    return domain.startsWith('.') ? host.name.endsWith(domain) : host.name === domain || host.name.endsWith(`.${domain}`)
  }
}

/** Splits `host:port` or `[address]:port`. An IPv6 address without brackets has no port. */
function split(entry: string): Host {
  const match = /^(?:\[(?<address>[^\]]*)\]|(?<host>[^:]*))(?::(?<port>\d+))?$/.exec(entry)
  return match === null ? { name: entry, port: '' } : { name: match.groups!.address ?? match.groups!.host!, port: match.groups!.port ?? '' }
}

/** Returns whether `host` is an IP address in the CIDR `subnet`. An invalid CIDR contains no address. */
function isInSubnet(host: string, subnet: string): boolean {
  const [address = '', prefix = ''] = subnet.split('/')
  if (isIP(host) === 0 || isIP(address) === 0 || !/^\d{1,3}$/.test(prefix)) return false
  const family = familyOf(address)
  if (Number(prefix) > (family === 'ipv4' ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(address, Number(prefix), family)
  return list.check(host, familyOf(host))
}
