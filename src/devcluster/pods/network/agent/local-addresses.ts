/** `makeLocal`: makes the cluster IPs local addresses of the network namespace. */
import { spawn } from 'node:child_process'
import type { Subnet } from '../addresses.ts'

/**
 * Makes all addresses of a range local, so that a socket can be bound to each address. One route covers the whole range, so a new Service
 * needs no further command. Connections to an address without a socket are refused.
 *
 * @throws {Error} when the program `ip` cannot be started.
 * @throws {Error} with the output of `ip` when `ip` fails.
 */
export function makeLocal({ address, prefix }: Subnet): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('ip', ['-batch', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
    child.on('error', (error) =>
      reject(new Error(`the program ip of the package iproute2 could not be started: ${error.message}`, { cause: error })),
    )
    // If the process could not be started because too many files are open, the child has no streams.
    if (child.pid === undefined) return
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    for (const stream of [child.stdin, child.stderr]) stream.on('error', () => undefined)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`ip could not make ${address}/${prefix} local: ${output.trim()}`))
    })
    child.stdin.end(`link set dev lo up\nroute replace local ${address}/${prefix} dev lo\n`)
  })
}
