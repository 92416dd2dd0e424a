/** Tests of the files in the npm package, and of the package when it is used outside of this repository. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
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
// The build of `npm run build`, but without type checks. CI checks the types in a separate step.
execFileSync(process.execPath, [join(repository, 'scripts/build.ts'), '--no-check', '--out-dir', join(source, 'dist')])
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
    /^(dist\/.+\.(js|js\.map|d\.ts|json)|docs\/.+\.(md|sh|ts|yaml)|package\.json|bench\/README\.md|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|LICENSE)$/
  t.strictSame(
    paths.filter((path) => !expected.test(path)),
    [],
  )
  for (const path of [
    'docs/reference/cli.md',
    'docs/reference/errors.md',
    'docs/guides/testing.md',
    'dist/index.js',
    'dist/chunks/worker.js',
    'dist/chunks/operators-process.js',
    'dist/chunks/parent-guard.js',
    'dist/chunks/plain-supervisor.js',
    'dist/chunks/terminal-program.js',
  ])
    t.ok(paths.includes(path), path)
  t.ok(packed.unpackedSize < 14_000_000, `${packed.unpackedSize} bytes`)
})

t.test('the package has the scripts of all processes that the sources start by the name of a script', async (t) => {
  const sources = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const scripts = sources.flatMap((path) =>
    [...readFileSync(join(repository, 'src', path), 'utf8').matchAll(/`\.\/([\w-]+)\$\{extname\(import\.meta\.url\)\}`/g)].map(
      ([, name]) => name,
    ),
  )
  t.ok(scripts.includes('connector-process'))
  for (const name of scripts) t.ok(paths.includes(`dist/chunks/${name}.js`), `dist/chunks/${name}.js`)
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
  const mapped = new Set<string>()
  for (const path of scripts) {
    t.match(readFileSync(join(unpacked, path), 'utf8'), `//# sourceMappingURL=${basename(path)}.map`)
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(unpacked, `${path}.map`), 'utf8')) as Record<string, readonly string[]>
    t.equal(sources?.length, sourcesContent?.length, path)
    if (sourcesContent?.some((content) => typeof content !== 'string')) t.fail(path)
    for (const each of sources ?? []) mapped.add(each.replace(/^(\.\.\/)+/, ''))
  }
  t.ok(mapped.size > 300, `${mapped.size} sources`)
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

t.test('a process starts from few files, and without the embedded API server', async (t) => {
  const scripts = paths.filter((path) => path.endsWith('.js'))
  t.ok(scripts.length < 65, `${scripts.length} files`)
  const imported = new Set<string>()
  const follow = (path: string): void => {
    if (imported.has(path)) return
    imported.add(path)
    for (const [, target] of readFileSync(path, 'utf8').matchAll(/^(?:import|export) [^;]*?'(\.[^']+)';$/gm))
      follow(join(dirname(path), target!))
  }
  const main = scripts.find((path) => /^dist\/chunks\/main-[\w-]+\.js$/.test(path))!
  follow(join(unpacked, main))
  follow(join(unpacked, 'dist/index.js'))
  t.ok(imported.size > 3, 'imports are followed')
  const sources = [...imported].flatMap((path) => (JSON.parse(readFileSync(`${path}.map`, 'utf8')) as { sources: string[] }).sources)
  t.ok(sources.some((path) => path.endsWith('src/manager/run.ts')))
  t.strictSame(
    sources.filter((path) => path.includes('src/devcluster/')),
    [],
  )
  for (const path of imported)
    t.notMatch(readFileSync(path, 'utf8'), /^import .* from '(node:http|undici)';$/m, `${path} has no import that takes 10 MiB`)
})

t.test('each class exists once, whatever imports it', async (t) => {
  const definitions = paths
    .filter((path) => path.endsWith('.js'))
    .filter((path) => /^var ProreusError\d* = class|^class ProreusError\b/m.test(readFileSync(join(unpacked, path), 'utf8')))
  t.equal(definitions.length, 1)
})

t.test('packing builds first, so that no package has a missing or old build', async (t) => {
  const unbuilt = join(folder, 'unbuilt')
  mkdirSync(join(unbuilt, 'scripts'), { recursive: true })
  cpSync(join(repository, 'package.json'), join(unbuilt, 'package.json'))
  // This short script replaces the real build, because the real build takes a long time.
  const build = "import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync('dist'); writeFileSync('dist/built.js', '')"
  writeFileSync(join(unbuilt, 'scripts/build.ts'), build)
  symlinkSync(join(repository, 'node_modules'), join(unbuilt, 'node_modules'))
  const { stdout } = await finished('npm', ['pack', '--dry-run', '--json'], { cwd: unbuilt })
  const [{ files }] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [Packed]
  t.ok(files.some(({ path }) => path === 'dist/built.js'))
})
