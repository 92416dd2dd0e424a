/** Tests that the examples in the controller guide are copies of files of this repository, and that the tests of these files pass. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

const examples = ['docs/examples/controllers/page.ts', 'docs/examples/controllers/census.ts']

// The guide's test starts a control plane in a child process.
t.setTimeout(120_000)

t.test('the examples of the controller guide match their files', async (t) => {
  const guide = readFileSync(join(repository, 'docs/guides/controllers.md'), 'utf8')
  const blocks = [...guide.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)]
  t.strictSame(
    blocks.map(([, name]) => name),
    examples,
  )
  for (const [, name, source] of blocks) t.equal(source, readFileSync(join(repository, name!), 'utf8'))
})

for (const example of examples) {
  t.test(`the test of ${example} passes`, async (t) => {
    // With these variables, the test runner in the child process would report to the runner of this process.
    const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
    const test = example.replace('.ts', '.test.ts')
    const run = await finished(process.execPath, ['--conditions=proreus-source', test], { cwd: repository, env })
    t.equal(run.code, 0, run.stdout + run.stderr)
  })
}
