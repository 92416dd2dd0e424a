/**
 * The program that the drill `pods` and its tests run on a private machine (machine/private-machine.ts).
 *
 * Arguments: `kill FOLDER SEED ROUNDS` or `shop FOLDER SEED SECONDS`.
 *
 * Prints the result as a JSON object. If Pods cannot run in Linux namespaces, the object contains only the field `skipped` with the reason.
 */
import { killRounds } from './kill/kill-rounds.ts'
import { namespacesProblem } from './namespaces-problem.ts'
import { runShop } from './shop/shop.ts'

const [part = '', stateFolder = '', seed = '', amount = ''] = process.argv.slice(2)
const began = performance.now()
const options = { stateFolder, seed: Number(seed) }
const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1)

function run(): Promise<object> {
  const progress = (what: string) => (count: number) => process.stderr.write(`${what} ${count} after ${seconds()} s\n`)
  return part === 'shop'
    ? runShop({ ...options, seconds: Number(amount), onPeriod: progress('period') })
    : killRounds({ ...options, rounds: Number(amount), onRound: progress('round') })
}

const skipped = await namespacesProblem()
const result = skipped === false ? { ...(await run()), seconds: Number(seconds()) } : { skipped }
process.stdout.write(`${JSON.stringify(result)}\n`)
