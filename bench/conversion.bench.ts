/**
 * What does a conversion cost? Reviews of 1, 100 and 500 objects, beside a server that only parses them and writes them again: one core
 * for the server, one for the load, TLS, kept-alive connections, interleaved rounds, medians.
 *
 * `npm run bench -- conversion [--rounds 3] [--seconds 3]`
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { issueAuthority } from '../src/certs/issue.ts'
import { issueServingCertificate } from '../src/devcluster/pki/state.ts'
import { median, table } from './table.ts'
import type { RunningProgram } from './webhook/programs.ts'
import { conversionCeiling, conversions, loadProgram, pinned, startProgram } from './webhook/programs.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '3' } } })
const batches = [1, 100, 500]

const directory = mkdtempSync(join(tmpdir(), 'proreus-bench-'))
const started: RunningProgram[] = []
try {
  await main()
} finally {
  for (const program of started) program.stop()
  rmSync(directory, { recursive: true, force: true })
}

async function main(): Promise<void> {
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content, { mode: 0o600 })
    return join(directory, name)
  }
  const authority = await issueAuthority(Date.now())
  const serving = await issueServingCertificate(authority, Date.now())
  const [ca, cert, key] = [file('ca.crt', authority.cert), file('tls.crt', serving.cert), file('tls.key', serving.key)]
  const bodies = batches.map((count) => file(`${count}.json`, JSON.stringify(reviewOf(count))))
  const load = loadProgram()
  for (const program of [conversions, conversionCeiling]) started.push(await startProgram(program, cert, key))

  /** Seconds of the server's core for 1000 objects, by program and batch. */
  const samples = new Map<string, number[]>()
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    // The first round warms up and is not counted.
    if (round === 1) samples.clear()
    for (const [index, count] of batches.entries()) {
      for (const program of started) {
        const cpu = program.cpuSeconds()
        const url = program.url('mutate').replace(/[^/]*$/, 'convert')
        const args = ['-url', url, '-ca', ca, '-body', bodies[index]!, '-seconds', values.seconds]
        const [command, ...rest] = pinned('load', [load, ...args])
        const { stdout, stderr, status } = spawnSync(command!, rest, { encoding: 'utf8' })
        if (status !== 0) throw new Error(`the load ended with ${status}: ${stderr}`)
        const { requests, failed, error } = JSON.parse(stdout) as { requests: number; failed: number; error?: string }
        if (failed > 0 || error !== undefined) throw new Error(`${program.program.name} failed ${failed} requests: ${error}`)
        const cell = `${program.program.name}/${count}`
        samples.set(cell, [...(samples.get(cell) ?? []), ((program.cpuSeconds() - cpu) / (requests * count)) * 1000])
      }
    }
  }
  const of = (program: RunningProgram, count: number): number => median(samples.get(`${program.program.name}/${count}`)!)
  const rows = started.map((program) => [program.program.name, ...batches.map((count) => of(program, count).toFixed(3))])
  const ratio = ['ratio', ...batches.map((count) => (of(started[1]!, count) / of(started[0]!, count)).toFixed(2))]
  process.stdout.write(table(['CPU s per 1000 objects', ...batches.map((count) => `batches of ${count}`)], [...rows, ratio]))
}

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
