/**
 * Runs the conformance tests on a real control plane: all of them, or the files given. Builds the programs when they are not there.
 * `--backend existing` takes the cluster of the kubeconfig instead. Prints the totals as the last line, `N passed, N failed`.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ProreusError } from '../src/api/errors.ts'
import type { ProgramName } from '../src/testing/binaries.ts'
import { programs } from '../src/testing/binaries.ts'
import { ensurePrograms, showProgress } from './tools.ts'

const { values, positionals } = parseArgs({ options: { backend: { type: 'string', default: 'binaries' } }, allowPositionals: true })
const files = positionals.length > 0 ? positionals : ['test/conformance']
const env: NodeJS.ProcessEnv = { ...process.env, PROREUS_BACKEND: values.backend }

try {
  if (values.backend === 'binaries') {
    const paths = await ensurePrograms(Object.keys(programs) as ProgramName[], { env, progress: showProgress })
    // What kubectl prints depends on its version.
    env.KUBECTL = paths.kubectl
  }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'test.ts'), ...files], { env, stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
} catch (error) {
  if (!(error instanceof ProreusError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.stdout.write('0 passed, 1 failed\n')
  process.exitCode = 1
}
