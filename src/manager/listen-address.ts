/** Parses addresses to listen on in the format of Kubernetes' flags: `:8081`, `127.0.0.1:8081`, `[::1]:0`. */
import { BlockList, isIPv6 } from 'node:net'
import { ProreusError } from '../api/errors.ts'

export interface ListenAddress {
  /** The host name or address. When absent, the server listens on all addresses of the machine. */
  readonly host?: string
  /** The port. If it is 0, the system chooses a free port. */
  readonly port: number
}

/**
 * Parses the value of a flag. Returns undefined when the value is `0` or empty. Such a value disables the server.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the value is malformed. The message contains `flag`.
 */
export function parseListenAddress(text: string, flag: string): ListenAddress | undefined {
  if (text === '' || text === '0') return undefined
  const match = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) {
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      `${flag} is "${text}", which is not an address: write it as :8081, 127.0.0.1:8081 or [::1]:8081, or 0 to switch it off.`,
    )
  }
  const host = match[1] ?? match[2] ?? ''
  return host === '' ? { port } : { host, port }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Returns true for a loopback address. Only processes on the same machine, or in the same Pod, can reach such an address. */
export function isLoopback({ host = '' }: ListenAddress): boolean {
  return host.toLowerCase() === 'localhost' || loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')
}
