/** Tests that each example in the testing guide runs. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { finished, kubectlPath, needsKubectl, repository } from '../support/process/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/testing.md'), 'utf8')
const blocks = [...guide.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)].map(([, name, source]) => ({ name: name!, source: source! }))

/** A module with the functions of vitest that the guide uses. They are implemented with the test runner of Node.js. */
const vitest = `
import assert from 'node:assert/strict'
export { after as afterAll, test } from 'node:test'
import { before } from 'node:test'
export const beforeAll = (work, timeout) => before(work, { timeout })
export const expect = (actual) => ({ toEqual: (expected) => assert.deepEqual(actual, expected) })
`

async function run(file: string): Promise<{ code: number | null; output: string }> {
  const path = kubectlPath === undefined ? '' : `${dirname(kubectlPath)}:`
  // With these variables, the test runner in the child process would report to the runner of this process.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...rest } = process.env
  const env = { ...rest, PATH: `${path}${process.env.PATH}` }
  const { code, stdout, stderr } = await finished(process.execPath, ['--conditions=proreus-source', file], { cwd: repository, env })
  return { code, output: stdout + stderr }
}

// Each example starts a control plane in a child process.
t.setTimeout(120_000)

t.test('the guide has these examples', async (t) => {
  t.strictSame(
    blocks.map(({ name }) => name),
    ['hello', 'rights', 'snapshots', 'requests', 'faults', 'kubectl', 'vitest', 'time', 'reconcile'].map((name) =>
      name === 'vitest' ? name : `docs/examples/testing/${name}.test.ts`,
    ),
  )
})

for (const { name, source } of blocks) {
  const needs = name.includes('kubectl') ? needsKubectl : {}
  t.test(`${name} matches its file, and passes`, needs, async (t) => {
    let file = join(repository, name)
    if (name === 'vitest') {
      const folder = t.testdir({
        'example.test.ts': source,
        node_modules: { vitest: { 'index.js': vitest, 'package.json': '{"type":"module","exports":"./index.js"}' } },
      })
      file = join(folder, 'example.test.ts')
    } else {
      t.equal(source, readFileSync(file, 'utf8'))
    }
    const { code, output } = await run(file)
    t.equal(code, 0, output)
  })
}
