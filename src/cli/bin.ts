#!/usr/bin/env node
/** The executable `proreus`. It checks the Node.js version, enables the compile cache, and calls `main`. */
import * as nodeModule from 'node:module'
import { nodeProblem } from '../api/supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}

// The process that reads the output may end before this process, e.g. `head` in a pipe. Writing then fails with EPIPE. This error is
// ignored, because a server must continue to run.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

nodeModule.enableCompileCache()
const { main } = await import('./main.ts')
const exitCode = await main(process.argv.slice(2))
process.exitCode ??= exitCode
// The process exits at the latest one second after the command ends, even if an operator has an open timer or socket. Pending output is
// written during this second.
setTimeout(() => process.exit(), 1000).unref()
