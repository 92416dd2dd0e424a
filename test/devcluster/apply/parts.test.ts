/** Tests of the steps of a server-side apply request: validation against the schema, merge, comparison and removal of fields. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { checkFields } from '../../../src/devcluster/apply/check-fields.ts'
import { appliedFields, compare } from '../../../src/devcluster/apply/compare.ts'
import { fieldSet, fromFieldsV1, isEmptySet, leafSet, pathsOf, toFieldsV1 } from '../../../src/devcluster/apply/field-set.ts'
import { lastAppliedFields, withLastApplied } from '../../../src/devcluster/apply/last-applied.ts'
import { mergeConfig } from '../../../src/devcluster/apply/merge-config.ts'
import { ownedPart } from '../../../src/devcluster/apply/owned-part.ts'
import { pruneApplied } from '../../../src/devcluster/apply/prune-applied.ts'
import { removeFields, withNamedFields } from '../../../src/devcluster/apply/remove-fields.ts'
import { withObjectManagers, withScaleManagers } from '../../../src/devcluster/apply/scale-managers.ts'
import { elementOf, typingOf } from '../../../src/devcluster/apply/typing.ts'
import { kindType } from '../../../src/devcluster/types/go-types.ts'
import { foos } from '../../support/devcluster/registry.ts'

const foo = typingOf(foos)
const spec = foo.field('spec')
const pods = {
  group: '',
  kind: 'Pod',
  custom: false,
  subresources: { status: { kind: 'Pod', verbs: [] } },
  goType: kindType({ group: '', version: 'v1', kind: 'Pod' })!,
}
const pod = typingOf(pods)

t.test('a configuration that does not match its schema is refused with every path', async (t) => {
  const problem = (info: typeof pods | typeof foos, config: JsonObject): string | undefined => {
    try {
      checkFields(info, config, { apiVersion: 'v1', metadata: { name: 'a', namespace: 'n' } })
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
  const failed = (detail: string): string => `failed to create typed patch object (n/a; /v1, Kind=Pod): ${detail}`
  t.equal(problem(pods, { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', ports: null }] } }), undefined)
  t.equal(problem(pods, { spec: { bogus: 1 } }), failed('.spec.bogus: field not declared in schema'))
  t.equal(problem(pods, { spec: 'x' }), failed('.spec: expected map, got &{x}'))
  t.equal(problem(pods, { spec: { containers: { a: [1] } } }), failed('.spec.containers: expected list, got &{map[a:[1]]}'))
  t.equal(
    problem(pods, { spec: { hostname: 5, hostNetwork: 'yes', terminationGracePeriodSeconds: 'x', containers: [{ name: true }] } }),
    failed(
      [
        'errors:',
        '.spec.containers[0].name: expected string, got &value.valueUnstructured{Value:true}',
        '.spec.hostNetwork: expected boolean, got &value.valueUnstructured{Value:"yes"}',
        '.spec.hostname: expected string, got &value.valueUnstructured{Value:5}',
        '.spec.terminationGracePeriodSeconds: expected numeric (int or float), got string',
      ].join('\n  '),
    ),
  )
  t.equal(problem(pods, { spec: { terminationGracePeriodSeconds: 2n ** 60n } }), undefined)
  t.equal(
    problem(foos, { spec: { extra: { any: 5 } } }),
    'failed to create typed patch object (n/a; v1, Kind=Foo): .spec.extra.any: expected string, got &value.valueUnstructured{Value:5}',
  )
  t.equal(
    problem(foos, { apiVersion: 'x', kind: 'y', metadata: { bogus: 1 } }),
    'failed to create typed patch object (n/a; v1, Kind=Foo): .metadata.bogus: field not declared in schema',
  )
})

t.test('a list item is identified by its keys with defaults, or by its value', async (t) => {
  const ports = spec.field('ports')
  t.equal(elementOf({ port: 1, name: 'x' }, ports), 'k:{"port":1,"protocol":"TCP"}')
  t.equal(elementOf({ protocol: 'UDP', port: 1 }, ports), 'k:{"port":1,"protocol":"UDP"}')
  t.equal(elementOf({ name: 'x' }, ports), 'k:{"protocol":"TCP"}')
  t.equal(elementOf({ port: null, protocol: null }, ports), 'k:{"protocol":"TCP"}')
  t.equal(elementOf('x', ports), undefined)
  const tags = spec.field('tags')
  t.strictSame(
    ['x', 1, null, {}, []].map((item) => elementOf(item as JsonValue, tags)),
    ['v:"x"', 'v:1', 'v:null', undefined, undefined],
  )
  t.equal(elementOf({}, pod.field('spec').field('containers')), 'k:{"name":""}', 'a missing name is the empty string, as in Go')
})

t.test('the fields of a custom resource have the types and topology of its schema', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
      parts: { type: 'object', 'x-kubernetes-map-type': 'granular', properties: { a: { type: 'integer' } } },
      object: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
      loose: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'boolean' } } },
      either: { 'x-kubernetes-int-or-string': true },
      list: { type: 'array', items: { type: 'number' } },
      map: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
        items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', default: 'x' } } },
      },
    },
  }
  const typing = typingOf({ schema: { schema } as never })
  t.strictSame(
    Object.keys(schema.properties).map((name) => [name, typing.field(name).type, typing.field(name).atomicMap, typing.field(name).list]),
    [
      ['whole', 'map', true, 'atomic'],
      ['parts', 'map', false, 'atomic'],
      ['object', 'map', false, 'atomic'],
      ['loose', 'map', false, 'atomic'],
      ['either', 'any', false, 'atomic'],
      ['list', 'list', false, 'atomic'],
      ['map', 'list', false, 'map'],
    ],
  )
  t.strictSame([typing.field('map').keys, typing.field('map').keyDefaults], [['a', 'b'], { b: 'x' }])
  const kinds = (path: string, ...names: string[]): string[] => {
    const at = path === '' ? typing : typing.field(path)
    return names.map((name) => `${name}: ${at.has(name)} ${at.field(name).type}`)
  }
  t.strictSame(kinds('', 'apiVersion', 'kind', 'metadata', 'parts', 'other'), [
    'apiVersion: field string',
    'kind: field string',
    'metadata: field map',
    'parts: field map',
    'other: unknown any',
  ])
  t.strictSame(kinds('object', 'apiVersion', 'kind', 'metadata', 'spec', 'other'), [
    'apiVersion: field string',
    'kind: field string',
    'metadata: field map',
    'spec: field map',
    'other: unknown any',
  ])
  t.equal(typing.field('object').field('metadata').has('labels'), 'field')
  t.strictSame(kinds('parts', 'a', 'metadata'), ['a: field number', 'metadata: unknown any'])
  t.strictSame(kinds('whole', 'a'), ['a: entry string'])
  t.strictSame(kinds('loose', 'a', 'b'), ['a: field boolean', 'b: entry any'])
  t.strictSame(kinds('either', 'a'), ['a: entry any'])
  t.equal(typing.field('list').item().type, 'number')
})

t.test('structs and maps of built-in types that are atomic have one owner', async (t) => {
  const typing = typingOf({ goType: kindType({ group: 'apps', version: 'v1', kind: 'Deployment' })! }).field('spec')
  const podSpec = typing.field('template').field('spec')
  const atomic: readonly (readonly [name: string, typing: typeof spec, atomic: boolean])[] = [
    ['a label selector', typing.field('selector'), true],
    ['a reference to an object', podSpec.field('imagePullSecrets').item(), true],
    ['a key of a ConfigMap', podSpec.field('containers').item().field('env').item().field('valueFrom').field('configMapKeyRef'), true],
    ['a node selector', podSpec.field('affinity').field('nodeAffinity').field('requiredDuringSchedulingIgnoredDuringExecution'), true],
    ['the labels of nodes', podSpec.field('nodeSelector'), true],
    ['a Pod template', typing.field('template'), false],
    ['labels', typing.field('template').field('metadata').field('labels'), false],
    ['resource limits', podSpec.field('containers').item().field('resources').field('limits'), false],
  ]
  for (const [name, found, expected] of atomic) t.equal(found.atomicMap, expected, name)
})

t.test('a merged list keeps the order of the live list, with applied items in theirs', async (t) => {
  const merged = (live: string[], config: string[]): JsonValue => mergeConfig({ tags: live }, { tags: config }, spec)
  const cases: readonly (readonly [live: string, config: string, merged: string])[] = [
    ['', 'ab', 'ab'],
    ['ab', '', 'ab'],
    ['ab', 'ab', 'ab'],
    ['ab', 'ba', 'ba'],
    ['abc', 'b', 'abc'],
    ['abc', 'd', 'abcd'],
    ['abc', 'db', 'adbc'],
    ['abc', 'bd', 'abcd'],
    ['abc', 'ca', 'bca'],
    ['abcd', 'dxb', 'acdxb'],
  ]
  for (const [live, config, wanted] of cases) t.strictSame(merged([...live], [...config]), { tags: [...wanted] }, `${live} and ${config}`)
  t.strictSame(merged(['a', 'a'], ['b']), { tags: ['b'] }, 'equal items are one value')
  t.strictSame(mergeConfig({ words: ['a'] }, { words: ['b'] }, spec), { words: ['b'] })
  t.strictSame(mergeConfig({ ports: [{ port: 1, name: 'x' }] }, { ports: [{ port: 1, protocol: 'TCP' }] }, spec), {
    ports: [{ port: 1, name: 'x', protocol: 'TCP' }],
  })
  t.strictSame(mergeConfig({ a: { b: 1 } }, { a: 'x' }, foo), { a: 'x' })
  t.strictSame(mergeConfig(undefined, { a: 1 }, foo), { a: 1 })
  const selector = pod.field('spec')
  t.strictSame(
    mergeConfig({ nodeSelector: { a: '1' } }, { nodeSelector: { b: '2' } }, selector),
    { nodeSelector: { b: '2' } },
    'an atomic map is replaced',
  )
})

t.test('a configuration claims its fields, items and empty maps', async (t) => {
  const claims = (value: JsonObject): JsonObject => toFieldsV1(appliedFields(value, foo))
  t.strictSame(claims({ spec: { size: 1, extra: { a: 'x' }, tags: ['x'], words: ['y'], ports: [{ port: 1 }] } }), {
    'f:spec': {
      'f:extra': { 'f:a': {} },
      'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {} } },
      'f:size': {},
      'f:tags': { 'v:"x"': {} },
      'f:words': {},
    },
  })
  t.strictSame(
    claims({ spec: { tags: [], extra: {} } }),
    { 'f:spec': { 'f:extra': {} } },
    'an empty list claims nothing, an empty map claims itself',
  )
})

t.test('a comparison returns the changed and the removed fields', async (t) => {
  const compared = (before: JsonObject, after: JsonObject): unknown => {
    const { changed, removed } = compare({ spec: before }, { spec: after }, foo)
    return [pathsOf(changed), pathsOf(removed)]
  }
  t.strictSame(compared({ size: 1 }, { size: 1 }), [[], []])
  t.strictSame(compared({ size: 1, note: 'n' }, { size: 2 }), [['.spec.size'], ['.spec.note']])
  t.strictSame(compared({}, { extra: { a: 'x' } }), [['.spec.extra', '.spec.extra.a'], []])
  t.strictSame(compared({ extra: { a: 'x' } }, {}), [[], ['.spec.extra', '.spec.extra.a']])
  t.strictSame(compared({}, { extra: {} }), [['.spec.extra'], []])
  t.strictSame(compared({ extra: {} }, {}), [[], ['.spec.extra']])
  t.strictSame(compared({ extra: {} }, { extra: {} }), [[], []])
  t.strictSame(compared({ tags: ['a', 'b'] }, { tags: ['b', 'c'] }), [['.spec.tags[="c"]'], ['.spec.tags[="a"]']])
  t.strictSame(compared({ words: ['a'] }, { words: ['b'] }), [['.spec.words'], []])
  t.strictSame(
    compared({ extra: null }, { extra: { a: 'x' } }),
    [['.spec.extra.a'], []],
    'a manager that sets a null field owns its children only',
  )
  t.strictSame(compared({ ports: [{ port: 1 }] }, { ports: [{ port: 1, name: 'x' }] }), [['.spec.ports[port=1,protocol="TCP"].name'], []])
  t.strictSame(compared({ extra: { a: 'x' } }, { extra: 'y' }), [['.spec.extra'], []])
})

t.test('removed fields lose their children, and an emptied parent becomes null', async (t) => {
  const taken = (fields: JsonObject): JsonValue =>
    removeFields(
      { spec: { size: 1, extra: { a: 'x', b: 'y' }, tags: ['x', 'y'], words: ['z'], ports: [{ port: 1, name: 'n' }] } },
      fromFieldsV1({ 'f:spec': fields }),
      foo,
    )
  const whole = { size: 1, extra: { a: 'x', b: 'y' }, tags: ['x', 'y'], words: ['z'], ports: [{ port: 1, name: 'n' }] }
  t.strictSame(taken({ 'f:none': {} }), { spec: whole })
  t.strictSame(taken({ 'f:extra': {} }), { spec: { size: 1, tags: whole.tags, words: whole.words, ports: whole.ports } })
  t.strictSame(taken({ 'f:extra': { 'f:a': {} } }), { spec: { ...whole, extra: { b: 'y' } } })
  t.strictSame(taken({ 'f:extra': { 'f:a': {}, 'f:b': {} } }), { spec: { ...whole, extra: null } })
  t.strictSame(taken({ 'f:tags': { 'v:"x"': {} } }), { spec: { ...whole, tags: ['y'] } })
  t.strictSame(taken({ 'f:tags': { 'v:"x"': {}, 'v:"y"': {} } }), { spec: { ...whole, tags: null } })
  t.strictSame(taken({ 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { 'f:name': {} } } }), { spec: { ...whole, ports: [{ port: 1 }] } })
  t.strictSame(taken({ 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': {} } }), { spec: { ...whole, ports: null } })
  t.strictSame(taken({ 'f:words': { 'v:"z"': {} } }), { spec: { ...whole, words: null } }, 'an atomic list is removed as a whole')
  t.strictSame(removeFields({ nodeSelector: { a: '1' } }, fromFieldsV1({ 'f:nodeSelector': { 'f:a': {} } }), pod.field('spec')), {
    nodeSelector: null,
  })
})

t.test('a field that is no longer applied stays while another manager owns it in any version', async (t) => {
  const owned = (apiVersion: string, ...names: string[]) => ({
    apiVersion,
    fields: fromFieldsV1({ 'f:spec': Object.fromEntries(names.map((name) => [`f:${name}`, {}])) }),
  })
  const merged = { spec: { size: 1, note: 'n', color: 'red' } }
  const [v1, v2] = ['ex.com/v1', 'ex.com/v2']
  const last = owned(v1, 'size', 'note')
  const pruned = (next: typeof last, ...others: (typeof last)[]): JsonObject =>
    pruneApplied({ info: foos, merged, last, next, others, view: undefined })
  const without = { spec: { size: 1, color: 'red' } }
  t.strictSame(pruned(owned(v1, 'size')), without)
  t.strictSame(pruned(owned(v2, 'size')), without)
  t.strictSame(pruned(owned(v1, 'size'), owned(v1, 'color'), owned(v2, 'size')), without)
  t.strictSame(pruned(owned(v1, 'size'), owned(v1, 'note')), merged)
  t.strictSame(pruned(owned(v1, 'size'), owned(v1, 'color'), owned(v2, 'note')), merged)
  t.equal(pruned(owned(v1, 'size', 'note', 'color')), merged)
})

t.test('the owner of a field co-owns the structs above it, but not map entries or list items', async (t) => {
  const named = (fields: JsonObject): JsonObject => toFieldsV1(withNamedFields(fromFieldsV1(fields), foo))
  t.strictSame(named({ 'f:spec': { 'f:size': {} } }), { 'f:spec': { '.': {}, 'f:size': {} } })
  t.strictSame(named({ 'f:spec': { 'f:extra': { 'f:a': {} } } }), { 'f:spec': { '.': {}, 'f:extra': { '.': {}, 'f:a': {} } } })
  t.strictSame(named({ 'f:spec': { 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { 'f:name': {} } } } }), {
    'f:spec': { '.': {}, 'f:ports': { '.': {}, 'k:{"port":1,"protocol":"TCP"}': { 'f:name': {} } } },
  })
})

t.test('a field set without members is empty', async (t) => {
  t.ok(isEmptySet(fieldSet(false, [['f:a', fieldSet(false, [])]])))
  t.notOk(isEmptySet(leafSet))
  t.strictSame(toFieldsV1(fromFieldsV1({ 'f:a': { '.': {} }, 'k:{"b":1, "a":2}': {}, 'v:[': {}, 'i:0': {} })), {
    'f:a': {},
    'k:{"a":2,"b":1}': {},
  })
  t.strictSame(pathsOf(fromFieldsV1({ 'k:{"b":"x","a":1}': {}, 'f:z': {}, 'f:a': {} })), ['.a', '.z', '[a=1,b="x"]'])
})

t.test('fields that the server sets have no owner', async (t) => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      namespace: 'n',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: 't',
      deletionTimestamp: 't',
      deletionGracePeriodSeconds: 1,
      selfLink: 's',
      managedFields: [],
      labels: { a: 'b' },
      generateName: 'g',
    },
    spec: { hostname: 'h' },
    status: { phase: 'x' },
  }
  const metadata = { labels: { a: 'b' }, generateName: 'g' }
  t.strictSame(ownedPart(pods, object, ''), { spec: { hostname: 'h' }, metadata })
  t.strictSame(ownedPart(pods, object, 'status'), { metadata, status: { phase: 'x' } })
  t.strictSame(ownedPart(foos, object, 'status'), { metadata: {}, status: { phase: 'x' } })
  t.strictSame(ownedPart({ ...pods, subresources: {} }, object, ''), { spec: { hostname: 'h' }, metadata, status: { phase: 'x' } })
  t.strictSame(ownedPart(pods, { spec: {} }, 'status'), { metadata: {} })
})

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
const annotated = (text: unknown, fields: JsonObject = { size: 1, note: 'n' }): JsonObject => ({
  metadata: { name: 'a', annotations: { [annotation]: text as string, b: 'c' } },
  spec: fields,
})

t.test('fields of the last-applied annotation count while their values are unchanged', async (t) => {
  const noted = (live: JsonObject): string[] => pathsOf(lastAppliedFields(foos, live, foo))
  const config = JSON.stringify({
    apiVersion: 'ex.com/v1',
    kind: 'Foo',
    metadata: { name: 'a' },
    spec: { size: 1, note: 'old', color: 'red' },
  })
  t.strictSame(noted(annotated(config)), ['.metadata', '.spec.size'])
  t.strictSame(noted(annotated('{')), [])
  t.strictSame(noted(annotated('[]')), [])
  t.strictSame(noted(annotated(5)), [])
  t.strictSame(noted({ spec: { size: 1 } }), [])
})

t.test('an existing last-applied annotation is updated', async (t) => {
  const config = {
    kind: 'Foo',
    apiVersion: 'ex.com/v1',
    metadata: { name: 'a', annotations: { [annotation]: 'old', x: 'y' }, managedFields: [] },
    spec: { size: 2 },
  } as unknown as JsonObject
  const object = annotated('older', { size: 2 })
  t.strictSame(withLastApplied(object, annotated('older'), config), {
    metadata: {
      name: 'a',
      annotations: {
        [annotation]: '{"apiVersion":"ex.com/v1","kind":"Foo","metadata":{"annotations":{"x":"y"},"name":"a"},"spec":{"size":2}}\n',
        b: 'c',
      },
    },
    spec: { size: 2 },
  })
  t.equal(withLastApplied(object, { metadata: {} }, config), object)
  const note = (text: string): unknown => {
    const { metadata } = withLastApplied(object, annotated('older'), { metadata: {}, x: text }) as { metadata: { annotations: JsonObject } }
    return (metadata.annotations[annotation] as string).length
  }
  const around = '{"metadata":{},"x":""}\n'.length
  t.equal(note('x'.repeat(256 * 1024 - around)), 256 * 1024)
  t.equal(note('x'.repeat(256 * 1024 - around + 1)), 0, 'an annotation that is too long becomes empty')
})

t.test('managers of spec.replicas are converted to those of the Scale and back', async (t) => {
  const pathIn = (version: string): readonly string[] | null | undefined => ({ 'ex.com/v1': ['spec', 'size'], 'ex.com/v2': null })[version]
  const entry = (manager: string, fields: JsonObject, change: JsonObject = {}): JsonObject => ({
    manager,
    operation: 'Apply',
    apiVersion: 'ex.com/v1',
    time: 't',
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...change,
  })
  const sized = { 'f:spec': { 'f:note': {}, 'f:size': {} } }
  const replicas = { 'f:spec': { 'f:replicas': {} } }
  const object: JsonObject = {
    metadata: {
      name: 'a',
      managedFields: [
        entry('a', sized),
        entry('b', { 'f:spec': { 'f:note': {} } }),
        entry('c', sized, { apiVersion: 'ex.com/v2' }),
        entry('d', sized, { apiVersion: 'ex.com/v3' }),
      ],
    },
  }
  t.strictSame(withScaleManagers({ kind: 'Scale', metadata: { name: 'a' } }, object, pathIn), {
    kind: 'Scale',
    metadata: { name: 'a', managedFields: [entry('a', replicas, { apiVersion: 'autoscaling/v1' })] },
  })
  t.strictSame(withScaleManagers({ metadata: { managedFields: [] } }, {}, pathIn), { metadata: {} })
  const scale = (...managedFields: JsonObject[]): JsonObject => ({ metadata: { managedFields } })
  const managers = (after: JsonObject): unknown =>
    ((withObjectManagers(object, after, 'ex.com/v1', pathIn).metadata as JsonObject).managedFields as JsonObject[]).map(
      ({ manager, time, fieldsV1 }) => [manager, time ?? null, fieldsV1],
    )
  const kept = [
    ['b', 't', { 'f:spec': { 'f:note': {} } }],
    ['c', 't', sized],
  ]
  t.strictSame(managers(scale(entry('a', replicas, { apiVersion: 'autoscaling/v1' }))), [['a', 't', sized], ...kept])
  t.strictSame(
    managers(scale()),
    [['a', 't', { 'f:spec': { 'f:note': {} } }], ...kept],
    'a manager that lost replicas on the Scale loses it on the object',
  )
  t.strictSame(
    managers(scale(entry('a', replicas, { apiVersion: 'autoscaling/v1' }), entry('new', replicas), entry('other', { 'f:metadata': {} }))),
    [['new', null, { 'f:spec': { 'f:size': {} } }], ['a', 't', sized], ...kept],
  )
})
