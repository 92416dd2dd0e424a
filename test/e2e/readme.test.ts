/** Tests of the transcripts in the README. Each command is run, and must print the output that the README shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { startDev, type Dev } from '../support/process/dev.ts'
import { needsKubectl, repository } from '../support/process/process.ts'
import { patternOf, stepsOf, type Step } from '../support/process/transcript.ts'
import { until } from '../../src/testing/until.ts'

t.setTimeout(120_000)

const readme = readFileSync(join(repository, 'README.md'), 'utf8')
const sections = new Map(readme.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section]))
const firstScreen = sections.get('# Proreus')!

/** Runs the command of a step. If the command only reads, it is repeated until it prints the documented output. */
async function play(t: Test, { kubectl }: Dev, { command, output }: Step): Promise<void> {
  const [program, ...args] = command.split(' ')
  t.equal(program, 'kubectl', command)
  const run = async (): Promise<string> => {
    const { stdout, stderr } = await kubectl(args.join(' '))
    return stdout + stderr
  }
  const expected = patternOf(output)
  let printed = await run()
  if (args[0] === 'get') await until(command, async () => expected.test((printed = await run()))).catch(() => undefined)
  t.match(printed, expected, command)
}

t.test(
  'the first screen starts an operator whose Pods run, fail, are scaled, and are still there after a restart',
  needsKubectl,
  async (t) => {
    const directory = t.testdir()
    const start = /^npm start -- --watch --operators (\S+)/m.exec(firstScreen)!
    const [command, operators = ''] = start
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    t.match(scripts['start'], / src\/cli\/bin\.ts dev$/)
    const startAgain = (): Promise<Dev> => startDev(t, join(repository, operators), ['--watch'], directory)
    let dev = await startAgain()
    const steps = stepsOf(firstScreen).filter(({ command }) => !command.startsWith('export '))
    t.ok(steps.length >= 10)
    for (const step of steps) {
      if (step.command === command) {
        t.equal(await dev.running.stop('SIGINT'), 0, 'Ctrl-C')
        dev = await startAgain()
      } else await play(t, dev, step)
    }
  },
)

t.test('the MyPod operator accepts its sample, and reports all errors of an invalid one', needsKubectl, async (t) => {
  const dev = await startDev(t)
  const steps = stepsOf(sections.get('Webhooks')!)
  t.equal(steps.length, 3)
  for (const step of steps) await play(t, dev, step)
})
