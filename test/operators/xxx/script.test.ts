/**
 * A test of the build script with 10,000 generated specs. The real bash runs the script with the arguments that a kubelet would pass. Shell
 * functions replace git, cd, bash and cp, and record their arguments. The script finds no other program, because PATH is an empty folder.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildScript } from '../../../src/operators/xxx/build-job.ts'
import { buildJob } from '../../../src/operators/xxx/build-job.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import { xxx } from '../../../src/operators/xxx/kind.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { commandOf } from '../../../src/devcluster/pods/environment/command.ts'
import { schemaOf } from '../../../src/schema/kind-schema.ts'
import { fc } from '../../support/property.ts'
import { seed } from '../../support/seed.ts'
import { anXxx } from '../../support/xxx/objects.ts'

t.setTimeout(300_000)

const count = 10_000

/** Texts that a shell, git or Kubernetes could interpret. A shell that interprets one of the first nine writes to the file `canary`. */
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

/** Generates an invalid value in one of 13 cases. Most values are valid, because only specs in which all values are valid are used. */
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

const schema = schemaOf(xxx)
const isValid = (spec: Xxx['spec']): boolean => schema.validate(JSON.parse(JSON.stringify(anXxx(spec)))).length === 0

/** A bash script. Each eight words of its stdin are a command that it runs. The bash of this command inherits the exported functions. */
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

  const argvs = valid.map((spec) => {
    const { env = [], command } = buildJob(anXxx(spec), defaultOptions, undefined).spec!.template.spec!.containers[0]!
    const variables = new Map(env.map(({ name, value = '' }) => [name, value]))
    return commandOf({ name: 'golang', command: command! }, { variables, hostname: 'pod' }).command
  })
  t.ok(argvs.every((argv) => argv.length === 8 && argv[2] === buildScript))
  const file = join(directory, 'argvs')
  writeFileSync(file, argvs.map((argv) => argv.map((word) => `${word}\0`).join('')).join(''))
  const bash = execFileSync('/bin/sh', ['-c', 'command -v bash'], { encoding: 'utf8' }).trim()
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
