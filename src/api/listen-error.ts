/** What to tell a person about a server that cannot listen. */
import { ProreusError, messageOf } from './errors.ts'

/** Where a server was to listen. */
export interface WantedAddress {
  /** Absent: all addresses of the machine. */
  readonly host?: string | undefined
  readonly port: number
  /** What sets the address, if it is a flag. */
  readonly flag?: string
}

/** One sentence for the error of `listen`: `PRO_PORT_IN_USE`, `PRO_PERMISSION`, or `PRO_CONFIG_INVALID` for whatever else it may be. */
export function listenError(cause: unknown, { host = '', port, flag }: WantedAddress): ProreusError {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
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
