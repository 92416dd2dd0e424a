/** Binds the webhook server to its address. */
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { listenError } from '../api/listen-error.ts'

/**
 * Length of the queue of connections to accept. The kernel caps it at net.core.somaxconn, as in Go's net package. With Node's default of
 * 511, a flood of connections fills the queue, and other clients wait a second for the retransmission of their first packet.
 */
const backlog = 65_535

/**
 * Listens on `host`, or without one on all addresses, of IPv6 and IPv4 where the machine has both.
 *
 * @throws {ProreusError} `PRO_PORT_IN_USE`, `PRO_PERMISSION` or `PRO_CONFIG_INVALID`.
 */
export async function listen(server: Server, port: number, host: string | undefined): Promise<{ port: number; url: string }> {
  try {
    if (host === undefined) await bindAll(server, port)
    else await bind(server, port, host)
  } catch (error) {
    throw listenError(error, { host, port, flag: '--webhook-host and --webhook-port' })
  }
  const address = server.address() as AddressInfo
  return { port: address.port, url: `https://${urlHost(host)}:${address.port}` }
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
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'
}

function urlHost(host: string | undefined): string {
  if (host === undefined || host === '::' || host === '0.0.0.0') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
