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

function command(argv: string[], config: string): Record<string, unknown> {
  const made = new Command('x')
    .option('--config <file>', '', 'none.yaml')
    .addOption(new Option('--port <n>').argParser(parsePort).default(1).env('PROREUS_TEST_PORT'))
    .option('--install')
    .option('--operators <list>', '', 'all')
  made.parse(['--config', config, ...argv], { from: 'user' })
  applyConfigFile(made)
  return made.opts()
}

t.test('a flag wins over the environment, that over the file, that over the default', async (t) => {
  const file = join(t.testdir(), 'config.yaml')
  writeFileSync(file, 'port: 2\ninstall: true\noperators: [mypod, ./x.ts]\n')
  t.match(command([], file), { port: 2, install: true, operators: 'mypod,./x.ts' })
  t.equal(command(['--port', '4'], file).port, 4)
  process.env.PROREUS_TEST_PORT = '3'
  t.teardown(() => delete process.env.PROREUS_TEST_PORT)
  t.equal(command([], file).port, 3)
  t.equal(command(['--port=4'], file).port, 4)
})

t.test('a file that cannot be used is one sentence', async (t) => {
  const directory = t.testdir({
    'unknown.yaml': 'colour: red',
    'broken.yaml': 'a: [',
    'list.yaml': '- a',
    'port.yaml': 'port: many',
    'yes.yaml': 'install: "yes"',
    'self.yaml': 'config: x',
  })
  const cases: [string, RegExp][] = [
    ['absent.yaml', /The configuration file .*absent\.yaml does not exist\./],
    ['unknown.yaml', /there is no option "colour"\. The options are: port, install, operators\./],
    ['broken.yaml', /cannot be read/],
    ['list.yaml', /it is no mapping/],
    ['port.yaml', /port: a port is a number/],
    ['yes.yaml', /install: true or false is expected, found "yes"/],
    ['self.yaml', /there is no option "config"/],
  ]
  for (const [file, message] of cases) t.throws(() => command([], join(directory, file)), { code: 'PRO_CONFIG_INVALID', message }, file)
})

t.test('values', async (t) => {
  t.equal(parseDuration('1.5s'), 1500)
  t.equal(parseDuration('2m'), 120_000)
  t.equal(parseDuration('500ms'), 500)
  t.equal(parseDuration('1h'), 3_600_000)
  t.throws(() => parseDuration('10'), { message: /a duration is a number with ms, s, m or h/ })
  t.throws(() => parsePort('65536'))
  t.throws(() => parsePort('-1'))
  for (const [text, share] of [
    ['0', 0],
    ['1', 1],
    ['0.01', 0.01],
    ['.5', 0.5],
  ] as const) {
    t.equal(parseShare(text), share)
  }
  for (const text of ['', '1.1', '-1', '1e-3', '5%', '0x1'])
    t.throws(() => parseShare(text), { message: /a share is a number from 0 to 1/ })
  t.equal(parseWebhookUrl('https://[::1]:9443/x'), 'https://[::1]:9443/x')
  for (const text of ['host:9443', 'http://host', 'https://'])
    t.throws(() => parseWebhookUrl(text), { message: /https:\/\/host:port/ }, text)
  for (const [text, bytes] of [
    ['1000', 1000],
    ['2k', 2000],
    ['3M', 3_000_000],
    ['1.5G', 1_500_000_000],
    ['1Ki', 1024],
    ['512Mi', 536_870_912],
    ['2Gi', 2_147_483_648],
  ] as const) {
    t.equal(parseBytes(text), bytes, text)
  }
  for (const text of ['', '0', '0Mi', '-1', '1Kb', '1m', '1 Gi', '1e9'])
    t.throws(() => parseBytes(text), { message: /an amount of memory is written as 512Mi or 1Gi/ }, text)
  t.equal(parseBoolean('false'), false)
  t.throws(() => parseBoolean('no'))
  t.strictSame(parseList(' a, ,b'), ['a', 'b'])
  t.strictSame(parseList(''), [])
})

t.test('names of flags from other frameworks are understood in both forms', async (t) => {
  t.strictSame(withoutAliases(['run', '--metrics-addr', ':1', '--zap-log-level=debug']), [
    'run',
    '--metrics-bind-address',
    ':1',
    '--log-level=debug',
  ])
  t.strictSame(withoutAliases(['validate', 'constructor', '__proto__']), ['validate', 'constructor', '__proto__'])
})
