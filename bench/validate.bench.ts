/**
 * Measures the duration of `proreus validate` for a folder of manifests. Every tenth manifest is invalid.
 *
 * `npm run bench -- validate [--manifests 1000] [--rounds 5]`
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { median, table } from './table.ts'

const { values } = parseArgs({ options: { manifests: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '5' } } })
const [manifests, rounds] = [Number(values.manifests), Number(values.rounds)]
const command = ['--conditions=proreus-source', join(import.meta.dirname, '../src/cli/bin.ts'), 'validate']

const directory = mkdtempSync(join(tmpdir(), 'proreus-bench-'))
try {
  for (let index = 0; index < manifests; index += 1) writeFileSync(join(directory, `${index}.yaml`), stringify(manifest(index)))
  const seconds: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now()
    const { status, stdout } = spawnSync(process.execPath, [...command, directory], { encoding: 'utf8', maxBuffer: 1 << 30 })
    seconds.push((performance.now() - start) / 1000)
    const invalid = [...stdout.matchAll(/ is invalid: /g)].length
    if (status !== 1 || invalid !== Math.ceil(manifests / 10)) throw new Error(`found ${invalid} invalid objects and ended with ${status}`)
  }
  const told = [Math.min(...seconds), median(seconds), Math.max(...seconds)].map((value) => value.toFixed(2))
  process.stdout.write(table(['manifests', 'least s', 'median s', 'most s'], [[String(manifests), ...told]]))
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function manifest(index: number): object {
  return {
    apiVersion: 'harryyann.github.io/v1',
    kind: 'MyPod',
    metadata: { name: `pod-${index}`, namespace: 'default', labels: { app: 'bench', index: String(index) } },
    spec: {
      podSpec: {
        containers: [
          {
            name: 'main',
            image: index % 10 === 0 ? '' : `registry.local/app:${index}`,
            ports: [{ containerPort: 8080 }],
            env: [{ name: 'LEVEL', value: 'info' }],
            resources: { requests: { cpu: '100m', memory: '64Mi' } },
          },
        ],
      },
    },
  }
}
