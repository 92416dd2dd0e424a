/** Tests of the validation of an object before it is written. */
import t from 'tap'
import type { FieldError } from '../../../src/api/field-error.ts'
import { formatFieldError, invalid } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { validateForWrite } from '../../../src/devcluster/registry/validate.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { foos, refusal } from '../../support/devcluster/registry.ts'

const builtin = (plural: string): ResourceInfo => builtinResources.find((row) => row.plural === plural)!
const problem = (field: string): FieldError => invalid(field, 'x', 'broken')
const text = (field: string): string => `${field}: Invalid value: "x": broken`
const metadata = { name: 'a', namespace: 'n', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }

/** Returns a type whose schema reports these errors. `calls` records the steps of the validation. */
function withSchema(found: { structure?: string; status?: string; rules?: string; warning?: string }) {
  const calls: unknown[] = []
  const errorsOf = (field: string | undefined): FieldError[] => (field === undefined ? [] : [problem(field)])
  const schema = {
    validateStructure: (_object: JsonObject, old: unknown) => (calls.push(['structure', old]), errorsOf(found.structure)),
    validateStatus: (_object: JsonObject, old: unknown) => (calls.push(['status', old]), errorsOf(found.status)),
    validateRules(_object: JsonObject, old: unknown, before: readonly FieldError[], warn: (error: FieldError) => void) {
      calls.push(['rules', old, before.map(formatFieldError)])
      for (const warning of errorsOf(found.warning)) warn(warning)
      return errorsOf(found.rules)
    },
  }
  return { info: { ...foos, schema } as unknown as ResourceInfo, calls }
}

const object = { apiVersion: 'ex.com/v1', kind: 'Foo', metadata }

t.test('the rules of a schema are evaluated after its structure, and all errors are reported', async (t) => {
  const { info, calls } = withSchema({ structure: 'spec.a', status: 'status.b', rules: 'spec.c', warning: 'spec.d' })
  const warnings: string[] = []
  const attempt = (old: JsonObject | undefined, subresource: string) =>
    refusal(() => validateForWrite(info, object, old, subresource, (warning) => warnings.push(warning)))
  t.match(await attempt(undefined, ''), { code: 422, message: `Foo.ex.com "a" is invalid: [${text('spec.a')}, ${text('spec.c')}]` })
  t.match(await attempt(object, 'status'), { code: 422, message: `Foo.ex.com "a" is invalid: [${text('spec.c')}, ${text('status.b')}]` })
  t.strictSame(calls, [
    ['structure', undefined],
    ['rules', undefined, [text('spec.a')]],
    ['status', object],
    ['rules', object, [text('status.b')]],
  ])
  t.strictSame(warnings, [text('spec.d'), text('spec.d')])
})

t.test('a violated rule alone refuses an object, and a warning does not', async (t) => {
  const warnings: string[] = []
  const check = (found: Parameters<typeof withSchema>[0]) => (): void =>
    validateForWrite(withSchema(found).info, object, undefined, '', (warning) => warnings.push(warning))
  t.match(await refusal(check({ rules: 'spec' })), { code: 422, message: `Foo.ex.com "a" is invalid: ${text('spec')}` })
  check({ warning: 'spec' })()
  t.strictSame(warnings, [text('spec')])
})

t.test('finalizers of built-in types need a domain', async (t) => {
  const check = (info: ResourceInfo) => (): void => {
    const { namespace: _namespace, ...own } = { ...metadata, finalizers: ['plain'] }
    const whole = { metadata: info.namespaced ? { ...own, namespace: 'n' } : own, data: {} }
    validateForWrite({ ...info, strategy: {} } as ResourceInfo, whole, undefined, '', () => undefined)
  }
  t.match(await refusal(check(builtin('configmaps'))), {
    code: 422,
    message:
      'ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: "plain": name is neither a standard finalizer name nor is it fully qualified',
  })
  t.doesNotThrow(check(withSchema({}).info))
})

t.test('an update does not validate the name by the rules of its type again', async (t) => {
  const info = builtin('configmaps')
  const named = { metadata: { ...metadata, name: 'Upper_case' }, data: {} }
  const check = (old?: JsonObject) => (): void => validateForWrite(info, named, old, '', () => undefined)
  t.match(await refusal(check()), { code: 422, message: 'ConfigMap "Upper_case" is invalid: metadata.name: Invalid value: "Upper_case"' })
  t.doesNotThrow(check(named))
})
