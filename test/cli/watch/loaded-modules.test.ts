/** Tests of the reports about the modules that a process loads. */
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { finished, repository } from '../../support/process/process.ts'

t.test('each module is reported once, before it is loaded, and a missing one is, too; packages are not', async (t) => {
  const folder = t.testdir({
    'main.ts':
      "import './a.ts'\nimport './b.cjs'\nimport data from './data.json' with { type: 'json' }\nimport 'some-package'\nexport default data\nawait import('./missing.ts')\n",
    'a.ts': "import './lib/c.ts'\nimport './lib/c.ts?again'\n",
    'b.cjs': "require('./lib/d.cjs')\nrequire('node:fs')\n",
    'data.json': '{}',
    lib: { 'c.ts': "process.stdout.write('c runs\\n')\n", 'd.cjs': '' },
    node_modules: { 'some-package': { 'index.js': 'export {}', 'package.json': '{ "type": "module", "exports": "./index.js" }' } },
  })
  const source = join(repository, 'src/cli/watch/loaded-modules.ts')
  writeFileSync(
    join(folder, 'start.ts'),
    `import { onLoad } from '${source}'
onLoad((path) => process.stdout.write(path + '\\n'))
await import('./main.ts').catch(({ code }) => process.stdout.write(code + '\\n'))
`,
  )
  const { stdout, stderr, code } = await finished(process.execPath, [join(folder, 'start.ts')])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  const lines = stdout.trim().split('\n').map((line) => (line.startsWith('/') ? relative(folder, line) : line)) // prettier-ignore
  t.strictSame([...lines].sort(), ['ERR_MODULE_NOT_FOUND', 'a.ts', 'b.cjs', 'c runs', 'data.json', 'lib/c.ts', 'lib/d.cjs', 'main.ts', 'missing.ts', 'c runs'].sort()) // prettier-ignore
  t.ok(lines.indexOf('lib/c.ts') < lines.indexOf('c runs'))
})
