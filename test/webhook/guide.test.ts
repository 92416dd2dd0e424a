/** Tests that the examples in the admission guide match the files in docs/examples, and that the test in the guide passes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/admission.md'), 'utf8')
const blocks = [...guide.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)].map(([, name, source]) => ({ name: name!, source: source! }))

// The guide's test starts a control plane in a child process.
t.setTimeout(120_000)

t.test('the examples of the admission guide match their files', async (t) => {
  t.strictSame(
    blocks.map(({ name }) => name),
    ['site.ts', 'policies.ts', 'policies.test.ts'].map((name) => `docs/examples/admission/${name}`),
  )
  for (const { name, source } of blocks) t.equal(source, readFileSync(join(repository, name), 'utf8'), name)
})

t.test('the test of the admission guide passes', async (t) => {
  // With these variables, the test runner in the child process would report to the runner of this process.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const run = await finished(process.execPath, ['--conditions=proreus-source', blocks.at(-1)!.name], { cwd: repository, env })
  t.equal(run.code, 0, run.stdout + run.stderr)
})
