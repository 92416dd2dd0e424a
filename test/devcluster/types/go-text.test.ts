import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { conversionError } from '../../../src/devcluster/types/go-convert.ts'
import { goKindOf, notAnObject } from '../../../src/devcluster/types/go-json.ts'
import { goKind, goSyntax, goText, goTypeName } from '../../../src/devcluster/types/go-text.ts'
import { kindType } from '../../../src/devcluster/types/go-types.ts'

t.test('values and types are formatted as by Go', async (t) => {
  const cases: readonly (readonly [value: JsonValue, text: string, syntax: string, type: string, kind: string, json: string])[] = [
    [null, '<nil>', 'interface {}(nil)', '<nil>', '<nil>', 'null'],
    ['a b', 'a b', '"a b"', 'string', 'string', 'string'],
    [true, 'true', 'true', 'bool', 'bool', 'bool'],
    [5, '5', '5', 'int64', 'int64', 'number'],
    [1.5, '1.5', '1.5', 'float64', 'float64', 'number'],
    [2n ** 60n, '1152921504606846976', '1152921504606846976', 'int64', 'int64', 'bigint'],
    [['a', null, 1], '[a <nil> 1]', '[]interface {}{"a", interface {}(nil), 1}', '[]interface {}', 'slice', 'array'],
    [
      { b: { d: 1 }, a: ['x'] },
      'map[a:[x] b:map[d:1]]',
      'map[string]interface {}{"a":[]interface {}{"x"}, "b":map[string]interface {}{"d":1}}',
      'map[string]interface {}',
      'map',
      'object',
    ],
    [{}, 'map[]', 'map[string]interface {}{}', 'map[string]interface {}', 'map', 'object'],
  ]
  for (const [value, text, syntax, type, kind, json] of cases) {
    t.strictSame([goText(value), goSyntax(value), goTypeName(value), goKind(value)], [text, syntax, type, kind])
    if (typeof value !== 'bigint') t.equal(goKindOf(value), json)
  }
  t.equal(goText(undefined), '<nil>')
  t.equal(
    notAnObject([]),
    String.raw`json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
  )
})

t.test('the conversion errors of scalars are those of Go', async (t) => {
  const errorOf = (group: string, kind: string, object: JsonObject): string | undefined =>
    conversionError(kindType({ group, version: 'v1', kind })!, object)
  const deployment = (spec: JsonObject): string | undefined => errorOf('apps', 'Deployment', { spec })
  const pod = (spec: JsonObject): string | undefined => errorOf('', 'Pod', { spec })
  t.equal(deployment({ replicas: null, paused: null, template: null }), undefined)
  t.equal(deployment({ replicas: true }), 'unrecognized type: int32')
  t.equal(deployment({ paused: 1 }), 'unrecognized type: bool')
  t.equal(deployment({ paused: 1.5 }), 'unrecognized type: bool')
  t.equal(pod({ hostname: 5 }), 'cannot convert int64 to string')
  t.equal(pod({ hostname: 1.5 }), 'unrecognized type: string')
  t.equal(pod({ hostname: true }), 'unrecognized type: string')
  t.equal(pod({ hostname: 'x', hostNetwork: true, terminationGracePeriodSeconds: 5 }), undefined)
  t.equal(pod({ terminationGracePeriodSeconds: 1.5 }), 'cannot convert float64 to int64')
  t.equal(pod({ containers: [{ name: 'a', args: ['x', 5] }] }), 'cannot convert int64 to string')
  t.equal(pod({ containers: [{ name: 'a' }, { name: 5 }] }), 'cannot convert int64 to string')
  t.equal(pod({ containers: ['x'] }), 'cannot restore struct from: string')
  t.equal(pod({ nodeSelector: { a: 'x', b: [] } }), 'unrecognized type: string')
  t.equal(pod({ bogus: 5 }), undefined, 'an unknown field is ignored')
  const schema = (openAPIV3Schema: JsonObject): string | undefined =>
    errorOf('apiextensions.k8s.io', 'CustomResourceDefinition', { spec: { versions: [{ schema: { openAPIV3Schema } }] } })
  t.equal(schema({ additionalProperties: true, items: { type: 5 } }), 'cannot convert int64 to string')
  t.equal(schema({ maximum: 1, minimum: 1.5, default: { any: ['thing'] } }), undefined)
})
