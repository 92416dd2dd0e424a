/** Tests of the exit codes and the standard error of command lines. */
import { join } from 'node:path'
import t from 'tap'
import { version } from '../../src/api/version.ts'
import { createProgram } from '../../src/cli/main.ts'
import { ended } from '../support/process/command-line.ts'

t.test('help and version exit with 0', async (t) => {
  for (const flag of ['-V', '--version']) t.strictSame(await ended(t, [flag]), { code: 0, stdout: `${version}\n`, stderr: '' })
  for (const args of [['-h'], ['--help'], ['certs', 'show', '-h']]) {
    const { code, stdout, stderr } = await ended(t, args)
    t.equal(code, 0)
    t.match(stdout, /^Usage: proreus/)
    t.equal(stderr, '')
  }
})

t.test('commands are listed in the order of use', (t) => {
  t.strictSame(
    createProgram().commands.map((command) => command.name()),
    ['dev', 'run', 'validate', 'generate', 'certs'],
  )
  t.end()
})

t.test('an invalid command line exits with 2, and points to the help', async (t) => {
  const cases: [string[], string, string][] = [
    [['--colour'], "unknown option '--colour'", 'proreus'],
    [['paint'], "unknown command 'paint'", 'proreus'],
    [['certs', 'paint'], "unknown command 'paint'", 'proreus certs'],
    [['certs', 'show', '--colour'], "unknown option '--colour'", 'proreus certs show'],
    [['generate', '--output'], "option '--output <folder>' argument missing", 'proreus generate'],
  ]
  for (const [args, problem, command] of cases)
    t.strictSame(await ended(t, args), { code: 2, stdout: '', stderr: `proreus: ${problem}\n(${command} --help shows what there is)\n` })
})

t.test('an error is one line, followed by the stack of an operator that cannot be loaded', async (t) => {
  const folder = t.testdir({ 'throws.mts': "export const operator = (() => {\n  throw new Error('one \\n  two')\n})()\n" })
  const lines = (await ended(t, ['generate', '--operators', './throws.mts'], folder)).stderr.split('\n')
  t.equal(lines[0], 'proreus: The operator ./throws.mts cannot be loaded: one two (./throws.mts:2:9).')
  t.equal(lines[1], '    at ./throws.mts:2:9')
  t.strictSame(await ended(t, ['generate', '--operators', './none.ts'], folder), {
    code: 1,
    stdout: '',
    stderr: 'proreus: The operator file ./none.ts does not exist: use a file that exports "operator".\n',
  })
})

t.test('a command that found problems prints no further error', async (t) => {
  const folder = t.testdir()
  const missing = (name: string): string => `${join(folder, name)} is missing: \`proreus certs issue\` makes it.\n`
  t.strictSame(await ended(t, ['certs', 'verify', '--cert-dir', folder]), {
    code: 1,
    stdout: '',
    stderr: missing('tls.crt') + missing('tls.key'),
  })
})

t.test('an unexpected error requests a bug report', async (t) => {
  const folder = t.testdir({
    'odd.ts':
      "export const operator = Object.freeze({ name: 'odd', kinds: [null], webhooks: [], conversions: [], controllers: [], rbac: [] })\n",
  })
  const { code, stdout, stderr } = await ended(t, ['generate', '--operators', './odd.ts'], folder)
  t.strictSame({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /^proreus: an unexpected error, please report it: TypeError: [^\n]*\n +at /)
})
