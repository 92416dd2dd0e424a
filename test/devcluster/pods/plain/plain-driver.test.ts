/** Tests of the driver `plain` with real processes, as the user who runs the tests and as a user without privileges. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createPlainDriver } from '../../../../src/devcluster/pods/plain/plain-driver.ts'
import { cases, runCase, skipReason } from '../../../support/pods/plain/cases.ts'
import { asOtherUser, otherUserProblem } from '../../../support/pods/plain/other-user.ts'
import { newStateFolder } from '../../../support/pods/plain/state-folder.ts'

t.jobs = 4

t.test('as the user who runs the tests', async (t) => {
  t.jobs = 4
  const driver = await createPlainDriver({ stateFolder: newStateFolder(t) })
  t.teardown(() => driver.close())
  t.equal(driver.mode, 'plain')
  for (const one of cases) t.test(one.name, { skip: await skipReason(one) }, () => runCase(one, driver))
})

t.test('as a user without privileges', { skip: otherUserProblem() }, async (t) => {
  const folder = newStateFolder(t)
  const program = join(import.meta.dirname, '../../../support/pods/plain/run-cases.ts')
  const [setpriv = '', ...args] = [...asOtherUser(folder), process.execPath, program, folder]
  const child = spawn(setpriv, args, {
    env: { ...process.env, NODE_OPTIONS: undefined },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const results = (await text(child.stdout)).trim().split('\n').map((line) => JSON.parse(line) as [string, string | null]) // prettier-ignore
  const skipped = (await Promise.all(cases.map(skipReason))).filter((reason) => reason !== false)
  t.equal(results.length, cases.length - skipped.length)
  for (const [name, failure] of results) t.equal(failure, null, name)
})
