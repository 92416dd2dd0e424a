/** The package as a user gets it: packed, installed in a project of its own, and type-checked as strictly as the compiler can. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process.ts'

// It builds the package, and compiles three times.
t.setTimeout(600_000)

const folder = mkdtempSync(join(tmpdir(), 'proreus-package-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const compiler = join(repository, 'node_modules/typescript/bin/tsc')
const project = join(folder, 'project')

/** Packs what the sources build, and unpacks it where `npm install` would. */
function install(): void {
  const stage = join(folder, 'stage')
  mkdirSync(stage)
  const build = ['-p', join(repository, 'tsconfig.build.json'), '--noCheck', '--outDir', join(stage, 'dist')]
  execFileSync(process.execPath, [compiler, ...build])
  copyFileSync(join(repository, 'package.json'), join(stage, 'package.json'))
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent'], { cwd: stage, stdio: 'ignore' })
  const { version, dependencies } = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  const installed = join(project, 'node_modules/proreus')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(stage, `proreus-${version}.tgz`), '--strip-components=1', '-C', installed])
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    const path = join(project, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(repository, 'node_modules', name), path)
  }
}

const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  declaration: true,
  skipLibCheck: false,
  rootDir: 'src',
  outDir: 'out',
  rewriteRelativeImportExtensions: true,
}

interface Compiled {
  readonly output: string
  readonly instantiations: number
  /** Of all threads, which says more than the clock on a machine that does other things, too. */
  readonly cpuSeconds: number
}

/** Has a process say at its end, on standard error, how many microseconds of CPU it took. */
const tellCpu =
  "data:text/javascript,process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write(String(user + system)) })"

/** Compiles the project's `src`; `output` is empty where nothing is wrong. */
async function compile(options: object = {}): Promise<Compiled> {
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, include: ['src'] }))
  const { stdout, stderr } = await finished(process.execPath, ['--import', tellCpu, compiler, '-p', '.', '--extendedDiagnostics'], {
    cwd: project,
  })
  const number = (name: string): number => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(stdout)?.[1])
  return {
    output: stdout.slice(0, stdout.indexOf('Files:')).trim(),
    instantiations: number('Instantiations'),
    cpuSeconds: Number(stderr) / 1e6,
  }
}

function sources(write: (src: string) => void): void {
  const src = join(project, 'src')
  rmSync(src, { recursive: true, force: true })
  mkdirSync(src)
  write(src)
}

t.test('an operator compiles without a complaint, its kinds can be exported, and the compiler has little to do', async (t) => {
  install()
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  sources((src) => writeFileSync(join(src, 'empty.ts'), 'export {}\n'))
  const empty = await compile()
  t.equal(empty.output, '')

  sources((src) => {
    cpSync(join(repository, 'docs/examples/memcached'), join(src, 'memcached'), { recursive: true })
    for (const name of ['hello.ts', 'conversion.ts']) copyFileSync(join(repository, 'docs/examples', name), join(src, name))
  })
  const strict = await compile()
  t.equal(strict.output, '')
  const instantiations = strict.instantiations - empty.instantiations
  const cpuSeconds = (strict.cpuSeconds - empty.cpuSeconds).toFixed(1)
  t.comment(`${instantiations} instantiations and ${cpuSeconds} s of CPU more than an empty project`)
  // Measured: 25,838 with TypeScript 5.9; a kind that is compared by its structure cost 1.3 million.
  t.ok(instantiations < 150_000, `${strict.instantiations} instantiations, ${empty.instantiations} when empty`)
  const declarations = readFileSync(join(project, 'out/memcached/kind.d.ts'), 'utf8')
  t.match(declarations, /size: import\("proreus"\)\.TInteger & import\("proreus"\)\.Defaulted/)
  t.notMatch(declarations, /dist/)
})

t.test('a program of one operator runs from the package', async (t) => {
  const script = "import { operator } from './out/memcached/operator.js'; console.log(operator.name)"
  const run = await finished(process.execPath, ['--input-type=module', '-e', script], { cwd: project })
  t.strictSame(run, { code: 0, stdout: 'memcached\n', stderr: '' })
})

t.test('on a Node.js that is too old the import says which one is needed', async (t) => {
  const pretend = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.19.0' })"
  const run = await finished(process.execPath, ['--import', pretend, '--input-type=module', '-e', "await import('proreus')"], {
    cwd: project,
  })
  t.equal(run.code, 1)
  t.match(run.stderr, /proreus needs Node\.js 22\.19 or later; this is 20\.19\.0\./)
})
