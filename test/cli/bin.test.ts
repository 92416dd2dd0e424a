import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, proreus, repository, startProreus } from '../support/process/process.ts'

t.test('--version prints the version', async (t) => {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }
  t.strictSame(await proreus(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
})

t.test('the help lists every command, and each command its flags', async (t) => {
  const { stdout } = await proreus(['--help'])
  for (const command of ['dev', 'run', 'validate', 'generate', 'certs']) {
    t.match(stdout, new RegExp(`^  ${command} `, 'm'))
    t.match((await proreus([command, '--help'])).stdout, /^Usage: proreus/)
  }
})

t.test('a reader of the output that ends early, such as head, causes no error', async (t) => {
  const command = [process.execPath, '--conditions=proreus-source', join(repository, 'src/cli/bin.ts'), '--help']
  t.strictSame(await finished('sh', ['-c', '"$@" | true', 'sh', ...command]), { code: 0, stdout: '', stderr: '' })
})

t.test('an old Node.js is refused in one sentence', async (t) => {
  const pretend = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.18.0" } })'
  t.strictSame(await finished(process.execPath, ['--import', pretend, join(repository, 'src/cli/bin.ts'), '--version']), {
    code: 1,
    stdout: '',
    stderr: 'proreus needs Node.js 22.19 or later; this is 22.18.0.\n',
  })
})

t.test('the reference pages are up to date', async (t) => {
  t.strictSame(await finished(process.execPath, ['--conditions=proreus-source', 'scripts/docs.ts', '--check'], { cwd: repository }), {
    code: 0,
    stdout: '',
    stderr: '',
  })
})

t.test('the generated manifests are up to date', async (t) => {
  t.strictSame(await proreus(['generate', '--check'], { cwd: repository }), { code: 0, stdout: '', stderr: '' })
})

t.test('after an uncaught exception the exit code is 1, although the command stops in order', async (t) => {
  const cwd = t.testdir({
    'late.ts': `import { core, defineController, defineOperator } from 'proreus'

const reconcile = async () => {
  setImmediate(() => {
    throw new Error('too late')
  })
}
export const operator = defineOperator({ name: 'late', kinds: [], controllers: [defineController(core.namespace, { reconcile })] })
`,
  })
  const dev = startProreus(['dev', '--operators', './late.ts', '--port', '0', '--log-format', 'json'], { cwd })
  t.teardown(() => dev.stop())
  t.equal(await dev.ended, 1)
  t.match(dev.output(), /"level":"fatal".*uncaught exception: too late/)
})
