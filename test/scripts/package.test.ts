/** Tests of the files in the npm package, and of the package outside of this repository. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { finished, repository } from '../support/process/process.ts'

interface PackageJson {
  readonly version: string
  readonly description: string
  readonly engines: { readonly node: string }
  readonly keywords: readonly string[]
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

const folder = mkdtempSync(join(tmpdir(), 'proreus-package-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const source = join(folder, 'source')
for (const name of [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'bench',
  'config',
  'src',
]) {
  cpSync(join(repository, name), join(source, name), { recursive: true })
}
// The sources are compiled as by `npm run build`, but without type checks. CI checks the types in a separate step.
const compiler = join(repository, 'node_modules/typescript/bin/tsc')
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(source, 'dist')], { cwd: repository })
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
) as [Packed]
execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', folder])
symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
const unpacked = join(folder, 'package')
const paths = packed.files.map(({ path }) => path)
const json = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as PackageJson

t.test('the package has the files that users of the library need, and no others', async (t) => {
  const expected =
    /^(dist\/.+\.(js|js\.map|d\.ts|json)|docs\/.+\.(md|ts|yaml)|package\.json|bench\/README\.md|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE)$/
  t.strictSame(
    paths.filter((path) => !expected.test(path)),
    [],
  )
  for (const path of [
    'docs/reference/cli.md',
    'docs/reference/errors.md',
    'docs/guides/testing.md',
    'dist/index.js',
    'dist/builtin-schemas/types.json',
  ])
    t.ok(paths.includes(path), path)
  t.ok(packed.unpackedSize < 12_000_000, `${packed.unpackedSize} bytes`)
})

t.test('the pages of the package link to files and folders of the package', async (t) => {
  const pages = paths.filter((path) => path.endsWith('.md'))
  t.ok(pages.length > 10)
  for (const page of pages) {
    const links = [...readFileSync(join(unpacked, page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)\s#]+)/g)].map(([, link]) => link!)
    const broken = links.filter((link) => !existsSync(join(unpacked, dirname(page), link)))
    t.strictSame(broken, [], page)
  }
})

t.test('the README names the version of Node.js that the package needs', async (t) => {
  const needed = json.engines.node.replace('>=', '')
  t.match(readFileSync(join(unpacked, 'README.md'), 'utf8'), `In a project of your own, with Node.js ${needed} or later:`)
})

t.test('files named in package.json exist, with their types', async (t) => {
  // The files for the export condition `proreus-source` exist only in this repository, not in the package.
  const targets = Object.values(json.exports).flatMap((target) =>
    typeof target === 'string'
      ? [target]
      : Object.entries(target).flatMap(([condition, path]) => (condition === 'proreus-source' ? [] : [path])),
  )
  for (const target of [...targets, ...Object.values(json.bin).map((path) => `./${path}`)]) t.ok(paths.includes(target.slice(2)), target)
  for (const target of targets.filter((path) => path.endsWith('.js')))
    t.ok(paths.includes(target.slice(2).replace(/\.js$/, '.d.ts')), `the types of ${target}`)
  t.match(json.description, /Kubernetes/)
  t.ok(json.keywords.includes('kubernetes'))
})

t.test('each script has a source map with its source', async (t) => {
  const scripts = paths.filter((path) => path.endsWith('.js'))
  t.ok(scripts.length > 300)
  for (const path of scripts) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(unpacked, `${path}.map`), 'utf8')) as Record<string, readonly string[]>
    if (sources?.length !== 1 || sourcesContent?.length !== 1) t.fail(path)
  }
})

t.test('the help names existing documentation', async (t) => {
  const { stdout } = await finished(process.execPath, [join(unpacked, 'dist/cli/bin.js'), '--help'])
  const named = /^Documentation: (.*) in the package\.$/m.exec(stdout)?.[1]?.split(' and ') ?? []
  t.strictSame(named, ['README.md', 'docs/'])
  for (const name of named)
    t.ok(
      paths.some((path) => path.startsWith(name)),
      name,
    )
})

t.test('the package runs, and can be imported', async (t) => {
  t.strictSame(await finished(process.execPath, [join(unpacked, 'dist/cli/bin.js'), '--version']), {
    code: 0,
    stdout: `${json.version}\n`,
    stderr: '',
  })
  const script =
    "import { run, onTermination } from 'proreus'; import { startControlPlane } from 'proreus/testing'; process.stdout.write([run, onTermination, startControlPlane].map((one) => typeof one).join())"
  t.match(await finished(process.execPath, ['--input-type=module', '--eval', script], { cwd: unpacked }), {
    code: 0,
    stdout: 'function,function,function',
  })
})

t.test('packing builds first, so that no package has a missing or old build', async (t) => {
  const unbuilt = join(folder, 'unbuilt')
  mkdirSync(join(unbuilt, 'scripts'), { recursive: true })
  cpSync(join(repository, 'package.json'), join(unbuilt, 'package.json'))
  // A short replacement for the real build, which takes long.
  const build = "import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync('dist'); writeFileSync('dist/built.js', '')"
  writeFileSync(join(unbuilt, 'scripts/build.ts'), build)
  symlinkSync(join(repository, 'node_modules'), join(unbuilt, 'node_modules'))
  const { stdout } = await finished('npm', ['pack', '--dry-run', '--json'], { cwd: unbuilt })
  const [{ files }] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [Packed]
  t.ok(files.some(({ path }) => path === 'dist/built.js'))
})
