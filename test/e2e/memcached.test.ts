/**
 * Tests of the memcached example in the documentation, which shows a complete operator. The source of the example must be short and contain
 * no type casts, and the example's own test must pass.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

// The example's test starts a control plane in a child process.
t.setTimeout(120_000)

const folder = join(repository, 'docs/examples/memcached')

t.test('the memcached example has at most 115 lines, and no type assertions', async (t) => {
  const source = ['kind.ts', 'controller.ts', 'operator.ts'].map((name) => readFileSync(join(folder, name), 'utf8')).join('')
  t.ok(source.trimEnd().split('\n').length <= 115, `${source.split('\n').length - 1} lines`)
  t.notMatch(source, / as (?!const\b)|[\w)]!\.|\bany\b/)
})

t.test('the test of the memcached example passes', async (t) => {
  // With these variables, the test runner in the child process would report to the runner of this process.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const run = await finished(process.execPath, ['--conditions=proreus-source', join(folder, 'memcached.test.ts')], { cwd: repository, env })
  t.equal(run.code, 0, run.stdout + run.stderr)
})
