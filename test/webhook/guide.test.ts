/** The admission guide: its examples are the files of docs/examples, and their test passes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/admission.md'), 'utf8')
const blocks = [...guide.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)].map(([, name, source]) => ({ name: name!, source: source! }))

// The test of the guide starts a control plane in a process of its own.
t.setTimeout(120_000)

t.test('the examples of the admission guide match their files', async (t) => {
  t.strictSame(
    blocks.map(({ name }) => name),
    ['site.ts', 'policies.ts', 'policies.test.ts'].map((name) => `docs/examples/admission/${name}`),
  )
  for (const { name, source } of blocks) t.equal(source, readFileSync(join(repository, name), 'utf8'), name)
})

t.test('the test of the admission guide passes', async (t) => {
  // A nested test runner would otherwise report to this one.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const run = await finished(process.execPath, ['--conditions=proreus-source', blocks.at(-1)!.name], { cwd: repository, env })
  t.equal(run.code, 0, run.stdout + run.stderr)
})
