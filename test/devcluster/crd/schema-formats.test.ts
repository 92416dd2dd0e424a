import t from 'tap'
import type { JsonValue } from '../../../src/api/json.ts'
import { unknownFormats } from '../../../src/devcluster/crd/schema-formats.ts'

/** Returns the unknown formats in a CustomResourceDefinition that has one version for each of these schemas. */
const formatsIn = (...schemas: JsonValue[]): readonly string[] =>
  unknownFormats({ spec: { versions: schemas.map((openAPIV3Schema) => ({ schema: { openAPIV3Schema } })) } })

t.test('a format belongs to a type', async (t) => {
  const known: readonly (readonly [type: string | undefined, formats: readonly string[]])[] = [
    ['integer', ['int32', 'int64']],
    ['number', ['float', 'double']],
    ['string', ['date-time', 'email', 'ipv4', 'uuid']],
    ['', ['date-time', 'email', 'ipv4', 'uuid']],
    [undefined, ['date-time', 'email', 'ipv4', 'uuid']],
    ['boolean', []],
    ['object', []],
    ['array', []],
  ]
  const all = ['int32', 'int64', 'float', 'double', 'date-time', 'email', 'ipv4', 'uuid', 'odd']
  for (const [type, formats] of known) {
    for (const format of all)
      t.strictSame(
        formatsIn({ ...(type !== undefined && { type }), format }),
        formats.includes(format) ? [] : [format],
        `${type} ${format}`,
      )
  }
  t.strictSame(formatsIn({ type: 'string', format: '' }), [])
})

t.test('unknown formats are found in every part of every schema, each once', async (t) => {
  const odd = (format: string) => ({ type: 'string', format })
  const schema = {
    properties: { a: odd('1'), b: { properties: { c: odd('2') } } },
    additionalProperties: odd('3'),
    items: odd('4'),
    allOf: [odd('5'), odd('1')],
    anyOf: [odd('6')],
    oneOf: [{ not: odd('7') }],
    not: odd('8'),
  }
  t.strictSame(formatsIn(schema, { items: [odd('9'), odd('1')] }), ['1', '2', '3', '4', '5', '6', '7', '8', '9'])
  t.strictSame(formatsIn({ additionalProperties: true }), [])
})

t.test('a definition without versions or schemas has no formats', async (t) => {
  for (const definition of [{}, { spec: {} }, { spec: { versions: 'x' } }, { spec: { versions: [{}, null, { schema: {} }] } }])
    t.strictSame(unknownFormats(definition), [])
})
