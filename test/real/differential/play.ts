/**
 * Plays the named scenarios, by default all. Prints their differences as Markdown, with the request and the responses of both API servers.
 *
 *     node test/real/differential/play.ts [--all] [scenario…]
 *
 * `--all` also prints accepted differences.
 */
import { parseArgs } from 'node:util'
import { startControlPlanes } from './control-planes.ts'
import { review, readAccepted } from './accepted.ts'
import { play } from './player.ts'
import type { Comparison } from './player.ts'
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

const { compared, equal, accepted: known, failed, stale } = review(comparisons, accepted)
const longest = 700
const show = (value: unknown): string => {
  const text = value === undefined ? '(absent)' : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
}
for (const { comparison, differences } of failed) {
  process.stdout.write(`### ${comparison.scenario}: ${comparison.id}\n\n    ${comparison.request}\n\n`)
  for (const difference of differences)
    process.stdout.write(`- \`${difference.path}\`\n  - real: ${show(difference.real)}\n  - embedded: ${show(difference.embedded)}\n`)
  process.stdout.write('\n')
}
// Stale entries can be determined only when all scenarios were played.
if (positionals.length === 0) for (const line of stale) process.stdout.write(`stale: ${line}\n`)
process.stdout.write(`${compared} requests compared: ${equal} equal, ${known} differ as accepted, ${failed.length} differ\n`)
