/** Parses addresses to listen on in the format of Kubernetes' flags: `:8081`, `127.0.0.1:8081`, `[::1]:0`. */
import { ProreusError } from '../api/errors.ts'

export interface ListenAddress {
  /** Absent: all addresses of the machine. */
  readonly host?: string
  /** 0: any free port. */
  readonly port: number
}

/**
 * Parses the value of a flag; undefined when it disables the server (`0` or empty).
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID`, naming `flag`.
 */
export function parseListenAddress(text: string, flag: string): ListenAddress | undefined {
  if (text === '' || text === '0') return undefined
  const match = /^(?:\[([0-9a-fA-F:.%\w]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) {
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      `${flag} is "${text}", which is no address: write it as :8081, 127.0.0.1:8081 or [::1]:8081, or 0 to switch it off.`,
    )
  }
  const host = match[1] ?? match[2] ?? ''
  return host === '' ? { port } : { host, port }
}

/** Formats an address, with the port that the system has chosen. */
export function formatListenAddress({ host = '', port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
