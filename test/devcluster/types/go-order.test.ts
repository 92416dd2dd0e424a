import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { inGoOrder } from '../../../src/devcluster/types/go-order.ts'
import { shapeOf } from '../../../src/devcluster/types/go-shape.ts'
import { fieldNames, kindType, objectMetaType } from '../../../src/devcluster/types/go-types.ts'
import { asDecoded, asGo } from '../../../src/devcluster/types/go-value.ts'

const typeOf = (group: string, kind: string) => kindType({ group, version: 'v1', kind })!
const pod = typeOf('', 'Pod')
const order = (object: JsonObject, type?: typeof pod): string => JSON.stringify(inGoOrder(deepFreeze(object), type))

t.test('fields are in the order of the Go struct, map keys are sorted, and unknown fields come last', async (t) => {
  t.equal(
    order(
      {
        x: 1,
        spec: { hostname: 'h', containers: [{ image: 'i', name: 'n' }] },
        metadata: { labels: { b: '1', a: '2' }, name: 'p' },
        apiVersion: 'v1',
        kind: 'Pod',
      },
      pod,
    ),
    '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"2","b":"1"}},"spec":{"containers":[{"name":"n","image":"i"}],"hostname":"h"},"x":1}',
  )
  t.equal(
    order({ x: { b: 1, a: 2 }, a: [{ d: 1, c: { f: 1, e: 2 } }] }),
    '{"a":[{"c":{"e":2,"f":1},"d":1}],"x":{"a":2,"b":1}}',
    'a custom resource is a map',
  )
  t.equal(order({ y: { b: 1, a: 2 }, kind: 'Pod' }, pod), '{"kind":"Pod","y":{"a":2,"b":1}}')
  const versions = [
    {
      name: 'v1',
      schema: { openAPIV3Schema: { type: 'object', description: 'd', items: { type: 'x', description: 'y' }, default: { b: 1, a: 2 } } },
    },
  ]
  t.equal(
    order({ spec: { versions } }, typeOf('apiextensions.k8s.io', 'CustomResourceDefinition')),
    '{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"description":"d","type":"object","default":{"b":1,"a":2},"items":{"description":"y","type":"x"}}}}]}}',
    'a value of arbitrary type is unchanged',
  )
})

t.test('an object or a part that is in order is returned itself', async (t) => {
  const object = deepFreeze({
    kind: 'Pod',
    metadata: { name: 'p', labels: { a: '1', b: '2' } },
    spec: { containers: [{ name: 'n', image: 'i' }] },
  }) as unknown as JsonObject
  t.equal(inGoOrder(object, pod), object)
  const mixed = deepFreeze({ spec: object.spec!, metadata: object.metadata! })
  const result = inGoOrder<JsonObject>(mixed, pod)
  t.strictSame(Object.keys(result), ['metadata', 'spec'])
  t.equal(result.metadata, object.metadata)
  t.equal(result.spec, object.spec)
  const withGap = inGoOrder({ spec: {}, kind: undefined, metadata: {} } as unknown as JsonObject, pod)
  t.strictSame(Object.keys(withGap), ['metadata', 'spec'], 'an undefined field is dropped')
  t.equal(order(JSON.parse('{"b":1,"__proto__":2,"a":3}') as JsonObject), '{"__proto__":2,"a":3,"b":1}')
})

t.test('decoding and encoding drop and add empty fields as in Go', async (t) => {
  const configMap = typeOf('', 'ConfigMap')
  const object = deepFreeze({ metadata: { name: 'a', labels: {}, finalizers: [] }, data: {}, immutable: false })
  t.equal(asDecoded(configMap, object), object, 'decoding keeps empty fields')
  t.strictSame(asGo(configMap, object), { metadata: { name: 'a' }, immutable: false })
  const node = typeOf('', 'Node')
  t.strictSame(asDecoded(node, { metadata: {}, spec: { unschedulable: false, podCIDR: '', taints: null }, status: {} }), {
    metadata: {},
    spec: {},
    status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: (asGo(node, {}).status as JsonObject).nodeInfo },
  })
  t.strictSame(asGo(configMap, { metadata: {}, data: 'x' }), { metadata: {}, data: 'x' }, 'a value of another type is kept')
  t.strictSame(asGo(pod, { spec: { containers: [null] } }).spec, { containers: [{ name: '', resources: {} }] })
  t.strictSame(asGo(pod, { spec: { containers: [], tolerations: ['x'] } }).spec, { containers: [], tolerations: ['x'] })
  const quota = asGo(typeOf('', 'ResourceQuota'), { spec: { hard: { cpu: null } } } as JsonObject)
  t.strictSame(quota.spec, { hard: { cpu: '0' } })
})

t.test('field names of a nested type are found through lists', async (t) => {
  t.strictSame(fieldNames(typeOf('', 'ConfigMap')), ['kind', 'apiVersion', 'metadata', 'immutable', 'data', 'binaryData'])
  t.strictSame(fieldNames(typeOf('', 'Pod'), 'spec', 'containers', 'ports'), ['name', 'hostPort', 'containerPort', 'protocol', 'hostIP'])
  t.strictSame(fieldNames(typeOf('', 'Pod'), 'spec', 'bogus'), [])
  t.strictSame(fieldNames(typeOf('', 'Pod'), 'metadata', 'labels'), [])
  t.strictSame(fieldNames(undefined), [])
  t.ok(fieldNames(objectMetaType()).includes('managedFields'))
  t.notOk(fieldNames(objectMetaType()).includes('kind'))
  t.equal(kindType({ group: 'ex.com', version: 'v1', kind: 'Foo' }), undefined)
})

t.test('lists and maps of built-in types have their merge strategies', async (t) => {
  const field = (type: typeof pod, name: string): unknown => {
    const { type: _type, ...rest } = type.fields.get(name)!
    return rest
  }
  const below = (type: typeof pod, name: string): typeof pod => {
    const found = type.fields.get(name)!.type
    return (found.kind === 'list' ? found.item : found) as typeof pod
  }
  const spec = below(pod, 'spec')
  const plain = { strategy: '', mergeKey: '', keys: undefined, atomic: false, keyDefault: undefined }
  t.strictSame(field(spec, 'containers'), {
    ...plain,
    pointer: false,
    dropsEmpty: false,
    strategy: 'merge',
    mergeKey: 'name',
    keys: ['name'],
  })
  t.strictSame(field(spec, 'tolerations'), { ...plain, pointer: false, dropsEmpty: true })
  t.strictSame(field(spec, 'nodeSelector'), { ...plain, pointer: false, dropsEmpty: true, atomic: true })
  t.strictSame(field(pod, 'kind'), { ...plain, pointer: false, dropsEmpty: true })
  t.strictSame(field(objectMetaType(), 'finalizers'), { ...plain, pointer: false, dropsEmpty: true, strategy: 'merge', keys: [] })
  const ports = below(below(spec, 'containers'), 'ports')
  t.match(field(below(spec, 'containers'), 'ports'), { strategy: 'merge', mergeKey: 'containerPort', keys: ['containerPort', 'protocol'] })
  t.equal((field(ports, 'protocol') as { keyDefault: unknown }).keyDefault, 'TCP')
  t.equal((field(ports, 'containerPort') as { keyDefault: unknown }).keyDefault, 0)
  t.equal((field(below(typeOf('apps', 'Deployment'), 'status'), 'replicas') as { keyDefault: unknown }).keyDefault, undefined)
})

t.test('a Go type is converted to a shape for decoding', async (t) => {
  t.equal(shapeOf(pod), shapeOf(pod))
  t.equal(shapeOf(pod).type, 'Pod')
  const spec = shapeOf(pod.fields.get('spec')!.type as typeof pod).fields
  t.equal(spec.hostname, 'string')
  t.equal(spec.hostNetwork, 'bool')
  t.equal(spec.terminationGracePeriodSeconds, 'int64')
  t.strictSame(spec.nodeSelector, { mapOf: 'string' })
  t.match(spec.containers, [{ type: 'Container' }])
  t.strictSame(shapeOf(typeOf('', 'Secret')).fields.data, { mapOf: 'bytes' })
  t.strictSame(
    shapeOf(typeOf('', 'ResourceQuota')).fields.spec,
    shapeOf(typeOf('', 'ResourceQuota').fields.get('spec')!.type as typeof pod),
  )
})
