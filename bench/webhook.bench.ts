/**
 * Measures the admission webhooks of Proreus, controller-runtime, kube-rs and a bare fastify server in the same run. The servers run on one
 * CPU core, and the load generator runs on another core. The connections use TLS and are kept alive. Each round measures all servers, and
 * the results are medians over the rounds.
 *
 * `npm run bench -- webhook [--rounds 3] [--seconds 4] [--only proreus,kube-rs] [--sizes 1k,8k]`
 */
import { parseArgs } from 'node:util'
import type { Size } from './payloads.ts'
import { sizes, writePayload } from './payloads.ts'
import { compareAnswers } from './webhook/answers.ts'
import { compared } from './webhook/comparison.ts'
import type { RunningProgram } from './webhook/programs.ts'
import { ceiling, controllerRuntime, kubeRs, programs, proreus } from './webhook/programs.ts'
import { median, table } from './table.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string' },
    sizes: { type: 'string', default: sizes.join(',') },
  },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const chosenSizes = values.sizes.split(',') as Size[]
const chosen = programs.filter(
  ({ name }) => values.only === undefined || values.only.split(',').some((one) => name.toLowerCase().includes(one.toLowerCase())),
)

/** The measurements of one round for one server, one kind of request and one size. */
interface Sample {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** CPU seconds that the server needs for 1000 requests. */
  readonly cpu: number
}

await compared(chosen, async ({ directory, ca, programs: started, load }) => {
  const payloads = chosenSizes.map((size) => ({
    size,
    valid: writePayload(directory, size),
    invalid: writePayload(directory, size, false),
  }))

  const judges = started.filter(({ program }) => program.judges)
  await compareAnswers(
    judges,
    payloads.map(({ valid }) => valid),
    payloads.map(({ invalid }) => invalid),
    ca,
  )
  process.stderr.write(`the answers of ${judges.map(({ program }) => program.name).join(', ')} are the same\n`)

  const cells = new Map<string, Sample[]>()
  const cellOf = (program: string, what: string, size: Size): string => `${program}/${what}/${size}`
  const measure = (program: RunningProgram, what: string, path: 'mutate' | 'validate', size: Size, body: string, rate = 0): void => {
    const seen = load(program, { path, body, seconds, rate })
    const cell = cellOf(program.program.name, what, size)
    const sample = {
      perSecond: seen.requests / seen.seconds,
      p50: seen.p50Ms,
      p99: seen.p99Ms,
      p999: seen.p999Ms,
      cpu: (seen.cpuSeconds / seen.requests) * 1000,
    }
    cells.set(cell, [...(cells.get(cell) ?? []), sample])
  }

  for (let round = 0; round <= rounds; round += 1) {
    // Round 0 is a warm-up, and its results are discarded.
    if (round === 1) cells.clear()
    process.stderr.write(round === 0 ? 'warming up\n' : `round ${round} of ${rounds}\n`)
    for (const { size, valid, invalid } of payloads) {
      for (const program of started) {
        measure(program, 'validate', 'validate', size, valid.file)
        if (!program.program.judges) continue
        measure(program, 'mutate', 'mutate', size, valid.file)
        measure(program, 'invalid', 'validate', size, invalid.file)
      }
    }
    if (chosenSizes.includes('8k'))
      for (const program of started)
        measure(program, 'at 500/s', 'validate', '8k', payloads.find(({ size }) => size === '8k')!.valid.file, 500)
  }

  const of = (program: string, what: string, size: Size, value: keyof Sample): number | undefined => {
    const samples = cells.get(cellOf(program, what, size))
    return samples && median(samples.map((sample) => sample[value]))
  }
  const names = started.map(({ program }) => program.name)
  for (const what of ['validate', 'mutate', 'invalid']) {
    const rows = names.map((name) => [
      name,
      ...chosenSizes.flatMap((size) => {
        const show = (value: keyof Sample, digits: number): string => of(name, what, size, value)?.toFixed(digits) ?? '–'
        return [show('perSecond', 0), `${show('p50', 1)} / ${show('p99', 1)} / ${show('p999', 1)}`, show('cpu', 2)]
      }),
    ])
    const head = chosenSizes.flatMap((size) => [`${size}: requests/s`, 'p50 / p99 / p99.9 ms', 'CPU s per 1000'])
    process.stdout.write(`\n## ${what}\n\n${table([what, ...head], rows)}`)
  }
  const at500 = names.map((name) => [
    name,
    ...(['p50', 'p99', 'p999'] as const).map((value) => of(name, 'at 500/s', '8k', value)?.toFixed(2) ?? '–'),
  ])
  process.stdout.write(`\n## validate of 8k at 500 requests per second\n\n${table(['', 'p50 ms', 'p99 ms', 'p99.9 ms'], at500)}`)
  process.stdout.write(
    `\n## memory after the run\n\n${table(
      ['', 'RSS MiB'],
      started.map((one) => [one.program.name, one.residentMb().toFixed(0)]),
    )}`,
  )

  const ratio = (what: string, other: string, otherWhat = what): string[] =>
    chosenSizes.map((size) => {
      const [mine, theirs] = [of(proreus.name, what, size, 'perSecond'), of(other, otherWhat, size, 'perSecond')]
      return mine === undefined || theirs === undefined ? '–' : (mine / theirs).toFixed(2)
    })
  const rows = [
    ['validate / controller-runtime', ...ratio('validate', controllerRuntime.name), '3'],
    ['mutate / controller-runtime', ...ratio('mutate', controllerRuntime.name), '3'],
    ['validate / kube-rs', ...ratio('validate', kubeRs.name), '0.5 0.85 1.0 1.0'],
    ['mutate / kube-rs', ...ratio('mutate', kubeRs.name), '0.7 1.5 2.5 3.0'],
    ['validate / bare fastify', ...ratio('validate', ceiling.name), '0.8'],
    ['mutate / bare fastify', ...ratio('mutate', ceiling.name, 'validate'), '0.65'],
    ['invalid / valid', ...ratio('invalid', proreus.name, 'validate'), '0.33'],
  ]
  process.stdout.write(`\n## Proreus as a ratio\n\n${table(['', ...chosenSizes, 'at least'], rows)}`)
})
