/**
 * Tests of the guide about kinds. The example in the guide must be equal to the file in the repository, and the test of the example must
 * pass.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

const example = 'docs/examples/kinds/cache.ts'

// The guide's test starts a control plane in a child process.
t.setTimeout(120_000)

t.test('the example of the guide about kinds matches its file', async (t) => {
  const guide = readFileSync(join(repository, 'docs/guides/kinds.md'), 'utf8')
  const [, name, source] = /<!-- (\S+) -->\n```ts\n([\s\S]*?)```/.exec(guide)!
  t.equal(name, example)
  t.equal(source, readFileSync(join(repository, example), 'utf8'))
})

t.test('the test of the guide about kinds passes', async (t) => {
  // With these variables, the test runner in the child process would report to the runner of this process.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const test = example.replace('.ts', '.test.ts')
  const run = await finished(process.execPath, ['--conditions=proreus-source', test], { cwd: repository, env })
  t.equal(run.code, 0, run.stdout + run.stderr)
})
