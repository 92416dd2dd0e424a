/** The Node.js program that containers of tests run. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Containers cannot see files in this folder of the machine, because each container has its own /tmp. */
const hidden = '/tmp/'
const visible = '/var/tmp'

/**
 * The path of a Node.js program that containers can see. If containers can see the Node.js program that runs the tests, this is the path of
 * that program. Otherwise, this is the path of a copy of that program.
 */
export const nodeProgram = process.execPath.startsWith(hidden) ? visibleCopy() : process.execPath

/**
 * Returns the path of a copy of the Node.js program in a folder that containers can see. If there is no copy, the function creates the
 * copy. Several test files may call this function at the same time.
 */
function visibleCopy(): string {
  const { size, mtimeMs } = statSync(process.execPath)
  const folder = join(visible, `proreus-test-node-${process.version}-${size}-${Math.floor(mtimeMs)}`)
  const program = join(folder, 'node')
  if (existsSync(program)) return program
  const fresh = mkdtempSync(join(visible, 'proreus-test-node-'))
  copyFileSync(process.execPath, join(fresh, 'node'))
  chmodSync(join(fresh, 'node'), 0o755)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  renameSync(join(fresh, 'node'), program)
  rmSync(fresh, { recursive: true, force: true })
  return program
}
