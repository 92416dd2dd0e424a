import { join, relative } from 'node:path'
import t from 'tap'
import type { LoadError } from '../../src/cli/load-error.ts'
import { loadOperator } from '../../src/cli/load-operator.ts'

const folder = t.testdir({
  'throws.ts': "export function fail(): never {\n  throw new Error('no luck.')\n}\nfail()\n",
  'imports.ts': "import './throws.ts'\n",
  'syntax.ts': 'const a: number = 1\nconst b = a as;\n',
  'text.ts': "throw 'a text'\n",
  'nothing.ts': 'export const other = 1\n',
  'quiet.ts': 'throw Object.assign(new Error("no stack"), { stack: undefined })\n',
  module: { 'package.json': '{ "type": "module" }', 'broken.ts': 'export {\n', 'imports.cjs': "import 'node:path'\n" },
  commonjs: {
    below: { 'exports.js': 'export const operator = 1\n', 'odd.js': 'const = 1\n' },
    'package.json': '{ "type": "commonjs" }',
    'hello.ts': "import { join } from 'node:path'\nexport const operator = join\n",
  },
})
/** Returns the path of a file relative to the working directory. Error messages contain this form of the path. */
const shown = (name: string): string => `./${relative(process.cwd(), join(folder, name))}`

async function errorOf(name: string): Promise<LoadError> {
  return loadOperator(join(folder, name)).then(
    () => Promise.reject(new Error(`${name} was loaded`)),
    (error: unknown) => error as LoadError,
  )
}

t.test('an error while loading a file has its place and stack', async (t) => {
  for (const name of ['throws.ts', 'imports.ts']) {
    const error = await errorOf(name)
    t.equal(error.code, 'PRO_CONFIG_INVALID')
    t.equal(error.message, `The operator ${join(folder, name)} cannot be loaded: no luck (${shown('throws.ts')}:2:9).`)
    t.strictSame(error.frames.slice(0, 2), [`at fail (${shown('throws.ts')}:2:9)`, `at ${shown('throws.ts')}:4:1`])
  }
})

t.test('a syntax error has its place', async (t) => {
  const { message, frames } = await errorOf('syntax.ts')
  t.ok(message.endsWith(` (${shown('syntax.ts')}:2:15).`), message)
  t.strictSame(frames, [])
})

t.test('a thrown value that is not an error is reported', async (t) => {
  t.equal((await errorOf('text.ts')).message, `The operator ${join(folder, 'text.ts')} cannot be loaded: a text.`)
})

t.test('a file without an operator, and a missing file, are refused', async (t) => {
  await t.rejects(loadOperator(join(folder, 'nothing.ts')), {
    code: 'PRO_CONFIG_INVALID',
    message: `${join(folder, 'nothing.ts')} exports no "operator" made with defineOperator.`,
  })
  await t.rejects(loadOperator('./absent.ts'), {
    code: 'PRO_CONFIG_INVALID',
    message: 'The operator file ./absent.ts does not exist: use a file that exports "operator".',
  })
})

t.test('a module in a package of type commonjs is explained', async (t) => {
  const { message } = await errorOf('commonjs/hello.ts')
  t.match(message, `hello.ts:1:1): ${shown('commonjs/package.json')} has "type": "commonjs". Write "type": "module" there`)
  t.match(message, /\(npm pkg set type=module\), or end the name of the file with \.mts\.$/)
})

t.test('other errors are not explained by the package type', async (t) => {
  const exports = (await errorOf('commonjs/below/exports.js')).message
  t.ok(exports.includes(`: ${shown('commonjs/package.json')} has "type": "commonjs".`), exports)
  t.ok(exports.endsWith('or end the name of the file with .mjs.'), exports)
  const { message } = await errorOf('module/imports.cjs')
  t.match(message, /cannot be loaded: Cannot use import statement outside a module \(.*\/module\/imports\.cjs:1(:1)?\)\.$/)
  for (const name of ['commonjs/below/odd.js', 'module/broken.ts', 'syntax.ts']) t.notMatch((await errorOf(name)).message, /commonjs"/)
})

t.test('an error without a stack has no place', async (t) => {
  const { message, frames } = await errorOf('quiet.ts')
  t.equal(message, `The operator ${join(folder, 'quiet.ts')} cannot be loaded: no stack.`)
  t.strictSame(frames, [])
})

t.test('an operator is loaded from its file', async (t) => {
  const { name } = await loadOperator(join(import.meta.dirname, '../../docs/examples/hello.ts'))
  t.equal(name, 'hello')
})
