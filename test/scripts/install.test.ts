/** Tests of `scripts/install.mjs`: it installs the dependencies when the lock file has changed, and reports a failure in one sentence. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { finished, repository, type Finished } from '../support/process/process.ts'

/**
 * Returns the code of a fake npm that records its calls and exits with `code`. If `places` is true, the fake npm installs a fake Node.js
 * binary.
 */
const npm = (places: boolean, code = 0): string => `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs')
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n')
if (${places}) { mkdirSync('node_modules/node-here/bin', { recursive: true }); writeFileSync('node_modules/node-here/bin/node', '') }
process.exit(${code})`

const here = { bin: { node: 'bin/node' }, os: process.platform, cpu: process.arch }
const elsewhere = { ...here, os: 'elsewhere' }

function checkout(t: Test, script: string, packages: object = { 'node_modules/node-else': elsewhere, 'node_modules/node-here': here }) {
  const lock = (more: object): string => JSON.stringify({ packages, ...more })
  const directory = t.testdir({ scripts: {}, 'package-lock.json': lock({}), 'npm.cjs': script })
  copyFileSync(join(repository, 'scripts/install.mjs'), join(directory, 'scripts/install.mjs'))
  const env = { ...process.env, npm_execpath: join(directory, 'npm.cjs') }
  return {
    install: (): Promise<Finished> => finished(process.execPath, ['scripts/install.mjs'], { cwd: directory, env }),
    calls: (): string[] => readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n'),
    change: (): void => writeFileSync(join(directory, 'package-lock.json'), lock({ changed: true })),
  }
}

t.test('dependencies are installed once, and again when the lock file changes, without install scripts', async (t) => {
  const { install, calls, change } = checkout(t, npm(true))
  t.match(await install(), { code: 0, stdout: '', stderr: /^Installing dependencies/ })
  t.strictSame(await install(), { code: 0, stdout: '', stderr: '' })
  t.equal(calls().length, 1)
  t.match(calls()[0], /^ci --ignore-scripts /)
  change()
  t.equal((await install()).code, 0)
  t.equal(calls().length, 2)
})

t.test('a failed installation has advice, and is retried', async (t) => {
  const { install, calls } = checkout(t, npm(true, 1))
  t.match(await install(), { code: 1, stderr: /The installation failed\. Run "npm ci --ignore-scripts" to see why\.\n$/ })
  await install()
  t.equal(calls().length, 2)
})

t.test('a Node.js that npm did not install is reported in one sentence', async (t) => {
  const { install } = checkout(t, npm(false))
  t.match(await install(), {
    code: 1,
    stderr: /npm did not install node_modules.node-here.bin.node, which is optional for it: .*Try again\.\n$/,
  })
})

t.test('without a Node.js in the lock file for the machine, its own is used', async (t) => {
  const { install, calls } = checkout(t, npm(false), { 'node_modules/node-else': elsewhere })
  t.equal((await install()).code, 0)
  t.strictSame(await install(), { code: 0, stdout: '', stderr: '' })
  t.equal(calls().length, 1)
})
