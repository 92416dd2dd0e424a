#!/usr/bin/env node
/** The executable `proreus`. It checks the Node.js version, enables the compile cache, and calls `main`. */
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
// The process exits after a second even if an operator has left a timer or socket open. Pending output is written within this second.
setTimeout(() => process.exit(), 1000).unref()
