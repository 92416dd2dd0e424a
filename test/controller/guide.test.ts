/** The guide about controllers: its example is an operator, and works. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process.ts'

const example = 'docs/examples/controllers/page.ts'

// It starts a control plane, in a process of its own.
t.setTimeout(120_000)

t.test('it shows the example as it is', async (t) => {
  const guide = readFileSync(join(repository, 'docs/guides/controllers.md'), 'utf8')
  const [, name, source] = /<!-- (\S+) -->\n```ts\n([\s\S]*?)```/.exec(guide)!
  t.equal(name, example)
  t.equal(source, readFileSync(join(repository, example), 'utf8'))
})

t.test('it works', async (t) => {
  // A test runner in a test runner would speak to that one.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const test = example.replace('.ts', '.test.ts')
  const run = await finished(process.execPath, ['--conditions=proreus-source', test], { cwd: repository, env })
  t.equal(run.code, 0, run.stdout + run.stderr)
})
