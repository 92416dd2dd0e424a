/** Makes servers listen on an address, and reports errors such as an address that is in use. */
import type { AddressInfo, Server } from 'node:net'
import { ProreusError, messageOf } from '../api/errors.ts'

/** The address on which a server is to listen. */
export interface WantedAddress {
  /** The host name or address. When absent, the server listens on all addresses of the machine. */
  readonly host?: string | undefined
  readonly port: number
  /** The command-line flag that sets the address, for error messages; absent if no flag sets it. */
  readonly flag?: string
}

/**
 * Maximum number of connections that wait to be accepted. The kernel limits this number to `net.core.somaxconn`, which is also the limit in
 * Go's net package. The default of Node.js is 511. If many clients connect at the same time, a queue of 511 connections becomes full, and
 * each further client waits a second before the client retransmits its first packet.
 */
const backlog = 65_535

/**
 * Makes a server listen on an address, and returns the port. If the wanted port is 0, the operating system selects a free port.
 *
 * @throws {ProreusError} `PRO_PORT_IN_USE` if the address is in use.
 * @throws {ProreusError} `PRO_PERMISSION` if the user may not listen on the port.
 * @throws {ProreusError} `PRO_CONFIG_INVALID` if the server cannot listen for another reason.
 */
export async function listen(server: Server, wanted: WantedAddress): Promise<number> {
  const { host, port } = wanted
  try {
    if (host === undefined) await bindAll(server, port)
    else await bind(server, port, host)
  } catch (error) {
    throw listenError(error, wanted)
  }
  return (server.address() as AddressInfo).port
}

async function bindAll(server: Server, port: number): Promise<void> {
  try {
    await bind(server, port, '::')
  } catch (error) {
    if (!isWithoutIPv6(error)) throw error
    await bind(server, port, '0.0.0.0')
  }
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => {
      server.off('listening', onListening)
      reject(error)
    }
    const onListening = (): void => {
      server.off('error', onError)
      resolve()
    }
    server.once('error', onError)
    server.once('listening', onListening)
    server.listen({ port, host, backlog })
  })
}

function isWithoutIPv6(error: unknown): boolean {
  return codeOf(error) === 'EADDRNOTAVAIL' || codeOf(error) === 'EAFNOSUPPORT'
}

/** Returns the host in the form for a URL. An IPv6 address is enclosed in brackets. */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function listenError(cause: unknown, { host = '', port, flag }: WantedAddress): ProreusError {
  const address = `${urlHost(host)}:${port}`
  const how = flag === undefined ? '' : ` with ${flag}`
  switch (codeOf(cause)) {
    case 'EADDRINUSE':
      return new ProreusError(
        'PRO_PORT_IN_USE',
        `The address ${address} is in use by another process: stop that one, or choose another address${how}.`,
        { cause },
      )
    case 'EACCES':
      return new ProreusError('PRO_PERMISSION', `This user may not listen on ${address}: choose a port above 1023${how}.`, { cause })
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
      return new ProreusError(
        'PRO_CONFIG_INVALID',
        `This process cannot listen on ${address}, for this machine has no such address: choose another one${how}.`,
        { cause },
      )
    default:
      return new ProreusError('PRO_CONFIG_INVALID', `This process cannot listen on ${address}: ${messageOf(cause)}`, { cause })
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
