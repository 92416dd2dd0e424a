/** The error for a server that cannot listen. */
import { ProreusError, messageOf } from './errors.ts'

/** The address on which a server was to listen. */
export interface WantedAddress {
  /** Absent: all addresses of the machine. */
  readonly host?: string | undefined
  readonly port: number
  /** The flag that sets the address, if there is one. */
  readonly flag?: string
}

/** Returns the error for an error of `listen`: `PRO_PORT_IN_USE`, `PRO_PERMISSION`, or otherwise `PRO_CONFIG_INVALID`. */
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
