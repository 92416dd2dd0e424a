/**
 * Compares a real control plane with the embedded control plane, and prints the differences as Markdown. Both control planes execute the
 * same lives. A life is a list of steps that create, change and delete a workload. The arguments are the names of the lives. If no name is
 * given, all lives are executed.
 *
 *     node test/real/differential/workloads/play.ts [--all] [life…]
 *
 * `--all` also prints accepted differences.
 */
import { inspect, parseArgs } from 'node:util'
import { readAccepted, review } from '../accepted.ts'
import { report } from '../report.ts'
import { playLife } from './life.ts'
import { lives } from './lives/index.ts'
import { startTheatres } from './theatres.ts'

const { values, positionals } = parseArgs({ options: { all: { type: 'boolean', default: false } }, allowPositionals: true })
const played = lives.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const accepted = values.all ? [] : readAccepted().lives
const { stop, ...theatres } = await startTheatres()
try {
  const results = await Promise.allSettled(played.map((life) => playLife(life, theatres, accepted)))
  const comparisons = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  process.stdout.write(report(review(comparisons, accepted), { showStale: positionals.length === 0 }))
  for (const result of results) if (result.status === 'rejected') process.stdout.write(`${inspect(result.reason)}\n`)
} finally {
  await stop()
}
