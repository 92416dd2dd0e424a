#!/usr/bin/env node
/** The executable: checks the Node.js version, switches the compile cache on, and hands over. */
import * as nodeModule from 'node:module'
import { nodeProblem } from '../api/supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}

nodeModule.enableCompileCache()
const { main } = await import('./main.ts')
const exitCode = await main(process.argv.slice(2))
process.exitCode ??= exitCode
// What an operator left behind, a timer or a socket, must not keep the process; what is still being written has this long.
setTimeout(() => process.exit(), 1000).unref()
