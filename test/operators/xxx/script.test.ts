/**
 * Tests of the build script. One test runs it for 10,000 generated specs. The real bash runs the script with the arguments that a kubelet
 * would pass. Shell functions replace git, cd, bash and cp, and record their arguments. The script finds no other program, because PATH is
 * an empty folder.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildJob, buildScript } from '../../../src/operators/xxx/build-job.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import { xxx } from '../../../src/operators/xxx/kind.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { commandOf } from '../../../src/devcluster/pods/environment/command.ts'
import { schemaOf } from '../../../src/schema/kind-schema.ts'
import { fc } from '../../support/property.ts'
import { seed } from '../../support/seed.ts'
import { anXxx, sampleSpec } from '../../support/xxx/objects.ts'

t.setTimeout(300_000)

const count = 10_000

/**
 * Texts that a shell, git or Kubernetes could interpret. If a shell interprets one of the first nine texts, the file `canary` is written.
 */
const hostile = [
  ...[
    ';echo>canary',
    '$(echo>canary)',
    '`echo>canary`',
    '|echo>canary',
    '&&echo>canary',
    '>canary',
    '2>canary',
    '<(echo>canary)',
    ';:>canary;',
  ],
  ...[
    '$(HOME)',
    '$$(HOME)',
    '$HOME',
    '${HOME}',
    '$$',
    '$0',
    '$@',
    '$(GIT_ALLOW_PROTOCOL)',
    "'",
    '"',
    '\\',
    '*',
    '?',
    '~',
    '#',
    '!',
    '{a,b}',
    '%0a',
    '--',
    '-x',
  ],
]
const part = fc.constantFrom(...hostile)
const urlText = fc.array(
  fc.oneof(part, fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 8 })),
  {
    maxLength: 6,
  },
)
const word = (characters: string, minLength = 1) => fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength: 12 })
const fileCharacters = 'abcXYZ019._-'

/**
 * Generates a value of `invalid` in 1 of 13 cases, and otherwise a value of `valid`. The schema rejects almost all specs that contain a
 * value of `invalid`, and the test skips the rejected specs. Values of `invalid` must therefore be rare.
 */
const rarely = (valid: fc.Arbitrary<string>, invalid: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: invalid })

const gitUrl = fc.oneof(
  fc
    .tuple(fc.constantFrom('https://', 'http://', 'ssh://', 'git://'), word('abc019_['), urlText)
    .map(([scheme, host, rest]) => scheme + host + rest.join('')),
  fc
    .tuple(word('abc_'), word('abc019'), word('abc./~_'), urlText)
    .map(([user, host, path, rest]) => `${user}@${host}:${path}${rest.join('')}`),
)
const path = fc
  .array(rarely(word(fileCharacters), fc.constantFrom('.', '..', '')), { minLength: 1, maxLength: 5 })
  .map((parts) => `/${parts.join('/')}`)
const specs = fc.record({
  gitUrl: rarely(gitUrl, part),
  clonePath: rarely(
    path,
    fc.tuple(path, part).map((parts) => parts.join('')),
  ),
  buildCommand: fc.array(fc.oneof(part, fc.constant('go build'))).map((parts) => `make ${parts.join(' ')}`),
  binaryName: rarely(
    word(fileCharacters),
    fc.tuple(word(fileCharacters), part).map((parts) => parts.join('')),
  ),
  jobName: rarely(word('abc019'), part),
})

const bash = execFileSync('/bin/sh', ['-c', 'command -v bash'], { encoding: 'utf8' }).trim()

/** Returns the command and the variables with which the kubelet starts the build of this spec. */
function startOf(spec: Partial<Xxx['spec']>): { readonly argv: readonly string[]; readonly environment: Readonly<Record<string, string>> } {
  const { env = [], command } = buildJob(anXxx(spec), defaultOptions, undefined).spec!.template.spec!.containers[0]!
  const variables = new Map(env.map(({ name, value = '' }) => [name, value]))
  const { command: argv, environment } = commandOf({ name: 'golang', command: command! }, { variables, hostname: 'pod' })
  return { argv, environment }
}

const schema = schemaOf(xxx)
const isValid = (spec: Xxx['spec']): boolean => schema.validate(JSON.parse(JSON.stringify(anXxx(spec)))).length === 0

/**
 * This bash script reads commands of eight words each from stdin, and runs each command. In these commands, the exported functions replace
 * git and the other programs.
 */
const driver = `
record() { printf '%s\\0' "$@"; }
git() { record git "$@"; }
cd() { record cd "$@"; }
bash() { record bash "$@"; }
cp() { record cp "$@"; }
export -f record git cd bash cp
while mapfile -d '' -t -n 8 words && ((\${#words[@]} == 8)); do
  [[ \${words[0]} == bash ]] || exit 1
  "$BASH" "\${words[@]:1}" || exit 1
  record end
done
`

t.test('the script gives each valid value to its program as one argument, and nothing else runs', async (t) => {
  const directory = t.testdir({ empty: {}, work: { canary: 'alive' } })
  const valid: Xxx['spec'][] = []
  for (let round = 0; valid.length < count; round += 1)
    valid.push(...fc.sample(specs, { numRuns: count, seed: seed + round }).filter(isValid))
  valid.length = count
  t.comment(`seed ${seed}`)

  const argvs = valid.map((spec) => startOf(spec).argv)
  t.ok(argvs.every((argv) => argv.length === 8 && argv[2] === buildScript))
  const file = join(directory, 'argvs')
  writeFileSync(file, argvs.map((argv) => argv.map((word) => `${word}\0`).join('')).join(''))
  const output = execFileSync('/bin/sh', ['-c', `exec "$0" -c "$1" <"$2"`, bash, driver, file], {
    cwd: join(directory, 'work'),
    env: { PATH: join(directory, 'empty') },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const expected = valid.flatMap(({ gitUrl, clonePath, buildCommand, binaryName }) => [
    ...['git', 'clone', '--', gitUrl, clonePath],
    ...['cd', '--', clonePath],
    ...['bash', '-c', buildCommand],
    ...['cp', '--', binaryName, '/opt/'],
    'end',
  ])
  const recorded = output.split('\0').slice(0, -1)
  const wrong = recorded.findIndex((word, index) => word !== expected[index])
  t.equal(wrong, -1, wrong < 0 ? 'all arguments are as in the specs' : `${recorded[wrong]} instead of ${expected[wrong]}`)
  t.equal(recorded.length, expected.length)
  t.strictSame(readdirSync(join(directory, 'work')), ['canary'])
  t.equal(readFileSync(join(directory, 'work/canary'), 'utf8'), 'alive')
  t.strictSame(readdirSync(join(directory, 'empty')), [])
})

t.test('the build ends with the first program that fails, and with its exit status', async (t) => {
  const programs = ['git', 'cd', 'bash', 'cp'] as const
  const empty = t.testdir()
  for (const [index, failing] of programs.entries()) {
    const functions = programs.map((name) => `${name}() { echo ${name}; ${name === failing ? 'return 7' : ':'}; }; export -f ${name};`)
    const { argv } = startOf({})
    const { status, stdout } = spawnSync(bash, ['-c', `${functions.join('\n')}\n"$BASH" "$@"`, 'driver', ...argv.slice(1)], {
      env: { PATH: empty },
      encoding: 'utf8',
    })
    t.strictSame([status, stdout.split('\n').slice(0, -1)], [7, programs.slice(0, index + 1)], failing)
  }
})

const hasGit = spawnSync('git', ['--version']).status === 0

t.test('git fetches from the network alone', { skip: !hasGit && 'needs git' }, async (t) => {
  const directory = t.testdir({ source: { file: 'secret' }, bin: {} })
  const git = (...args: readonly string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: join(directory, 'source'),
      stdio: 'ignore',
    })
  git('init')
  git('add', '.')
  git('commit', '-m', 'hello')
  const canary = join(directory, 'canary')
  // The schema refuses such URLs. git may still find them in a redirect, or in a submodule of the repository.
  for (const [gitUrl, protocol] of [
    [`file://${join(directory, 'source')}`, 'file'],
    [join(directory, 'source'), 'file'],
    [`ext::touch ${canary}`, 'ext'],
    ['fd::0', 'fd'],
    ['ftp://127.0.0.1:1/a', 'ftp'],
  ] as const) {
    const clonePath = join(directory, 'clone')
    const { argv, environment } = startOf({ gitUrl, clonePath, buildCommand: 'cat file' })
    const { status, stdout, stderr } = spawnSync(bash, argv.slice(1), {
      env: { ...environment, HOME: directory, PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
    t.equal(status, 128, gitUrl)
    t.equal(stdout, '')
    t.match(stderr, `fatal: transport '${protocol}' not allowed`)
    t.notOk(existsSync(join(clonePath, 'file')))
  }
  t.notOk(existsSync(canary))
})

t.test('git gets the protocols that the schema accepts, prompts for no password, and reads a repository of another user', async (t) => {
  const clonePath = '/root/src'
  const functions = 'git() { echo "$GIT_ALLOW_PROTOCOL"; echo "$GIT_TERMINAL_PROMPT"; exit 1; }; export -f git;'
  const { argv, environment } = startOf({ clonePath })
  const { stdout } = spawnSync(bash, ['-c', `${functions}\n"$BASH" "$@"`, 'driver', ...argv.slice(1)], {
    env: environment,
    encoding: 'utf8',
  })
  const [protocols = '', prompt] = stdout.split('\n')
  t.strictSame(protocols.split(':').sort(), ['git', 'http', 'https', 'ssh'])
  for (const protocol of protocols.split(':')) t.ok(isValid({ ...sampleSpec, gitUrl: `${protocol}://example.com/a` }), protocol)
  t.equal(prompt, '0')
  const names = Object.keys(environment).filter((name) => /^GIT_CONFIG_(KEY|VALUE)_/.test(name))
  t.strictSame(names.sort(), ['GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0'])
  t.match(environment, { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: clonePath })
})
