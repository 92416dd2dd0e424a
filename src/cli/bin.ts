#!/usr/bin/env node
/** The executable `proreus`. It checks the Node.js version, enables the compile cache, and calls `main`. */
import * as nodeModule from 'node:module'
import { nodeProblem } from '../api/supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}

// The reader of the output may end first, e.g. `head`. A server goes on without it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

nodeModule.enableCompileCache()
const { main } = await import('./main.ts')
const exitCode = await main(process.argv.slice(2))
process.exitCode ??= exitCode
// An open timer or socket of an operator must not keep the process running. Pending output has one second before the process exits.
setTimeout(() => process.exit(), 1000).unref()
