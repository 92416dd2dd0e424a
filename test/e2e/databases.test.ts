/**
 * Tests of the example of a short operator. The operator must have at most 60 lines and no type casts, and the test of the example must
 * pass.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

// The example's test starts a control plane in a child process.
t.setTimeout(120_000)

const folder = join(repository, 'docs/examples/databases')

t.test('the databases example has at most 60 lines, and no type assertions', async (t) => {
  const source = readFileSync(join(folder, 'database.ts'), 'utf8')
  t.ok(source.trimEnd().split('\n').length <= 60, `${source.split('\n').length - 1} lines`)
  t.notMatch(source, / as (?!const\b)|[\w)]!\.|\bany\b/)
})

t.test('the finalizer guide shows the example', async (t) => {
  const guide = readFileSync(join(repository, 'docs/guides/finalizers.md'), 'utf8')
  const source = readFileSync(join(folder, 'database.ts'), 'utf8')
  const [, name, shown] = /<!-- (\S+) -->\n```ts\n([\s\S]*?)```/.exec(guide)!
  t.strictSame([name, shown], ['docs/examples/databases/database.ts', source])
})

t.test('the test of the databases example passes', async (t) => {
  // With these variables, the test runner in the child process would report to the runner of this process.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const run = await finished(process.execPath, ['--conditions=proreus-source', join(folder, 'database.test.ts')], { cwd: repository, env })
  t.equal(run.code, 0, run.stdout + run.stderr)
})
