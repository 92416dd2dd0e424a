/**
 * Runs the tests in the given files and folders on a real control plane. The default is `test/real` and `test/conformance`. Missing
 * binaries of the control plane are built first.
 *
 * With `--backend existing`, the tests run on the cluster of the kubeconfig. No binaries are built, and the default is only
 * `test/conformance`.
 *
 * The last line of the output is the totals, `N passed, N failed`. If a missing binary cannot be built, all files are skipped. The totals
 * then contain one failure if the environment variable CI is set, and no failure otherwise.
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
// `test/real` comes first, because some of its files take minutes. If such a file started last, it would run alone at the end.
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
