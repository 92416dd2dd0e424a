import { ESLint, Linter } from 'eslint'
import t from 'tap'
import { sources } from '../../../scripts/lint/sources.ts'

/** Returns the rules that refuse `code`. */
const refusals = (code: string): (string | null)[] => new Linter().verify(code, { rules: sources }).map(({ ruleId }) => ruleId)

t.test('sources of time, random numbers and turns of the event loop are refused', async (t) => {
  const refused = [
    'Date.now()',
    'const { now } = Date',
    'new Date()',
    'Date()',
    'performance.now()',
    'globalThis.performance.now()',
    'process.hrtime.bigint()',
    'AbortSignal.timeout(1)',
    'setTimeout(go, 1)',
    'setInterval(go, 1)',
    'globalThis.setTimeout(go, 1)',
    "import { setTimeout as pause } from 'node:timers/promises'",
    "import timers from 'timers'",
    "import { performance as elapsed } from 'node:perf_hooks'",
    'Math.random()',
    'const choose = Math.random',
    'crypto.getRandomValues(bytes)',
    "import { randomUUID } from 'node:crypto'",
    "import { randomBytes as bytes } from 'crypto'",
    "import * as hashes from 'node:crypto'; hashes.randomUUID()",
    'setImmediate(go)',
    'process.nextTick(go)',
  ]
  for (const code of refused) t.equal(refusals(code).length, 1, code)
})

t.test('the clock and the random numbers of the system are only defaults of the options `clock` and `random`', async (t) => {
  const imported = "import { systemClock, systemRandom } from '../runtime/clock.ts'; "
  const accepted = [
    'clock = options.clock ?? systemClock',
    'go({ random: options.random ?? systemRandom })',
    'const { clock = systemClock, random = systemRandom } = options',
    'const go = ({ clock = systemClock }) => clock',
  ]
  for (const code of accepted) t.strictSame(refusals(imported + code), [], code)
  const refused = [
    'systemClock.now()',
    'systemRandom()',
    'go(systemClock)',
    'go({ clock: systemClock })',
    'const clock = systemClock',
    'go(undefined ?? systemClock)',
    'const go = (clock = systemClock) => clock',
    'const { time = systemClock } = options',
    'const { random = systemClock } = options',
    'const clock = options.random ?? systemClock',
    'runtime.systemClock.now()',
  ]
  for (const code of refused) t.equal(refusals(imported + code).length, 1, code)
  t.equal(refusals("import { systemClock as time } from '../runtime/clock.ts'").length, 1, 'another name would not be found')
  t.equal(refusals("export { systemRandom } from '../runtime/random.ts'").length > 0, true)
})

t.test('times that are computed from a clock, hashes, and choices from a parameter are accepted', async (t) => {
  const accepted = [
    'new Date(clock.now())',
    'Date.parse(text)',
    'clock.after(1, go)',
    'clearTimeout(timer)',
    "import { createHash } from 'node:crypto'",
    'random()',
    'Math.floor(1)',
    'queueMicrotask(go)',
  ]
  for (const code of accepted) t.strictSame(refusals(code), [], code)
})

t.test('the rules hold in all folders that a simulation runs', async (t) => {
  const eslint = new ESLint()
  const isChecked = async (folder: string): Promise<boolean> => {
    const { rules } = (await eslint.calculateConfigForFile(`src/${folder}/any.ts`)) as { rules: object }
    return Object.keys(sources).every((rule) => rule in rules)
  }
  for (const folder of ['client', 'cache', 'controller', 'devcluster', 'leader-election', 'manager', 'telemetry', 'writes'])
    t.equal(await isChecked(folder), true, folder)
  t.equal(await isChecked('runtime'), false, 'the defaults are there')
})
