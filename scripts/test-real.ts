/**
 * Runs tests on a real control plane: the given files, by default the conformance cases and the tests that need a real control plane.
 * Missing programs are built. With `--backend existing`, the conformance cases run on the cluster of the kubeconfig instead. Prints the
 * totals as the last line, `N passed, N failed`; files that could not be run count as skipped, and as failed when CI is set.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ProreusError } from '../src/api/errors.ts'
import type { ProgramName } from '../src/testing/binaries.ts'
import { programs } from '../src/testing/binaries.ts'
import { testFiles } from './test-files.ts'
import { ensurePrograms, showProgress } from './tools.ts'

const { values, positionals } = parseArgs({ options: { backend: { type: 'string', default: 'binaries' } }, allowPositionals: true })
const existing = values.backend === 'existing'
// Files that take minutes start first; otherwise one of them would run alone at the end.
const files = testFiles(positionals.length > 0 ? positionals : existing ? ['test/conformance'] : ['test/real', 'test/conformance'])
const env: NodeJS.ProcessEnv = { ...process.env, PROREUS_BACKEND: values.backend }

try {
  if (!existing) await ensurePrograms(Object.keys(programs) as ProgramName[], { env, progress: showProgress })
  const child = spawn(process.execPath, [join(import.meta.dirname, 'test.ts'), ...files], { env, stdio: 'inherit' })
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
} catch (error) {
  if (!(error instanceof ProreusError)) throw error
  const failed = process.env.CI ? 1 : 0
  process.stderr.write(`${error.message}\n`)
  process.stdout.write(files.map((file) => `  skipped: ${file} (there is no real control plane)\n`).join(''))
  process.stdout.write(`0 passed, ${failed} failed, ${files.length} skipped\n`)
  process.exitCode = failed
}
