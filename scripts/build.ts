/**
 * Builds `dist/`, which contains JavaScript files and type declarations. The npm package contains both, the container image only the
 * JavaScript files.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
rmSync(join(root, 'dist'), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status === 0) chmodSync(join(root, 'dist/cli/bin.js'), 0o755)
process.exitCode = status ?? 1
