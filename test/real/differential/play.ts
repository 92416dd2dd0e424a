/**
 * Sends the requests of scenarios to the real and the embedded API server, and prints the differences between the responses as Markdown.
 *
 *     node test/real/differential/play.ts [--all] [scenario…]
 *
 * If no scenario is named, all scenarios are played. `--all` also prints accepted differences (accepted.yaml).
 */
import { parseArgs } from 'node:util'
import { startControlPlanes } from './control-planes.ts'
import { review, readAccepted } from './accepted.ts'
import { play } from './player.ts'
import type { Comparison } from './player.ts'
import { report } from './report.ts'
import { readScenarios } from './scenario.ts'

const { values, positionals } = parseArgs({ options: { all: { type: 'boolean', default: false } }, allowPositionals: true })
const scenarios = readScenarios().filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const accepted = values.all ? [] : readAccepted().differences

const comparisons: Comparison[] = []
for (const controllers of [false, true]) {
  const own = scenarios.filter((scenario) => scenario.controllers === controllers)
  if (own.length === 0) continue
  const { real, embedded, stop } = await startControlPlanes(own)
  try {
    for (const scenario of own) comparisons.push(...(await play(scenario, { real, embedded })))
  } finally {
    await stop()
  }
}

// Stale entries can be determined only when all scenarios were played.
process.stdout.write(report(review(comparisons, accepted), { showStale: positionals.length === 0 }))
