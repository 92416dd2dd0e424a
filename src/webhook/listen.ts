/** Binding a server to its address, with one sentence for what goes wrong. */
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { ProreusError } from '../api/errors.ts'

/** Listens on `host`; without one on all addresses, of IPv6 and IPv4 where the machine has both. */
export async function listen(server: Server, port: number, host: string | undefined): Promise<{ port: number; url: string }> {
  if (host !== undefined) await bind(server, port, host)
  else {
    try {
      await bind(server, port, '::')
    } catch (error) {
      if (!isWithoutIPv6(error)) throw error
      await bind(server, port, '0.0.0.0')
    }
  }
  const address = server.address() as AddressInfo
  return { port: address.port, url: `https://${urlHost(host)}:${address.port}` }
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.off('listening', onListening)
      reject(explain(error, port, host))
    }
    const onListening = (): void => {
      server.off('error', onError)
      resolve()
    }
    server.once('error', onError)
    server.once('listening', onListening)
    server.listen({ port, host })
  })
}

function explain(error: NodeJS.ErrnoException, port: number, host: string): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new ProreusError(
        'PRO_PORT_IN_USE',
        `Port ${port} for the webhooks is in use by another process: stop that one, or choose another port.`,
        { cause: error },
      )
    case 'EACCES':
      return new ProreusError('PRO_PERMISSION', `This user may not listen on port ${port} for the webhooks: choose a port above 1023.`, {
        cause: error,
      })
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
      return new ProreusError('PRO_CONFIG_INVALID', `The webhooks cannot listen on ${host}: this machine has no such address.`, {
        cause: error,
      })
    default:
      return error
  }
}

function isWithoutIPv6(error: unknown): boolean {
  return error instanceof ProreusError && error.code === 'PRO_CONFIG_INVALID'
}

function urlHost(host: string | undefined): string {
  if (host === undefined || host === '::' || host === '0.0.0.0') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
