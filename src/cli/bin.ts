#!/usr/bin/env node
/** The executable: checks the Node.js version, switches the compile cache on, and hands over. */
import * as nodeModule from 'node:module'

const oldest = [22, 19]
const running = process.versions.node.split('.').map(Number)
if (running[0]! < oldest[0]! || (running[0] === oldest[0] && running[1]! < oldest[1]!)) {
  process.stderr.write(`proreus needs Node.js ${oldest.join('.')} or later; this is ${process.versions.node}.\n`)
  process.exit(1)
}

nodeModule.enableCompileCache()
const { main } = await import('./main.ts')
const exitCode = await main(process.argv.slice(2))
process.exitCode ??= exitCode
// What an operator left behind, a timer or a socket, must not keep the process; what is still being written has this long.
setTimeout(() => process.exit(), 1000).unref()
