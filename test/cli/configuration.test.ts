import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import t from 'tap'
import {
  applyConfigFile,
  parseBoolean,
  parseBytes,
  parseDuration,
  parseList,
  parsePort,
  parseShare,
  parseWebhookUrl,
  withoutAliases,
} from '../../src/cli/configuration.ts'

async function command(argv: string[], config?: string): Promise<Record<string, unknown>> {
  const made = new Command('x')
    .option('--config <file>', '', 'none.yaml')
    .addOption(new Option('--port <n>').argParser(parsePort).default(1).env('PROREUS_TEST_PORT'))
    .option('--install')
    .option('--operators <list>', '', 'all')
  made.parse([...(config === undefined ? [] : ['--config', config]), ...argv], { from: 'user' })
  await applyConfigFile(made)
  return made.opts()
}

t.test('flags take precedence over the environment, then the file, then the default', async (t) => {
  const file = join(t.testdir(), 'config.yaml')
  writeFileSync(file, 'port: 2\ninstall: true\noperators: [mypod, ./x.ts]\n')
  t.strictSame(await command([], file), { config: file, port: 2, install: true, operators: 'mypod,./x.ts' })
  t.strictSame(
    await command(['--operators', 'all'], file),
    { config: file, port: 2, install: true, operators: 'all' },
    'even with the value of the default',
  )
  t.equal((await command(['--port', '4'], file)).port, 4)
  process.env.PROREUS_TEST_PORT = '3'
  t.teardown(() => delete process.env.PROREUS_TEST_PORT)
  t.equal((await command([], file)).port, 3)
  t.equal((await command(['--port=4'], file)).port, 4)
})

t.test('an invalid configuration file is reported in one sentence', async (t) => {
  const directory = t.testdir({
    'unknown.yaml': 'colour: red',
    'broken.yaml': 'a: [',
    'list.yaml': '- a',
    'port.yaml': 'port: many',
    'yes.yaml': 'install: "yes"',
    'self.yaml': 'config: x',
  })
  const at = (file: string): string => join(directory, file)
  const cases: [string, string][] = [
    ['absent.yaml', `The configuration file ${at('absent.yaml')} does not exist.`],
    ['unknown.yaml', `${at('unknown.yaml')}: there is no option "colour". The options are: port, install, operators.`],
    ['list.yaml', `The configuration file ${at('list.yaml')} cannot be read: it is not a mapping of option names to values.`],
    ['port.yaml', `${at('port.yaml')}: port: a port is a number from 0 (any free one) to 65535.`],
    ['yes.yaml', `${at('yes.yaml')}: install: true or false is expected, found "yes".`],
    ['self.yaml', `${at('self.yaml')}: there is no option "config". The options are: port, install, operators.`],
  ]
  for (const [file, message] of cases) await t.rejects(command([], at(file)), { code: 'PRO_CONFIG_INVALID', message }, file)
  const broken = new RegExp(`^The configuration file ${at('broken.yaml')} cannot be read: [^\\n]* at line 1, column 5\\.$`)
  await t.rejects(command([], at('broken.yaml')), { code: 'PRO_CONFIG_INVALID', message: broken })
})

t.test('the default configuration file is optional, and may be empty', async (t) => {
  process.chdir(t.testdir({ 'empty.yaml': '# nothing yet\n', folder: { 'none.yaml': 'port: 7\n' } }))
  t.teardown(() => process.chdir(import.meta.dirname))
  t.strictSame(await command([]), { config: 'none.yaml', port: 1, operators: 'all' })
  t.strictSame(await command([], 'empty.yaml'), { config: 'empty.yaml', port: 1, operators: 'all' })
  process.chdir('folder')
  t.strictSame(await command([]), { config: 'none.yaml', port: 7, operators: 'all' }, 'from the default path')
  t.end()
})

t.test('values are parsed', async (t) => {
  t.equal(parseDuration('1.5s'), 1500)
  t.equal(parseDuration('2m'), 120_000)
  t.equal(parseDuration('500ms'), 500)
  t.equal(parseDuration('1h'), 3_600_000)
  t.equal(parseDuration('0s'), 0)
  for (const text of ['10', '', 's', '.5s', '-1s', '1 s', ' 1s', '1s ', '1d', '1.s', '1m30s'])
    t.throws(() => parseDuration(text), { message: 'a duration is a number with ms, s, m or h, e.g. 10s.' }, text)
  t.equal(parsePort('0'), 0)
  t.equal(parsePort('65535'), 65_535)
  for (const text of ['65536', '-1', '', '1.5', '0x1', 'a1', '1a'])
    t.throws(() => parsePort(text), { message: 'a port is a number from 0 (any free one) to 65535.' }, text)
  for (const [text, share] of [
    ['0', 0],
    ['1', 1],
    ['0.01', 0.01],
    ['.5', 0.5],
  ] as const) {
    t.equal(parseShare(text), share)
  }
  for (const text of ['', '.', '1.1', '-1', '1e-3', '5%', '0x1', 'a1'])
    t.throws(() => parseShare(text), { message: 'a share is a number from 0 to 1, e.g. 0.01.' }, text)
  t.equal(parseWebhookUrl('https://[::1]:9443/x'), 'https://[::1]:9443/x')
  for (const text of ['host:9443', 'http://host', 'https://'])
    t.throws(() => parseWebhookUrl(text), { message: 'write it as https://host:port.' }, text)
  for (const [text, bytes] of [
    ['1000', 1000],
    ['1.5', 1],
    ['2k', 2000],
    ['3M', 3_000_000],
    ['1.5G', 1_500_000_000],
    ['1Ki', 1024],
    ['512Mi', 536_870_912],
    ['2Gi', 2_147_483_648],
  ] as const) {
    t.equal(parseBytes(text), bytes, text)
  }
  for (const text of ['', '0', '0Mi', '-1', '1Kb', '1m', '1 Gi', '1e9', 'a1', '1Gib'])
    t.throws(() => parseBytes(text), { message: 'an amount of memory is written as 512Mi or 1Gi.' }, text)
  t.equal(parseBoolean('false'), false)
  t.equal(parseBoolean('true'), true)
  t.throws(() => parseBoolean('no'), { message: 'true or false.' })
  t.strictSame(parseList(' a, ,b'), ['a', 'b'])
  t.strictSame(parseList(''), [])
})

t.test('flags of other frameworks are accepted in both forms', async (t) => {
  t.strictSame(withoutAliases(['run', '--metrics-addr', ':1', '--zap-log-level=debug']), [
    'run',
    '--metrics-bind-address',
    ':1',
    '--log-level=debug',
  ])
  t.strictSame(withoutAliases(['--webhook-cert-path=a=b', '--metrics-cert-path=c', '--log-level=', 'x=--metrics-addr']), [
    '--cert-dir=a=b',
    '--metrics-cert-dir=c',
    '--log-level=',
    'x=--metrics-addr',
  ])
  t.strictSame(withoutAliases(['validate', 'constructor', '__proto__']), ['validate', 'constructor', '__proto__'])
})
