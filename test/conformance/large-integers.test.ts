/** Tests of integers beyond 2^53, which a double cannot represent. They are stored, validated and reported with all their digits. */
import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../src/api/object.ts'
import type { Status } from '../../src/api/status.ts'
import { until } from '../../src/testing/until.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const definition = `{
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "bigs.large.example.com"},
  "spec": {"group": "large.example.com", "scope": "Namespaced", "names": {"plural": "bigs", "singular": "big", "kind": "Big", "listKind": "BigList"},
    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
      "type": "object", "properties": {
        "any": {"type": "integer"},
        "int64": {"type": "integer", "format": "int64"},
        "int32": {"type": "integer", "format": "int32"},
        "number": {"type": "number"},
        "intOrString": {"x-kubernetes-int-or-string": true},
        "min": {"type": "integer", "minimum": 9007199254740994},
        "max": {"type": "integer", "maximum": 9007199254740992},
        "exclusive": {"type": "integer", "maximum": 9007199254740994, "exclusiveMaximum": true},
        "tens": {"type": "integer", "multipleOf": 10},
        "choice": {"type": "integer", "enum": [9007199254740993, 5]},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
          "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "text": {"type": "string"}}}},
        "rule": {"type": "integer", "x-kubernetes-validations": [{"rule": "self != 9007199254740993 && self + 1 > self"}]},
        "text": {"type": "string"},
        "defaulted": {"type": "object", "properties": {"value": {"type": "integer", "default": 9007199254740993}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
      }}}}}}]}}`

const path = '/apis/large.example.com/v1/namespaces/large/bigs'

/** Rows with a valid spec and a string that the response must contain. */
const accepted: readonly (readonly [string, string])[] = [
  ['{"any":9007199254740993}', '"any":9007199254740993'],
  ['{"any":-9007199254740993}', '"any":-9007199254740993'],
  ['{"int64":9223372036854775807}', '"int64":9223372036854775807'],
  ['{"int64":-9223372036854775808}', '"int64":-9223372036854775808'],
  ['{"number":9007199254740993}', '"number":9007199254740993'],
  ['{"number":18446744073709551615}', '"number":18446744073709552000'],
  ['{"intOrString":9007199254740993}', '"intOrString":9007199254740993'],
  ['{"min":9007199254740995}', '"min":9007199254740995'],
  ['{"tens":9007199254740990}', '"tens":9007199254740990'],
  ['{"tens":9223372036854775800}', '"tens":9223372036854775800'],
  ['{"choice":9007199254740993}', '"choice":9007199254740993'],
  ['{"set":[9007199254740992,9007199254740993]}', '"set":[9007199254740992,9007199254740993]'],
  ['{"map":[{"id":9007199254740992},{"id":9007199254740993}]}', '[{"id":9007199254740992},{"id":9007199254740993}]'],
  ['{"rule":9007199254740992}', '"rule":9007199254740992'],
  [
    '{"open":{"a":9007199254740993,"b":[-9007199254740995,1234567890123456]}}',
    '{"a":9007199254740993,"b":[-9007199254740995,1234567890123456]}',
  ],
  ['{"defaulted":{}}', '"defaulted":{"value":9007199254740993}'],
]

/** Each row contains an invalid spec and the errors for this spec. The errors are sorted. */
const refused: readonly (readonly [string, ...string[]])[] = [
  [
    '{"any":9223372036854775808}',
    '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.any',
    'spec.any: Invalid value: "number": spec.any in body must be of type integer: "number"',
  ],
  [
    '{"int64":9223372036854775808}',
    '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.int64',
    'spec.int64: Invalid value: "float64": spec.int64 in body must be of type int64: "float64"',
  ],
  [
    '{"int64":-9223372036854775809}',
    '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.int64',
    'spec.int64: Invalid value: "float64": spec.int64 in body must be of type int64: "float64"',
  ],
  ['{"int32":9007199254740993}', '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.int32'],
  [
    '{"min":9007199254740993}',
    'spec.min: Invalid value: 9007199254740993: spec.min in body should be greater than or equal to 9007199254740994',
  ],
  [
    '{"max":9007199254740993}',
    'spec.max: Invalid value: 9007199254740993: spec.max in body should be less than or equal to 9007199254740992',
  ],
  [
    '{"exclusive":9007199254740995}',
    'spec.exclusive: Invalid value: 9007199254740995: spec.exclusive in body should be less than 9007199254740994',
  ],
  ['{"tens":9007199254740993}', 'spec.tens: Invalid value: 9007199254740993: spec.tens in body should be a multiple of 10'],
  ['{"choice":9007199254740992}', 'spec.choice: Unsupported value: 9007199254740992: supported values: "9007199254740993", "5"'],
  ['{"set":[9007199254740993,9007199254740993]}', 'spec.set[1]: Duplicate value: 9007199254740993'],
  ['{"map":[{"id":9007199254740993},{"id":9007199254740993}]}', 'spec.map[1]: Duplicate value: {"id":9007199254740993}'],
  ['{"rule":9007199254740993}', 'spec.rule: Invalid value: 9007199254740993: failed rule: self != 9007199254740993 && self + 1 > self'],
  [
    '{"rule":9223372036854775807}',
    'spec.rule: Invalid value: "integer": integer overflow evaluating rule: self != 9007199254740993 && self + 1 > self',
  ],
  ['{"text":9007199254740993}', 'spec.text: Invalid value: "integer": spec.text in body must be of type string: "integer"'],
]

t.test('integers beyond 2^53', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: ['large'] })
  const api = apiOf(t, controlPlane.connection)
  const installed = await api('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition })
  t.equal(installed.status, 201, installed.text)
  t.teardown(() => api('DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bigs.large.example.com'))
  await until('the definition is served', async () => (await api('GET', path)).status === 200)
  const create = (name: string, spec: string) =>
    api('POST', path, { body: `{"apiVersion":"large.example.com/v1","kind":"Big","metadata":{"name":"${name}"},"spec":${spec}}` })
  for (const [index, [spec, shown]] of accepted.entries()) {
    const created = await create(`a${index}`, spec)
    t.match({ status: created.status, text: created.text }, { status: 201, text: shown }, spec)
    const read = await api('GET', `${path}/a${index}`)
    t.match(read.text, shown, `${spec}, read back`)
  }
  for (const [spec, ...problems] of refused) {
    const answer = await create('refused', spec)
    const { causes = [] } = (answer.body as unknown as Status).details ?? {}
    const said = causes.map(({ field, message }) => `${field}: ${message}`).filter((text) => !text.includes('rules were not checked'))
    t.strictSame({ status: answer.status, problems: said.sort() }, { status: 422, problems }, spec)
  }
  const digits = '9'.repeat(400)
  for (const [number, shown] of [
    ['18446744073709551616', '18446744073709552000'],
    ['0xffffffffffffffffffff', '"0xffffffffffffffffffff"'],
    [digits, `"${digits}"`],
    ['1e400', '"1e400"'],
  ] as const) {
    const body = `apiVersion: large.example.com/v1\nkind: Big\nmetadata: {generateName: yaml-}\nspec: {open: {a: ${number}}}\n`
    const created = await api('POST', path, { body, contentType: 'application/yaml' })
    t.match({ status: created.status, text: created.text }, { status: 201, text: `"open":{"a":${shown}}` }, `YAML: ${number}`)
  }
  const unreadable = async (what: string, answer: ReturnType<typeof api>, message: string): Promise<void> => {
    const { status, body } = await answer
    t.strictSame([status, (body as unknown as Status).message], [400, message], what)
  }
  for (const [spec, number] of [
    ['{"number":1e400}', '1e400'],
    ['{"unknown":-1e400}', '-1e400'],
    [`{"open":{"a":[1,${digits},1e400]}}`, digits],
  ] as const) {
    const message = `Big in version "v1" cannot be handled as a Big: json: cannot unmarshal number ${number} into Go value of type float64`
    await unreadable(spec, create('unreadable', spec), message)
  }
  const patch = (type: string, body: string) => api('PATCH', `${path}/a0`, { body, contentType: `application/${type}+json` })
  const notAFloat = (target: string): string =>
    `error decoding patch: json: cannot unmarshal number 1e400 into Go ${target} of type float64`
  await unreadable('a merge patch of 1e400', patch('merge-patch', '{"spec":{"number":1e400}}'), notAFloat('value'))
  const addition = '[{"op":"add","path":"/spec/number","value":1e400}]'
  await unreadable('a JSON patch of 1e400', patch('json-patch', addition), notAFloat('struct field jsonPatchOp.value'))
  const type = resourceType<KubernetesObject & { spec: { open: object; any?: number } }>({
    group: 'large.example.com',
    version: 'v1',
    kind: 'Big',
    plural: 'bigs',
  })
  const { client } = controlPlane
  const preserved = '"open":{"a":[9007199254740993,-9007199254740993],"b":9007199254740992}'
  await create('ours', `{"int64":9223372036854775807,${preserved}}`)
  const key = { namespace: 'large', name: 'ours' }
  const object = await client.get(type, key)
  await client.update(type, { ...object, spec: { ...object.spec, any: 1 } })
  await client.patch(type, key, { metadata: { labels: { a: 'b' } }, spec: { open: object.spec.open } })
  const { resourceVersion, generation } = (await client.get(type, key)).metadata
  const [item] = (await client.list(type, { namespace: 'large', fieldSelector: 'metadata.name=ours' })).items
  const same = await client.update(type, item!)
  t.strictSame(
    [same.metadata.resourceVersion, same.metadata.generation],
    [resourceVersion, generation],
    'an unchanged object is not written',
  )
  const kept = await api('GET', `${path}/ours`)
  t.match(kept.text, preserved, 'our client preserves the digits')
  t.match(kept.text, '"int64":9223372036854775807')
  const patched = await api('PATCH', `${path}/a0`, {
    body: '{"spec":{"any":9007199254740995}}',
    contentType: 'application/merge-patch+json',
  })
  t.match({ status: patched.status, text: patched.text }, { status: 200, text: '"any":9007199254740995' }, 'a merge patch')
  const operations =
    '[{"op":"test","path":"/spec/any","value":9007199254740995},{"op":"replace","path":"/spec/any","value":9007199254740997}]'
  const replaced = await api('PATCH', `${path}/a0`, { body: operations, contentType: 'application/json-patch+json' })
  t.match({ status: replaced.status, text: replaced.text }, { status: 200, text: '"any":9007199254740997' }, 'a JSON patch')
  const applied = `{"apiVersion":"large.example.com/v1","kind":"Big","metadata":{"name":"applied"},"spec":{"set":[9007199254740993]}}`
  const apply = await api('PATCH', `${path}/applied?fieldManager=one`, { body: applied, contentType: 'application/apply-patch+yaml' })
  t.match({ status: apply.status, text: apply.text }, { status: 201, text: '"set":[9007199254740993]' }, 'server-side apply')
  t.match(apply.text, '"v:9007199254740993":{}', 'the field set contains the digits')
})
