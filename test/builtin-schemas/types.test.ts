import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { BuiltinValue } from '../../src/builtin-schemas/types.ts'
import { builtinFields, builtinTypeNames } from '../../src/builtin-schemas/types.ts'
import { repository } from '../support/process/process.ts'

t.test('each form of a field is described', async (t) => {
  const value = (type: string, field: string): BuiltinValue | undefined => builtinFields(type)?.find(({ name }) => name === field)?.value
  const cases: readonly (readonly [type: string, field: string, value: BuiltinValue])[] = [
    ['Container', 'image', { form: 'scalar', scalar: 'string' }],
    ['Container', 'resources', { form: 'type', name: 'ResourceRequirements' }],
    ['Container', 'imagePullPolicy', { form: 'enum', values: ['Always', 'IfNotPresent', 'Never'] }],
    ['Container', 'args', { form: 'list', items: { form: 'scalar', scalar: 'string' }, keys: [] }],
    ['Container', 'ports', { form: 'list', items: { form: 'type', name: 'ContainerPort' }, keys: ['containerPort', 'protocol'] }],
    ['ResourceRequirements', 'limits', { form: 'map', values: { form: 'scalar', scalar: 'quantity' } }],
    ['NetworkPolicySpec', 'policyTypes', { form: 'list', items: { form: 'enum', values: ['Ingress', 'Egress'] }, keys: [] }],
    ['HTTPGetAction', 'port', { form: 'scalar', scalar: 'int-or-string' }],
    ['ObjectMeta', 'creationTimestamp', { form: 'scalar', scalar: 'time' }],
  ]
  for (const [type, field, expected] of cases) t.strictSame(value(type, field), expected, `${type}.${field}`)
  t.strictSame(
    builtinFields('EnvVar')?.map(({ name, required }) => [name, required]),
    [
      ['name', true],
      ['value', false],
      ['valueFrom', false],
    ],
  )
  t.equal(builtinFields('NoSuchType'), undefined)
  t.equal(builtinFields('constructor'), undefined)
})

t.test('every embeddable type is described with all types that it uses, and none contains itself', async (t) => {
  const source = readFileSync(join(repository, 'src/api/builtin-types.ts'), 'utf8')
  const names = [...source.matchAll(/^ {2}(\w+): models\./gm)].map(([, name]) => name!)
  t.ok(names.length > 70)
  const reached = new Set<string>()
  const visitValue = (value: BuiltinValue, above: readonly string[]): void => {
    if (value.form === 'type') visit(value.name, above)
    if (value.form === 'list') visitValue(value.items, above)
    if (value.form === 'map') visitValue(value.values, above)
  }
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) return void t.fail(`${[...above, name].join(' → ')} has no end`)
    const fields = builtinFields(name)
    if (fields === undefined) return void t.fail(`there is no ${name}`)
    reached.add(name)
    for (const field of fields) {
      // The compiled check uses `in`, which also finds inherited names. A field with such a name, for example `toString`, would therefore
      // seem present in every object.
      if (field.name in Object.prototype) t.fail(`${name}.${field.name} has the name of a field of every object`)
      visitValue(field.value, [...above, name])
    }
  }
  for (const name of names) visit(name, [])
  t.strictSame([...reached].sort(), [...builtinTypeNames].sort(), 'no other types')
})
