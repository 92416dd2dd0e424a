import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'

t.test('the paths in CONTRIBUTING.md exist', (t) => {
  const page = readFileSync('CONTRIBUTING.md', 'utf8')
  const paths = [...page.matchAll(/`((?:src|test|scripts|tools|docs)\/[^`\s]*)`/g)].map(([, path]) => path!)
  t.ok(paths.length > 60, `${paths.length} paths`)
  t.strictSame(
    paths.filter((path) => !existsSync(path)),
    [],
  )
  t.end()
})

t.test('every folder of src, and every layer of those that have layers, has an import rule', async (t) => {
  const { default: config } = (await import(pathToFileURL('eslint.config.js').href)) as { default: readonly { files?: unknown[] }[] }
  const ruled = config.flatMap(({ files = [] }) => files.filter((one) => typeof one === 'string'))
  const foldersOf = (parent: string): string[] =>
    readdirSync(parent, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [`${parent}/${entry.name}/**/*.ts`] : []))
  t.strictSame(
    [...foldersOf('src'), ...foldersOf('src/cel'), ...foldersOf('src/devcluster'), ...foldersOf('src/webhook')].filter(
      (files) => !ruled.includes(files),
    ),
    [],
  )
})
