/** The Node.js program that containers of tests run. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Each container has a folder /tmp of its own. */
const hidden = '/tmp/'
const visible = '/var/tmp'

/** The Node.js that runs the tests; a copy of it if it is in a folder that containers do not see. */
export const nodeProgram = process.execPath.startsWith(hidden) ? visibleCopy() : process.execPath

/** Returns the path of the copy. Test files that run at the same time may make it at the same time. */
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
