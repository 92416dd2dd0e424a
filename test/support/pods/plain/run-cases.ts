/**
 * A program that runs the cases (cases.ts). Its argument is the state folder. For each case that this machine can run, the program prints
 * one line: a JSON array with the name of the case, and the failure or null.
 */
import { createPlainDriver } from '../../../../src/devcluster/pods/plain/plain-driver.ts'
import { cases, runCase, skipReason } from './cases.ts'

const [stateFolder = ''] = process.argv.slice(2)
const driver = await createPlainDriver({ stateFolder })
for (const one of cases) {
  if ((await skipReason(one)) !== false) continue
  const failure = await runCase(one, driver).then(
    () => null,
    (error: unknown) => (error instanceof Error ? String(error.stack) : String(error)),
  )
  process.stdout.write(`${JSON.stringify([one.name, failure])}\n`)
}
await driver.close()
