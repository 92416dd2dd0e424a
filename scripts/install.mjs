/**
 * Makes the working copy ready to run: installs dependencies when the lock file changed since the last install.
 * Plain JavaScript for the machine's own Node.js (20 or later), because nothing is installed yet.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const stamp = join(root, 'node_modules', '.proreus-install')
const digest = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')

function installed() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && existsSync(nodeBinary())
}

/** The Node.js that everything runs with: the devDependency `node`. */
function nodeBinary() {
  return join(root, 'node_modules', 'node', 'bin', 'node')
}

if (!installed()) {
  process.stderr.write('Installing dependencies (once; again only when package-lock.json changes) …\n')
  const npm = process.env.npm_execpath === undefined ? ['npm'] : [process.execPath, process.env.npm_execpath]
  const args = [...npm.slice(1), 'ci', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, error } = spawnSync(npm[0], args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) {
    process.stderr.write(`The installation failed${error ? ` (${error.message})` : ''}. Run "npm ci" to see why.\n`)
    process.exit(1)
  }
  if (!existsSync(nodeBinary())) {
    process.stderr.write(
      'The package "node" placed no Node.js binary, because its install script did not run: allow it with "npm install --foreground-scripts --ignore-scripts=false" and try again.\n',
    )
    process.exit(1)
  }
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(stamp, digest)
}
