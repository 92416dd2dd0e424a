/** `scripts/install.mjs`: dependencies are installed when the lock file changed, and a failure is one sentence. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { finished, repository, type Finished } from '../support/process.ts'

/** An npm that notes its calls; `places` is whether the package `node` brings its binary. */
const npm = (places: boolean, code = 0): string => `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs')
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n')
if (${places}) { mkdirSync('node_modules/node/bin', { recursive: true }); writeFileSync('node_modules/node/bin/node', '') }
process.exit(${code})`

function checkout(t: Test, script: string): { install: () => Promise<Finished>; calls: () => number; lock: (text: string) => void } {
  const directory = t.testdir({ scripts: {}, 'package-lock.json': '{}', 'npm.cjs': script })
  copyFileSync(join(repository, 'scripts/install.mjs'), join(directory, 'scripts/install.mjs'))
  const env = { ...process.env, npm_execpath: join(directory, 'npm.cjs') }
  return {
    install: () => finished(process.execPath, ['scripts/install.mjs'], { cwd: directory, env }),
    calls: () => readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n').length,
    lock: (text) => writeFileSync(join(directory, 'package-lock.json'), text),
  }
}

t.test('installs once, and again when the lock file changed', async (t) => {
  const { install, calls, lock } = checkout(t, npm(true))
  t.match(await install(), { code: 0, stdout: '', stderr: /^Installing dependencies/ })
  t.strictSame(await install(), { code: 0, stdout: '', stderr: '' })
  t.equal(calls(), 1)
  lock('{"changed":true}')
  t.equal((await install()).code, 0)
  t.equal(calls(), 2)
})

t.test('a failed installation says how to see why, and is tried again', async (t) => {
  const { install, calls } = checkout(t, npm(true, 1))
  t.match(await install(), { code: 1, stderr: /The installation failed\. Run "npm ci" to see why\.\n$/ })
  await install()
  t.equal(calls(), 2)
})

t.test('a package "node" without its binary is one sentence', async (t) => {
  const { install } = checkout(t, npm(false))
  mkdirSync(join(t.testdirName, 'node_modules'), { recursive: true })
  t.match(await install(), {
    code: 1,
    stderr: /The package "node" placed no Node\.js binary, because its install script did not run: allow it with/,
  })
})
