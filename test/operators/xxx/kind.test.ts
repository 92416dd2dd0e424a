import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { crdOf } from '../../../src/manifests/crd.ts'
import { isBinaryName, xxx } from '../../../src/operators/xxx/kind.ts'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import { defaultXxx } from '../../../src/operators/xxx/webhook.ts'
import { schemaOf } from '../../../src/schema/kind-schema.ts'
import { repository } from '../../support/process/process.ts'
import { fc } from '../../support/property.ts'
import { anXxx } from '../../support/xxx/objects.ts'

const errorsOf = (spec: Partial<Xxx['spec']>): string[] =>
  schemaOf(xxx)
    .validate(JSON.parse(JSON.stringify(anXxx(spec))))
    .map(({ path, message }) => `${path}: ${message}`)

t.test('usual values are valid', async (t) => {
  for (const gitUrl of [
    'https://user:secret@example.com:8443/a/b.git?x=1',
    'http://[::1]:8080/a',
    'ssh://git@example.com/a',
    'git://example.com/a',
    'git@github.com:owner/repository.git',
    'git@host:~/a',
  ])
    t.strictSame(errorsOf({ gitUrl }), [], gitUrl)
  for (const clonePath of ['/src', '/root/go/src/x', '/optional/x', '/a/opt', '/a/..b/.c', '/home/a/-b', '/devel'])
    t.strictSame(errorsOf({ clonePath }), [], clonePath)
  for (const binaryName of ['a', '_a', '.a', '..a', 'a.b-c_d', 'a'.repeat(255)]) t.strictSame(errorsOf({ binaryName }), [], binaryName)
  for (const jobName of ['a', '0', 'a-b', 'a'.repeat(56)]) t.strictSame(errorsOf({ jobName }), [], jobName)
  for (const buildCommand of ['go build', 'a; b && c | d > "e"', '"$(x)"', 'ä'.repeat(4096)])
    t.strictSame(errorsOf({ buildCommand }), [], buildCommand)
})

t.test('an invalid value is an error with the rule', async (t) => {
  for (const [spec, message] of [
    [{ binaryName: 'a;b' }, /^spec\.binaryName: Invalid value: "a;b": spec\.binaryName in body should match /],
    [{ binaryName: '..' }, /^spec\.binaryName: .*must be the name of a file, not a folder$/],
    [{ clonePath: '/a/..' }, /^spec\.clonePath: .*must not have the elements "\." and "\.\."$/],
    [{ clonePath: '/opt' }, /^spec\.clonePath: .*must not be in one of the folders \/opt, \/etc, /],
    [{ clonePath: '/lib64/x' }, /^spec\.clonePath: .*must not be in one of the folders/],
    [{ gitUrl: 'https://a/\n' }, /^spec\.gitUrl: Invalid value: "https:\/\/a\/\\n"/],
    [{ gitUrl: 'ext::sh -c x' }, /^spec\.gitUrl: Invalid value/],
    [{ buildCommand: 'a\rb' }, /^spec\.buildCommand: Invalid value/],
    [{ jobName: 'a-' }, /^spec\.jobName: Invalid value/],
  ] as const)
    t.match(errorsOf(spec), [message])
})

t.test('the reconciler and the schema accept the same file names', async () => {
  const name = fc.string({ unit: fc.constantFrom(...'aZ0._-/\n é$'), maxLength: 6 })
  fc.assert(fc.property(name, (binaryName) => isBinaryName(binaryName) === (errorsOf({ binaryName }).length === 0)))
  fc.assert(fc.property(fc.integer({ min: 250, max: 260 }), (length) => isBinaryName('a'.repeat(length)) === length <= 255))
})

t.test('a new Xxx gets the finalizer, and blanks around values are removed', async (t) => {
  const finalizer = 'job.finalizers.test.inspur.com'
  const { metadata, spec } = anXxx({ binaryName: ' a ', buildCommand: '\tmake  all\n' })
  const created = defaultXxx({ ...anXxx(), metadata, spec }, { operation: 'CREATE' })
  t.strictSame(created.metadata.finalizers, [finalizer])
  t.match(created.spec, { binaryName: 'a', buildCommand: 'make  all' })
  const own = { ...metadata, finalizers: ['example.com/other', finalizer] }
  t.strictSame(defaultXxx({ ...anXxx(), metadata: own }, { operation: 'CREATE' }).metadata.finalizers, own.finalizers)
  t.equal(defaultXxx(anXxx(), { operation: 'UPDATE' }).metadata.finalizers, undefined, 'the controller adds it')
})

t.test('the generated CRD is up to date', async (t) => {
  const file = readFileSync(join(repository, 'config/crd/bases/test.inspur.com_xxxes.yaml'), 'utf8')
  t.strictSame(parse(file), JSON.parse(JSON.stringify(crdOf(xxx))), 'otherwise "npm run generate" was not run')
})
