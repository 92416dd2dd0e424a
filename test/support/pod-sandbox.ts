/**
 * The process that holds the network namespace of a Pod, as the pause container does: it leads local connections to the API server,
 * which is outside, through a socket file; says its port; and ends, together with the file's folder, with its standard input.
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
  // Also when the test was killed.
  rmSync(dirname(path!), { recursive: true, force: true })
  process.exit()
})
