/**
 * The process that keeps the network namespace of a Pod alive, like the pause container:
 *
 * - The process listens on a port, and prints the port.
 * - The process forwards each connection to the API server, which is outside of the namespace, through a Unix socket.
 * - When its standard input is closed, the process removes the folder of the socket and exits.
 */
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'

const [path] = process.argv.slice(2)

const server = createServer({ allowHalfOpen: true }, (inside) => {
  const outside = connect({ path: path!, allowHalfOpen: true })
  inside.pipe(outside).pipe(inside)
  for (const [one, other] of [
    [inside, outside],
    [outside, inside],
  ] as const)
    one.on('error', () => undefined).on('close', () => other.destroy())
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))

process.stdin.resume().on('end', () => {
  // If the process of the test is killed, the operating system closes the pipe. This handler then runs too.
  rmSync(dirname(path!), { recursive: true, force: true })
  process.exit()
})
