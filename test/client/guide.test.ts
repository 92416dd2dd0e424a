/**
 * Tests of the client guide. The examples in the guide must be equal to the example files, the test of the example files must pass, and the
 * guide must mention every verb of the client and every predicate for errors.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import * as api from '../../src/index.ts'
import { clientOver } from '../../src/client/client.ts'
import type { Transport } from '../../src/client/transport.ts'
import { finished, repository } from '../support/process/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/client.md'), 'utf8')

// The guide's test starts a control plane in a child process.
t.setTimeout(120_000)

t.test('the examples of the client guide match their files', async (t) => {
  const examples = [...guide.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)]
  t.strictSame(
    examples.map(([, name]) => name),
    ['docs/examples/client/connect.ts', 'docs/examples/client/verbs.ts'],
  )
  for (const [, name, source] of examples) t.equal(source, readFileSync(join(repository, name!), 'utf8'), name!)
})

t.test('the test of the client guide passes', async (t) => {
  // With these variables, the test runner in the child process would report to the runner of this process.
  const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
  const run = await finished(process.execPath, ['--conditions=proreus-source', 'docs/examples/client/verbs.test.ts'], {
    cwd: repository,
    env,
  })
  t.equal(run.code, 0, run.stdout + run.stderr)
})

t.test('the guide has every verb and every predicate of errors', async (t) => {
  const verbs = Object.keys(clientOver({} as Transport)).filter((name) => name !== 'close')
  const others = ['isApiError', 'isControlledBy', 'isAllowed']
  const predicates = Object.keys(api).filter((name) => /^is[A-Z]\w+$/.test(name) && !others.includes(name))
  t.ok(verbs.length >= 13 && predicates.length >= 9)
  for (const name of [...verbs, ...predicates]) t.match(guide, new RegExp(`\\b${name}\\b`), name)
})
