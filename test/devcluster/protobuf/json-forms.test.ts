/** Tests of the JSON of messages whose Go types have a `MarshalJSON` method. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { jsonForms } from '../../../src/devcluster/protobuf/json-forms.ts'
import { ProtobufError } from '../../../src/devcluster/protobuf/wire-reader.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const json = { raw: base64('{"a":[1,"x",null]}') }
const value = { a: [1, 'x', null] }
const schema = { type: 'string' }

const forms: readonly (readonly [message: string, fields: JsonObject, json: JsonValue])[] = [
  ['apiextensions.v1.JSON', json, value],
  ['apiextensions.v1.JSON', { raw: base64('false') }, false],
  ['apiextensions.v1.JSON', {}, null],
  ['apiextensions.v1.JSON', { raw: '' }, null],
  ['apiextensions.v1.JSONSchemaPropsOrArray', { schema }, schema],
  ['apiextensions.v1.JSONSchemaPropsOrArray', { schema, jSONSchemas: [schema] }, [schema]],
  ['apiextensions.v1.JSONSchemaPropsOrArray', {}, null],
  ['apiextensions.v1.JSONSchemaPropsOrBool', { schema, allows: true }, schema],
  ['apiextensions.v1.JSONSchemaPropsOrBool', { allows: true }, true],
  ['apiextensions.v1.JSONSchemaPropsOrBool', {}, false],
  ['apiextensions.v1.JSONSchemaPropsOrStringArray', { schema }, schema],
  ['apiextensions.v1.JSONSchemaPropsOrStringArray', { schema, property: ['a'] }, ['a']],
  ['apiextensions.v1.JSONSchemaPropsOrStringArray', {}, null],
  ['authentication.v1.ExtraValue', { items: ['a', 'b'] }, ['a', 'b']],
  ['authentication.v1.ExtraValue', {}, []],
  ['authorization.v1.ExtraValue', { items: ['a', 'b'] }, ['a', 'b']],
  ['authorization.v1.ExtraValue', {}, []],
  ['certificates.v1.ExtraValue', { items: ['a', 'b'] }, ['a', 'b']],
  ['certificates.v1.ExtraValue', {}, []],
  ['intstr.IntOrString', {}, 0],
  ['intstr.IntOrString', { intVal: 5, strVal: 'x' }, 5],
  ['intstr.IntOrString', { type: 0, intVal: -5 }, -5],
  ['intstr.IntOrString', { type: 1, intVal: 5, strVal: 'x' }, 'x'],
  ['intstr.IntOrString', { type: 1 }, ''],
  ['meta.v1.FieldsV1', { Raw: json.raw }, value],
  ['meta.v1.FieldsV1', {}, null],
  ['meta.v1.MicroTime', {}, null],
  ['meta.v1.MicroTime', { seconds: 0 }, '1970-01-01T00:00:00.000000Z'],
  ['meta.v1.MicroTime', { seconds: 1, nanos: 1_999 }, '1970-01-01T00:00:01.000001Z'],
  ['meta.v1.MicroTime', { nanos: 999_999_999 }, '1970-01-01T00:00:00.999999Z'],
  ['meta.v1.MicroTime', { seconds: 1, nanos: 1_000_000_000 }, '1970-01-01T00:00:02.000000Z'],
  ['meta.v1.MicroTime', { seconds: 1, nanos: -1_000 }, '1970-01-01T00:00:00.999999Z'],
  ['meta.v1.MicroTime', { seconds: -62_135_596_800 }, null],
  ['meta.v1.MicroTime', { seconds: -62_135_596_800, nanos: 1_000 }, '0001-01-01T00:00:00.000001Z'],
  ['meta.v1.Time', {}, null],
  ['meta.v1.Time', { seconds: 1, nanos: 999_999_999 }, '1970-01-01T00:00:01Z'],
  ['meta.v1.Time', { seconds: -62_135_596_800, nanos: 5 }, null],
  ['meta.v1.Time', { seconds: 253_402_300_799 }, '9999-12-31T23:59:59Z'],
  ['resource.Quantity', { string: '1500m' }, '1500m'],
  ['resource.Quantity', {}, '0'],
  ['runtime.RawExtension', json, value],
  ['runtime.RawExtension', {}, null],
]

t.test('each message with a JSON form of its own has that of Go', async (t) => {
  for (const [message, fields, expected] of forms)
    t.strictSame(jsonForms.get(message)!(fields), expected, `${message} ${JSON.stringify(fields)}`)
  t.strictSame([...jsonForms.keys()], [...new Set(forms.map(([message]) => message))], 'every form is tested')
})

t.test('invalid contents are refused with the message of Go', async (t) => {
  const range = 'Time.MarshalJSON: year outside of range [0,9999]'
  const cases: readonly (readonly [message: string, fields: JsonObject, problem: string])[] = [
    ['apiextensions.v1.JSON', { raw: base64('{') }, 'failed to parse bytes as JSON: unexpected end of JSON input'],
    ['meta.v1.FieldsV1', { Raw: base64('x') }, "failed to parse bytes as JSON: invalid character 'x' looking for beginning of value"],
    ['intstr.IntOrString', { type: 2 }, 'impossible IntOrString.Type'],
    ['intstr.IntOrString', { type: -1 }, 'impossible IntOrString.Type'],
    ['meta.v1.Time', { seconds: 253_402_300_800 }, range],
    ['meta.v1.MicroTime', { seconds: -62_135_596_801 }, range],
    ['meta.v1.MicroTime', { seconds: -62_135_596_800, nanos: -1_000 }, range],
    [
      'resource.Quantity',
      { string: '1 Gi' },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ]
  for (const [message, fields, problem] of cases) {
    try {
      jsonForms.get(message)!(fields)
      t.fail(message)
    } catch (error) {
      t.ok(error instanceof ProtobufError)
      t.equal((error as Error).message, problem)
    }
  }
})
