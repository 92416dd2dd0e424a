/** Tests of the exit codes and the standard error of command lines. */
import { join } from 'node:path'
import type { Command } from 'commander'
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

t.test('commands are listed in the order of use', async (t) => {
  const { commands } = await createProgram()
  t.strictSame(
    commands.map((command) => command.name()),
    ['dev', 'run', 'validate', 'generate', 'certs'],
  )
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
    t.strictSame(await ended(t, args), {
      code: 2,
      stdout: '',
      stderr: `proreus: ${problem}\n(${command} --help lists the commands and options)\n`,
    })
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
      "export const operator = Object.freeze({ name: 'odd', kinds: [null], webhooks: [], conversions: [], controllers: [], rbac: [], runnables: [], checks: {} })\n",
  })
  const { code, stdout, stderr } = await ended(t, ['generate', '--operators', './odd.ts'], folder)
  t.strictSame({ code, stdout }, { code: 1, stdout: '' })
  t.match(stderr, /^proreus: an unexpected error, please report it: TypeError: [^\n]*\n +at /)
})

/**
 * Describes the flags and arguments of a command and its subcommands. The description of a flag contains its environment variable and its
 * default. If the flag has choices, the description also contains the choices. The description of an argument contains the booleans
 * `required` and `variadic`.
 */
function flagsOf(command: Command, path: readonly string[] = []): Record<string, readonly unknown[]> {
  return Object.assign(
    {},
    ...command.options.map(({ flags, envVar, defaultValue, argChoices }) => ({
      [[...path, flags].join(' ')]: [envVar, defaultValue as unknown, ...(argChoices === undefined ? [] : [argChoices])],
    })),
    ...command.registeredArguments.map((argument) => ({
      [[...path, argument.name()].join(' ')]: [argument.required, argument.variadic],
    })),
    ...command.commands.map((child) => flagsOf(child, [...path, child.name()])),
  ) as Record<string, readonly unknown[]>
}

t.test('each command has its flags, with their variables, defaults and choices', async (t) => {
  const operators = ['PROREUS_OPERATORS', undefined]
  const name = ['PROREUS_NAME', undefined]
  const logLevel = ['LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'silent']]
  const logFormat = ['LOG_FORMAT', 'auto', ['auto', 'json', 'pretty']]
  t.strictSame(flagsOf(await createProgram()), {
    '-V, --version': [undefined, undefined],
    'dev --operators <list>': operators,
    'dev --name <name>': name,
    'dev --port <port>': [undefined, undefined],
    'dev --state-dir <folder>': [undefined, '.proreus'],
    'dev --data-dir <folder>': [undefined, undefined],
    'dev --ephemeral': [undefined, undefined],
    'dev --reset': [undefined, undefined],
    'dev --cert-dir <folder>': [undefined, 'certs'],
    'dev --nodes <count>': [undefined, 1],
    'dev --node <node>': [undefined, undefined],
    'dev --delays <delays>': [undefined, undefined],
    'dev --pods <mode>': [undefined, 'simulated', ['simulated', 'process']],
    'dev --pods-image <image>': [undefined, undefined],
    'dev --check': [undefined, undefined],
    'dev --watch': [undefined, undefined],
    'dev --controllers <list>': [undefined, undefined],
    'dev --log-level <level>': logLevel,
    'dev --log-format <format>': logFormat,
    'run --operators <list>': operators,
    'run --name <name>': name,
    'run --kubeconfig <file>': [undefined, undefined],
    'run --context <name>': [undefined, undefined],
    'run --service-account-dir <folder>': ['SERVICE_ACCOUNT_DIR', '/var/run/secrets/kubernetes.io/serviceaccount'],
    'run --namespace <name>': ['POD_NAMESPACE', undefined],
    'run --watch-namespace <list>': ['WATCH_NAMESPACE', []],
    'run --enable-webhooks [bool]': ['ENABLE_WEBHOOKS', true],
    'run --webhook-host <address>': ['WEBHOOK_HOST', undefined],
    'run --webhook-port <port>': ['WEBHOOK_PORT', 9443],
    'run --webhook-url <url>': ['WEBHOOK_URL', undefined],
    'run --webhook-service <name>': ['WEBHOOK_SERVICE', undefined],
    'run --review-log-sampling <share>': ['REVIEW_LOG_SAMPLING', 0],
    'run --tls-min-version <version>': ['TLS_MIN_VERSION', 'VersionTLS12', ['VersionTLS12', 'VersionTLS13']],
    'run --tls-cipher-suites <list>': [
      'TLS_CIPHER_SUITES',
      [
        'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
        'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
        'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
        'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
        'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
        'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
      ],
    ],
    'run --memory-limit <quantity>': ['MEMORY_LIMIT', undefined],
    'run --cert-dir <folder>': ['CERT_DIR', undefined],
    'run --cert-secret <name>': ['CERT_SECRET', undefined],
    'run --health-probe-bind-address <address>': ['HEALTH_PROBE_BIND_ADDRESS', undefined],
    'run --metrics-bind-address <address>': ['METRICS_BIND_ADDRESS', undefined],
    'run --leader-elect [bool]': ['LEADER_ELECT', undefined],
    'run --leader-elect-lease-duration <duration>': ['LEADER_ELECT_LEASE_DURATION', undefined],
    'run --leader-elect-renew-deadline <duration>': ['LEADER_ELECT_RENEW_DEADLINE', undefined],
    'run --leader-elect-retry-period <duration>': ['LEADER_ELECT_RETRY_PERIOD', undefined],
    'run --leader-elect-resource-name <name>': ['LEADER_ELECT_RESOURCE_NAME', undefined],
    'run --leader-elect-resource-namespace <name>': ['LEADER_ELECT_RESOURCE_NAMESPACE', undefined],
    'run --metrics-secure [bool]': ['METRICS_SECURE', undefined],
    'run --metrics-cert-dir <folder>': ['METRICS_CERT_DIR', undefined],
    'run --debug-bind-address <address>': ['DEBUG_BIND_ADDRESS', '0'],
    'run --drain-delay <duration>': ['DRAIN_DELAY', undefined],
    'run --drain-deadline <duration>': ['DRAIN_DEADLINE', 30_000],
    'run --install': [undefined, undefined],
    'run --force-conflicts': [undefined, undefined],
    'run --config <file>': [undefined, 'config/proreus.yaml'],
    'run --log-level <level>': logLevel,
    'run --log-format <format>': logFormat,
    'validate --operators <list>': operators,
    'validate -o, --output <format>': [undefined, 'text', ['text', 'json']],
    'validate file': [true, true],
    'generate --operators <list>': operators,
    'generate --name <name>': name,
    'generate --output <folder>': [undefined, 'config'],
    'generate --check': [undefined, undefined],
    'certs issue --cert-dir <folder>': [undefined, 'certs'],
    'certs issue --name <dns>': [undefined, ['localhost']],
    'certs issue --ip <address>': [undefined, ['127.0.0.1']],
    'certs show --cert-dir <folder>': [undefined, 'certs'],
    'certs verify --cert-dir <folder>': [undefined, 'certs'],
    'certs verify --name <dns>': [undefined, []],
    'certs verify --ip <address>': [undefined, []],
  })
})
