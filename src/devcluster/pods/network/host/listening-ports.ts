/** `listeningPorts`: finds the TCP ports on which servers of this machine can be reached at 127.0.0.1 or ::1. */
import { readFile } from 'node:fs/promises'

/** The tables of IPv4 and IPv6 sockets in the network namespace of this process (proc(5)). */
const tables = ['/proc/net/tcp', '/proc/net/tcp6']
/** The state of a listening socket (Linux: TCP_LISTEN in include/net/tcp_states.h). */
const listening = '0A'

/**
 * The listening addresses at which a server receives connections to 127.0.0.1 or ::1. The addresses have the format of /proc/net/tcp and
 * /proc/net/tcp6: 32-bit words in hexadecimal digits, in the byte order of the machine. This list assumes a little-endian machine.
 */
const reachable = new Set([
  '00000000', // 0.0.0.0
  '0100007F', // 127.0.0.1
  '00000000000000000000000000000000', // ::
  '00000000000000000000000001000000', // ::1
  '0000000000000000FFFF000000000000', // ::ffff:0.0.0.0
  '0000000000000000FFFF00000100007F', // ::ffff:127.0.0.1
])

/**
 * Returns the TCP ports on which servers listen, in ascending order. If the files in `tables` do not exist, for example because the system
 * is not Linux, the list is empty.
 */
export async function listeningPorts(): Promise<readonly number[]> {
  const texts = await Promise.all(tables.map((path) => readFile(path, 'latin1').catch(() => '')))
  return parseListeningPorts(texts.join('\n'))
}

/**
 * Returns the TCP ports on which servers can be reached at 127.0.0.1 or ::1, in ascending order. `text` is the content of /proc/net/tcp, of
 * /proc/net/tcp6, or of both files.
 */
export function parseListeningPorts(text: string): readonly number[] {
  const ports = new Set<number>()
  for (const line of text.split('\n')) {
    const [, local = '', , state] = line.trim().split(/\s+/)
    const [address = '', port = ''] = local.split(':')
    if (state === listening && reachable.has(address)) ports.add(Number.parseInt(port, 16))
  }
  return [...ports].sort((a, b) => a - b)
}
