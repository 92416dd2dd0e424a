/** Tests that the tests of example operators pass on a real control plane, too. `npm run test:real` sets `PROREUS_BACKEND`. */
import { join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

// These tests are slow, because each test starts a control plane in a child process.
t.setTimeout(120_000)

for (const path of ['databases/database.test.ts', 'controllers/census.test.ts']) {
  t.test(`docs/examples/${path} passes`, async (t) => {
    // With these variables, the test runner in the child process would report to the runner of this process.
    const { NODE_TEST_CONTEXT: _, TAP: _tap, ...env } = process.env
    const test = join(repository, 'docs/examples', path)
    const run = await finished(process.execPath, ['--conditions=proreus-source', test], { cwd: repository, env })
    t.equal(run.code, 0, run.stdout + run.stderr)
  })
}
