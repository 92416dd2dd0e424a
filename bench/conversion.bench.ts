/**
 * Measures the CPU time of conversion webhooks for ConversionReviews with 1, 100 and 500 objects. Proreus is compared with a server that
 * only parses and serializes the objects. The servers run on one CPU core, and the load generator runs on another core. The connections use
 * TLS and are kept alive. Each round measures both servers, and the results are medians over the rounds.
 *
 * `npm run bench -- conversion [--rounds 3] [--seconds 3]`
 */
import { parseArgs } from 'node:util'
import { median, table } from './table.ts'
import { compared } from './webhook/comparison.ts'
import type { RunningProgram } from './webhook/programs.ts'
import { conversionCeiling, conversions } from './webhook/programs.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '3' } } })
const batches = [1, 100, 500]

await compared([conversions, conversionCeiling], ({ programs, file, load }) => {
  const bodies = batches.map((count) => file(`${count}.json`, JSON.stringify(reviewOf(count))))
  /**
   * The measured CPU seconds per 1000 converted objects, with one number for each round. The key contains the name of the server and the
   * number of objects per review.
   */
  const samples = new Map<string, number[]>()
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    // Round 0 is a warm-up, and its results are discarded.
    if (round === 1) samples.clear()
    for (const [index, count] of batches.entries()) {
      for (const program of programs) {
        const { requests, cpuSeconds } = load(program, { path: 'convert', body: bodies[index]!, seconds: Number(values.seconds) })
        const cell = `${program.program.name}/${count}`
        samples.set(cell, [...(samples.get(cell) ?? []), (cpuSeconds / (requests * count)) * 1000])
      }
    }
  }
  const of = (program: RunningProgram, count: number): number => median(samples.get(`${program.program.name}/${count}`)!)
  const rows = programs.map((program) => [program.program.name, ...batches.map((count) => of(program, count).toFixed(3))])
  const ratio = ['ratio', ...batches.map((count) => (of(programs[1]!, count) / of(programs[0]!, count)).toFixed(2))]
  process.stdout.write(table(['CPU s per 1000 objects', ...batches.map((count) => `batches of ${count}`)], [...rows, ratio]))
})

function reviewOf(count: number): object {
  const objects = Array.from({ length: count }, (_, index) => ({
    apiVersion: 'example.com/v1beta1',
    kind: 'Backup',
    metadata: {
      name: `backup-${index}`,
      namespace: 'default',
      uid: `8b3c3d9c-5f7b-4f0e-9d5c-${String(index).padStart(12, '0')}`,
      creationTimestamp: '2026-11-20T00:00:00Z',
      generation: 1,
      labels: { app: 'backup', team: 'core' },
    },
    spec: { volume: `volume-${index}`, cron: '30 4' },
    status: { taken: index },
  }))
  return {
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { uid: '0d9a4b52-5a3e-4c93-a1a5-6d2c4f7d9f00', desiredAPIVersion: 'example.com/v1', objects },
  }
}
