/**
 * The process that keeps the network namespace of a Pod alive, like the pause container. It prints the port at which it forwards
 * connections through a Unix socket to the API server, which is outside of the namespace. It exits, and removes the folder of the socket,
 * when its standard input is closed.
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
  // The operating system closes the pipe even if the process of the test is killed.
  rmSync(dirname(path!), { recursive: true, force: true })
  process.exit()
})
