/** A program that runs the cases in the state folder of its argument, and prints a line for each result: a JSON array of name and failure. */
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
