/** Tests of the decoding and the checks of request bodies. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import {
  checkName,
  checkNamespace,
  decodeBody,
  decodePatched,
  decodePatchedSubresource,
  decodeStrategic,
  decodeSubresource,
  pruned,
  reportYamlDuplicates,
} from '../../../src/devcluster/registry/decode.ts'
import type { RequestContext } from '../../../src/devcluster/apimachinery/request-context.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { compileSchema } from '../../../src/schema/compile.ts'
import { foo, foos, refusal } from '../../support/devcluster/registry.ts'

const builtin = (plural: string): ResourceInfo => builtinResources.find((row) => row.plural === plural)!
const [pods, configMaps, deployments] = ['pods', 'configmaps', 'deployments'].map(builtin) as [ResourceInfo, ResourceInfo, ResourceInfo]

/** Returns a request context with this fieldValidation, and the warnings that are added to it. */
function contextOf(fieldValidation: RequestContext['fieldValidation'] = 'Warn'): { context: RequestContext; warnings: string[] } {
  const warnings: string[] = []
  const user = { username: 'bob', groups: [] }
  const { signal } = new AbortController()
  return {
    warnings,
    context: { user, dryRun: false, fieldManager: '', fieldValidation, userAgent: '', warn: (text) => warnings.push(text), signal },
  }
}

const decode = (
  info: ResourceInfo,
  object: JsonObject,
  duplicates: readonly string[] = [],
  validation: RequestContext['fieldValidation'] = 'Warn',
) => {
  const { context, warnings } = contextOf(validation)
  return { object: decodeBody(info, { object, duplicates }, context), warnings }
}
const problem = async (run: () => unknown): Promise<string> => {
  const { code, message } = await refusal(run)
  return `${code} ${message}`
}

t.test('an object of a built-in type gets apiVersion and kind when the body lacks them', async (t) => {
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  for (const given of [{}, { apiVersion: '', kind: '' }, { apiVersion: 'v1' }, { kind: 'ConfigMap' }, { apiVersion: null, kind: null }])
    t.strictSame(decode(configMaps, { ...given, metadata: { name: 'a' } }).object, whole, JSON.stringify(given))
  const cannot = 'cannot be handled as a ConfigMap:'
  const cases: [object: JsonObject, answer: string][] = [
    [
      { kind: 'Nothing' },
      `400 Nothing in version "v1" ${cannot} no kind "Nothing" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`,
    ],
    [
      { apiVersion: 'x/v2' },
      `400 ConfigMap in version "v2" ${cannot} no kind "ConfigMap" is registered for version "x/v2" in scheme "pkg/runtime/scheme.go:111"`,
    ],
    [{ kind: 'Secret' }, `400 Secret in version "v1" ${cannot} converting (v1.Secret) to (core.ConfigMap): unknown conversion`],
    [
      { kind: 'Secret', data: 1 },
      `400 Secret in version "v1" ${cannot} json: cannot unmarshal number into Go struct field Secret.data of type map[string][]uint8`,
    ],
  ]
  for (const [object, answer] of cases) t.equal(await problem(() => decode(configMaps, object)), answer)
  t.equal(
    await problem(() => decode(deployments, { apiVersion: 'apps/v1beta1', kind: 'Deployment' })),
    '400 the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
  )
  t.match(
    await problem(() => decode(deployments, { kind: 'StatefulSet' })),
    /converting \(v1.StatefulSet\) to \(apps.Deployment\): unknown conversion$/,
  )
})

t.test('a custom resource without apiVersion or kind is refused', async (t) => {
  t.equal(await problem(() => decode(foos, { apiVersion: 'ex.com/v1' })), `400 Object 'Kind' is missing in '{"apiVersion":"ex.com/v1"}'`)
  const expected = 'does not match the expected API version (ex.com/v1)'
  t.equal(await problem(() => decode(foos, { kind: 'Foo' })), `400 the API version in the data () ${expected}`)
  t.equal(await problem(() => decode(foos, { kind: 'Foo', apiVersion: 'v1' })), `400 the API version in the data (v1) ${expected}`)
  t.equal(
    await problem(() => decode(foos, { kind: 'Bar', apiVersion: 'ex.com/v1', metadata: { name: 'a' } })),
    '422 Bar.ex.com "a" is invalid: kind: Invalid value: "Bar": must be Foo',
  )
  t.strictSame(decode(foos, foo('a', { size: 1 })).object, foo('a', { size: 1, color: 'red' }))
})

t.test('metadata of a wrong type is refused', async (t) => {
  const cannot = (info: ResourceInfo, what: string, place: string): string =>
    `400 ${info.kind} in version "v1" cannot be handled as a ${info.kind}: json: cannot unmarshal ${what} into Go ${place} of type v1.ObjectMeta`
  t.equal(await problem(() => decode(configMaps, { metadata: 'x' })), cannot(configMaps, 'string', 'struct field ConfigMap.metadata'))
  t.equal(await problem(() => decode(configMaps, { metadata: [] })), cannot(configMaps, 'array', 'struct field ConfigMap.metadata'))
  t.equal(await problem(() => decode(foos, { ...foo('a'), metadata: 1 })), cannot(foos, 'number', 'value'))
  t.match(
    await problem(() => decode(foos, { ...foo('a'), metadata: { labels: 'x' } })),
    /^400 Foo in version "v1" cannot be handled as a Foo: .*labels/,
  )
  t.strictSame(decode(configMaps, { metadata: null }).object.kind, 'ConfigMap')
})

t.test('unknown and duplicate fields of a built-in type are reported in their order', async (t) => {
  const object = { apiVersion: 'v1', x: 1, spec: { containers: [{ a: 1, name: 'c', b: 2 }], y: 1 }, kind: 'Pod' }
  const texts = [
    'unknown field "x"',
    'unknown field "spec.containers[0].a"',
    'duplicate field "spec.containers[0].name"',
    'unknown field "spec.containers[0].b"',
    'unknown field "spec.y"',
    'duplicate field "kind"',
  ]
  const duplicates = ['kind', 'spec.containers[0].name']
  t.strictSame(decode(pods, object, duplicates).warnings, texts)
  t.strictSame(decode(pods, object, duplicates, 'Ignore').warnings, [])
  const strict = '400 Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
  t.equal(await problem(() => decode(pods, object, duplicates, 'Strict')), strict + texts.join(', '))
  const yaml = ['line 3: key "a" already set in map', 'line 5: key "b" already set in map']
  t.strictSame(decode(pods, object, [...yaml, 'kind']).warnings, [...yaml, ...texts.filter((text) => !text.includes('containers[0].name'))])
  t.equal(
    await problem(() => decode(pods, { x: 1 }, yaml, 'Strict')),
    `${strict}yaml: unmarshal errors:\n  ${yaml.join('\n  ')}, unknown field "x"`,
  )
  t.equal(await problem(() => decode(pods, {}, yaml, 'Strict')), `${strict}yaml: unmarshal errors:\n  ${yaml.join('\n  ')}`)
  t.strictSame(decode(pods, {}, ['kind', 'a']).warnings, ['duplicate field "kind"', 'duplicate field "a"'])
  t.strictSame(decode(pods, object).warnings.length, 4)
  t.strictSame(
    decode(pods, { spec: { x: 1, containers: [{ a: 1 }] }, y: 1 }, ['spec', 'spec.containers']).warnings,
    [
      'duplicate field "spec"',
      'unknown field "spec.x"',
      'duplicate field "spec.containers"',
      'unknown field "spec.containers[0].a"',
      'unknown field "y"',
    ],
    'a repeated field is told before what is in it',
  )
})

t.test('duplicate fields at or below an unknown field of a built-in type are not reported', (t) => {
  const object = { x: { a: 1 }, xy: 1, metadata: { name: 'a' } }
  const { warnings } = decode(configMaps, object, ['x.a', 'x', 'xy[0].a', 'metadata'])
  t.strictSame(warnings, ['unknown field "x"', 'unknown field "xy"', 'duplicate field "metadata"'])
  t.end()
})

t.test('the first 100 unknown and duplicate fields of a built-in type are reported', (t) => {
  const unknown = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`u${index}`, 1]))
  const { warnings } = decode(configMaps, { ...unknown, data: { a: '', b: '' }, z: 1 }, ['data.a', 'data.b'])
  t.strictSame(warnings, [...Object.keys(unknown).map((name) => `unknown field "${name}"`), 'duplicate field "data.a"'])
  t.end()
})

t.test('fields below a long key are sorted without a path for each of them', (t) => {
  // Each path has more than 100,000 characters. If the code created a string for the path of each of the 100,000 fields, this test would
  // need ten gigabytes.
  const key = 'k'.repeat(100_000)
  const below = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, 1]))
  const { warnings } = decode(configMaps, { [key]: below, data: { a: '' } }, ['data.a'])
  t.strictSame(warnings, [`unknown field "${key}"`, 'duplicate field "data.a"'])
  t.end()
})

t.test('duplicate fields of a custom resource are reported before unknown ones', async (t) => {
  const object = { ...foo('a', { x: 1 }, { y: 1 } as JsonObject), z: 1 }
  const texts = ['duplicate field "spec.size"', 'unknown field "metadata.y"', 'unknown field "spec.x"', 'unknown field "z"']
  const { object: decoded, warnings } = decode(foos, object, ['spec.size'])
  t.strictSame(warnings, texts)
  t.strictSame(decoded, foo('a', { color: 'red' }))
  t.equal(
    await problem(() => decode(foos, object, ['spec.size'], 'Strict')),
    `400 Foo in version "v1" cannot be handled as a Foo: strict decoding error: ${texts.join(', ')}`,
  )
})

t.test('an empty managedFields is kept, and another empty list is dropped', (t) => {
  const { object } = decode(configMaps, { metadata: { name: 'a', managedFields: [], finalizers: [] } })
  t.strictSame(object.metadata, { name: 'a', managedFields: [] })
  t.end()
})

t.test('an invalid result of a patch is refused as an invalid patch', async (t) => {
  const { context, warnings } = contextOf()
  const patched = (
    info: ResourceInfo,
    object: JsonObject,
    more: { duplicates?: string[]; strictErrors?: string[] } = {},
    given = context,
  ) => decodePatched(info, object, { duplicates: [], strictErrors: [], ...more }, given)
  t.equal(
    await problem(() => patched(configMaps, { metadata: { name: 'a' }, data: 1, apiVersion: 'v1' })),
    '422  "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"v1\\",\\"data\\":1,\\"metadata\\":{\\"name\\":\\"a\\"}}": json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string',
  )
  t.match(
    await problem(() => patched(foos, { ...foo('b', { b: 1, a: 1 }), metadata: 'x' })),
    /^422 {2}"" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"ex.com\/v1\\",\\"kind\\":\\"Foo\\",\\"metadata\\":\\"x\\",\\"spec\\":{\\"a\\":1,\\"b\\":1}}": /,
  )
  t.strictSame(patched(foos, { ...foo('a'), x: 1 }, { duplicates: ['[0].path', 'y'], strictErrors: ['first'] }), foo('a', { color: 'red' }))
  t.strictSame(warnings, ['first', 'json patch duplicate field "[0].path"', 'duplicate field "y"', 'unknown field "x"'])
  const strict = contextOf('Strict').context
  t.match(
    await problem(() => patched(pods, { x: 1 }, { strictErrors: ['first'] }, strict)),
    /: strict decoding error: first, unknown field "x"$/,
  )
})

t.test('the result of a strategic merge patch is converted to its type, even with another kind', async (t) => {
  const { context, warnings } = contextOf()
  const type = configMaps.goType!
  const converted = decodeStrategic(
    configMaps,
    type,
    { kind: 'X', apiVersion: 'y', metadata: { name: 'a' }, z: 1, b: 1 },
    { body: {}, duplicates: ['data.x'] },
    context,
  )
  t.strictSame(converted, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  t.strictSame(warnings, ['duplicate field "data.x"', 'unknown field "b"', 'unknown field "z"'])
  t.match(
    await problem(() => decodeStrategic(configMaps, type, { data: 1 }, { body: { data: 1 }, duplicates: [] }, context)),
    /^422 {2}"" is invalid: patch: Invalid value: "map\[data:1\]": /,
  )
  t.match(
    await problem(() => decodeStrategic(configMaps, type, { z: 1 }, { body: { z: 1 }, duplicates: [] }, contextOf('Strict').context)),
    /"map\[z:1\]": strict decoding error: unknown field "z"$/,
  )
})

const scaled: ResourceInfo = {
  ...foos,
  subresources: { ...foos.subresources, scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'update'] } },
}

t.test('a body for a subresource is decoded into the type of the subresource', async (t) => {
  const { context, warnings } = contextOf()
  const sub = (info: ResourceInfo, name: string, object: JsonObject, duplicates: string[] = [], given = context) =>
    decodeSubresource(info, name, { object, duplicates }, given)
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 1 } }
  t.strictSame(sub(deployments, 'scale', { spec: { replicas: 1 } }), scale)
  t.strictSame(sub(scaled, 'scale', { spec: { replicas: 1 } }), scale)
  t.strictSame(sub(deployments, 'scale', { ...scale, x: 1, spec: { replicas: 1, y: 1 } }, ['spec.replicas']), {
    ...scale,
    x: 1,
    spec: { replicas: 1, y: 1 },
  })
  t.strictSame(warnings, ['duplicate field "spec.replicas"', 'unknown field "spec.y"', 'unknown field "x"'])
  const noKind = '400 no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'
  for (const wrong of [
    { ...scale, kind: 'Foo' },
    { ...scale, apiVersion: 'v1' },
    { ...scale, spec: { replicas: 'x' } },
  ])
    t.equal(await problem(() => sub(scaled, 'scale', wrong)), noKind, JSON.stringify(wrong))
  t.equal(await problem(() => sub(scaled, 'scale', { ...scale, x: 1 }, [], contextOf('Strict').context)), noKind)
  t.match(
    await problem(() => sub(deployments, 'scale', { ...scale, kind: 'Pod', apiVersion: 'v1' })),
    /^400 Pod in version "v1" cannot be handled as a Scale: /,
  )
  t.equal(
    await problem(() => sub(deployments, 'scale', { ...scale, spec: { replicas: 'x' } })),
    '400 Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32',
  )
})

t.test('an Eviction may be of policy/v1beta1, but of no other version', async (t) => {
  const { context } = contextOf()
  const evict = (object: JsonObject) => decodeSubresource(pods, 'eviction', { object, duplicates: [] }, context)
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }
  t.strictSame(evict(eviction), eviction)
  t.strictSame(evict({ ...eviction, apiVersion: 'policy/v1beta1' }), eviction)
  t.match(
    await problem(() => evict({ ...eviction, apiVersion: 'policy/v1beta1', metadata: 'x' })),
    /^400 Eviction in version "v1beta1" cannot be handled as a Eviction: /,
  )
  t.match(await problem(() => evict({ ...eviction, metadata: 'x' })), /^400 Eviction in version "v1" cannot be handled as a Eviction: /)
  t.match(
    await problem(() => evict({ ...eviction, apiVersion: 'v1', kind: 'Pod' })),
    /^400 Pod in version "v1" cannot be handled as a Eviction: /,
  )
})

t.test('the result of a patch of a subresource must match its type', async (t) => {
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 1 } }
  t.strictSame(decodePatchedSubresource(deployments, 'scale', { ...scale, x: 1 }), { ...scale, x: 1 })
  t.match(
    await problem(() => decodePatchedSubresource(deployments, 'scale', { ...scale, kind: 'Foo' })),
    /^422 {2}"" is invalid: patch: Invalid value: ".*": no kind "Foo" is registered for version "autoscaling\/v1"/,
  )
  t.match(
    await problem(() => decodePatchedSubresource(deployments, 'scale', { spec: { replicas: 'x' } })),
    /^422 .* into Go struct field ScaleSpec.spec.replicas of type int32$/,
  )
  t.strictSame(decodePatchedSubresource(scaled, 'scale', { kind: 'X' }), { kind: 'X' })
})

t.test('the name and namespace of a body must match the URL', async (t) => {
  const mismatch = '400 the namespace of the provided object does not match the namespace sent on the request'
  const named = (metadata: JsonObject): JsonObject => ({ metadata })
  checkNamespace(pods, named({}), 'a')
  checkNamespace(pods, named({ namespace: 'a' }), 'a')
  checkNamespace(builtin('nodes'), named({ namespace: 'b' }), undefined)
  t.equal(await problem(() => checkNamespace(pods, named({ namespace: 'b' }), 'a')), mismatch)
  t.equal(await problem(() => checkNamespace(pods, named({ namespace: 'b' }), undefined)), mismatch)
  checkName(named({ name: 'a' }), 'a')
  t.equal(
    await problem(() => checkName(named({}), 'a')),
    '400 the name of the object (a based on URL) was undeterminable: name must be provided',
  )
  t.equal(
    await problem(() => checkName(named({ name: 'b' }), 'a')),
    '400 the name of the object (b) does not match the name on the URL (a)',
  )
})

t.test('duplicate keys in an apply patch are refused', async (t) => {
  const { context, warnings } = contextOf()
  const lines = ['line 2: key "a" already set in map', 'line 4: key "b" already set in map']
  reportYamlDuplicates(lines, context)
  t.strictSame(warnings, lines)
  reportYamlDuplicates(lines, contextOf('Ignore').context)
  reportYamlDuplicates([], contextOf('Strict').context)
  t.equal(
    await problem(() => reportYamlDuplicates(lines, contextOf('Strict').context)),
    `400 error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${lines.join('\n  ')}`,
  )
})

t.test('neither unknown fields nor nulls are stored, except nulls of nullable fields', async (t) => {
  const text = { type: 'string' } as const
  const spec = {
    type: 'object',
    properties: { a: text, list: { type: 'array', items: text }, maybe: { ...text, nullable: true } },
  } as const
  const info = { ...foos, schema: compileSchema({ type: 'object', properties: { spec } }) }
  const object = foo('x', { a: null, list: null, maybe: null, unknown: 1 })
  t.strictSame(pruned(info, object), foo('x', { maybe: null }))
  t.equal(pruned(configMaps, object), object)
})
