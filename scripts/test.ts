/**
 * Runs the tests in the given files and folders, by default all tests except `test/real`. Test files run in parallel processes. The last
 * line of the output is the totals, `N passed, N failed`. COVERAGE=1 prints the coverage of each file of src.
 *
 * Without arguments, the script first builds kubectl if kubectl is missing. If the build fails, for example without Go, the tests that need
 * kubectl are skipped.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ProreusError } from '../src/api/errors.ts'
import { programCache } from '../src/testing/binaries.ts'
import { testFiles } from './test-files.ts'
import { ensurePrograms, showProgress } from './tools.ts'

const root = join(import.meta.dirname, '..')
const asked = process.argv.slice(2)
const files = testFiles(asked)
const showsCoverage = process.env.COVERAGE === '1'
// On an existing cluster, test files run one after the other, because they use the same objects.
const jobs = process.env.PROREUS_BACKEND === 'existing' ? 1 : availableParallelism() + 1
// Node.js' compile cache saves a second of CPU time in a process that loads all of src. Runs with coverage do not use the compile cache,
// because the coverage of cached code is inexact.
const compileCache = showsCoverage ? {} : { NODE_COMPILE_CACHE: join(programCache(process.env), '../compile-cache') }

if (asked.length === 0) {
  try {
    await ensurePrograms(['kubectl'], { env: process.env, progress: showProgress })
  } catch (error) {
    if (!(error instanceof ProreusError)) throw error
    // Without kubectl the run continues, and the tests that need kubectl report that they are skipped.
    process.stderr.write(`${error.message}\n`)
  }
}

// `tap build` installs the plugins that package.json names. Without `tap build`, the default plugins of tap would be used, which compile
// each test with tsc.
const tap = join(root, 'node_modules/.bin/tap')
const isBuilt = join(root, 'node_modules/.proreus-tap')
if (!existsSync(isBuilt)) {
  execFileSync(process.execPath, [tap, 'build'], { cwd: root })
  writeFileSync(isBuilt, '')
}

const child = spawn(
  process.execPath,
  [
    tap,
    `--jobs=${jobs}`,
    '--reporter=tap',
    // Coverage is collected only on request, because collecting coverage doubles the duration of the tests.
    showsCoverage ? '--coverage-report=text' : '--disable-coverage',
    ...files,
  ],
  { cwd: root, env: { ...process.env, ...compileCache }, stdio: ['inherit', 'pipe', 'inherit'] },
)

// The output has one line for each test file and each skipped test. The whole output of a test file is printed only if the file fails.
let summary = ''
let block: string[] = []
for await (const line of createInterface({ input: child.stdout })) {
  block.push(line)
  if (/^# \{ total: /.test(line)) summary = line
  const skipped = /^\s+ok \d+ - (.*) # SKIP ?(.*)$/.exec(line)
  if (skipped !== null) process.stdout.write(`  skipped: ${skipped[1]} (${skipped[2]})\n`)
  const file = /^(not ok|ok) \d+ - (.*?)(?: # time=([\d.]+m?s))?(?: \{)?$/.exec(line)
  if (file === null) continue
  if (file[1] === 'not ok') process.stdout.write(`${block.join('\n')}\n`)
  process.stdout.write(`${file[1] === 'ok' ? '✓' : '✗'} ${file[2]}${file[3] === undefined ? '' : ` (${file[3]})`}\n`)
  block = []
}
const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 1)))
if (showsCoverage) process.stdout.write(`${block.join('\n')}\n`)
const coverage = block.map((line) => /^All files +\| +([\d.]+) \| +([\d.]+)/.exec(line)).find((match) => match !== null)
if (coverage) process.stdout.write(`covered: ${coverage[1]} % of the statements, ${coverage[2]} % of the branches\n`)
// When tap itself fails, its output after the last test file explains why. The lines of the coverage table (`|`) are omitted.
if (code !== 0) process.stdout.write(`${block.filter((line) => !line.includes(' | ')).join('\n')}\n`)

const total = (name: string): number => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary)?.[1] ?? 0)
const [passed, failed, skipped] = [total('pass'), total('fail'), total('skip')]
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = code !== 0 || failed > 0 || passed === 0 ? 1 : 0
