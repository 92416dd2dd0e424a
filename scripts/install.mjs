/**
 * Installs the dependencies if they are not installed yet, or if the lock file has changed since the last installation. One of the
 * dependencies is the Node.js binary that runs all other scripts. The install scripts of packages are not run.
 *
 * This file is plain JavaScript for the machine's Node.js (20.11 or later), because no dependency is installed yet.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const stamp = join(root, 'node_modules', '.proreus-install')
const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
const digest = createHash('sha256').update(lock).digest('hex')
const binary = lockedBinary()

/**
 * Returns the path of the Node.js binary that the lock file pins for this machine's platform (see tools/node/package.json). Returns
 * undefined when the lock file pins no binary for this platform.
 */
function lockedBinary() {
  for (const [path, { bin, os, cpu }] of Object.entries(JSON.parse(lock).packages ?? {})) {
    if (bin?.node && [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch)) return join(path, bin.node)
  }
  return undefined
}

function installed() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && hasBinary()
}

function hasBinary() {
  return binary === undefined || existsSync(join(root, binary))
}

function fail(reason) {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

if (binary === undefined && Number(process.versions.node.split('.')[0]) < 24) {
  fail(
    `The lock file has no Node.js for ${process.platform}-${process.arch}, and this one is ${process.version}: install Node.js 24 or later and try again.`,
  )
}
if (!installed()) {
  process.stderr.write('Installing dependencies (once; again only when package-lock.json changes) …\n')
  const npm = process.env.npm_execpath === undefined ? ['npm'] : [process.execPath, process.env.npm_execpath]
  const args = [...npm.slice(1), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, error } = spawnSync(npm[0], args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) fail(`The installation failed${error ? ` (${error.message})` : ''}. Run "npm ci --ignore-scripts" to see why.`)
  // If the download of an optional package fails, npm reports no error. The package of the Node.js binary is optional, so the script checks
  // whether the binary exists.
  if (!hasBinary())
    fail(`npm did not install ${binary}, which is optional for it: its download failed, or "omit" has "optional". Try again.`)
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(stamp, digest)
}
