/**
 * The process that holds the network namespace of a Pod, as the pause container does. It forwards local connections through a socket
 * file to the API server outside, prints its port, and, when its standard input is closed, removes the file's folder and exits.
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
  // Standard input is closed even when the test was killed.
  rmSync(dirname(path!), { recursive: true, force: true })
  process.exit()
})
