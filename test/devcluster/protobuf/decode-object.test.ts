/** Tests of the decoding of protobuf request bodies to JSON objects. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { decodeProtobufObject } from '../../../src/devcluster/protobuf/decode-object.ts'
import { ProtobufError } from '../../../src/devcluster/protobuf/wire-reader.ts'
import { bytes, double, object, varint, whole } from '../../support/protobuf/bytes.ts'
import { recorded } from '../../support/protobuf/recorded.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' }
const decoded = (body: Buffer): JsonObject => decodeProtobufObject(body, configMap)

/** Returns the decoded object without apiVersion and kind. */
function fieldsOf(apiVersion: string, kind: string, ...fields: readonly Buffer[]): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = decoded(object(apiVersion, kind, ...fields))
  return rest
}

function problem(body: Buffer): string {
  try {
    return JSON.stringify(decoded(body))
  } catch (error) {
    if (error instanceof ProtobufError) return error.message
    throw error
  }
}

t.test('a protobuf body of kubectl decodes to the same object as its JSON', (t) => {
  for (const [command, base64, json] of recorded) t.strictSame(decoded(Buffer.from(base64, 'base64')), json, command)
  t.end()
})

t.test('an object without apiVersion and kind gets the expected ones', (t) => {
  const metadata = bytes(1, bytes(1, 'a'))
  t.strictSame(decoded(object('', '', metadata)), { ...configMap, metadata: { name: 'a' } })
  t.strictSame(decoded(object('', 'Secret', metadata)), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })
  t.strictSame(decoded(object('apps/v1', 'DeleteOptions', whole(1, 0))), {
    kind: 'DeleteOptions',
    apiVersion: 'apps/v1',
    gracePeriodSeconds: 0,
  })
  t.end()
})

t.test('an unset field is absent, unless its Go type always encodes it', (t) => {
  t.strictSame(fieldsOf('v1', 'ConfigMap'), { metadata: {} })
  t.strictSame(fieldsOf('v1', 'ConfigMap', bytes(1, bytes(1), whole(7, 0), bytes(8)), whole(4, 0)), { metadata: {}, immutable: false })
  t.strictSame(fieldsOf('rbac.authorization.k8s.io/v1', 'ClusterRole'), { metadata: {}, rules: null })
  t.strictSame(fieldsOf('autoscaling/v1', 'Scale'), { metadata: {}, spec: {}, status: { replicas: 0 } })
  const volume = (...source: Buffer[]): Buffer => bytes(2, bytes(1, bytes(1, 'v'), bytes(2, ...source)))
  t.strictSame((fieldsOf('v1', 'Pod', volume(bytes(2)))['spec'] as JsonObject)['volumes'], [{ name: 'v', emptyDir: {} }])
  t.end()
})

t.test('a map keeps every key as data, and the last value of a repeated key', (t) => {
  const data = (key: string, ...value: Buffer[]): Buffer => bytes(2, bytes(1, key), ...value)
  const value = fieldsOf('v1', 'ConfigMap', data('__proto__', bytes(2, 'x')), data('a', bytes(2, '1')), data('a', bytes(2, '2')), data('b'))
  t.equal(JSON.stringify(value), '{"metadata":{},"data":{"__proto__":"x","a":"2","b":""}}')
  t.equal(({} as { x?: unknown }).x, undefined)
  t.strictSame(fieldsOf('v1', 'Secret', bytes(2, bytes(1, 'k'))), { metadata: {}, data: { k: '' } })
  t.strictSame(fieldsOf('v1', 'LimitRange', bytes(2, bytes(1, bytes(2, bytes(1, 'cpu'))))), {
    metadata: {},
    spec: { limits: [{ type: '', max: { cpu: '0' } }] },
  })
  t.end()
})

t.test('repeated messages are merged, and unknown fields and groups are skipped', (t) => {
  const unknown = Buffer.concat([whole(999, 5), bytes(998, 'x'), double(997, 1), varint((996 << 3) | 5), Buffer.alloc(4)])
  const group = Buffer.concat([varint((995 << 3) | 3), unknown, varint((995 << 3) | 4)])
  t.strictSame(fieldsOf('v1', 'ConfigMap', bytes(1, bytes(1, 'a')), unknown, group, bytes(1, bytes(3, 'b'))), {
    metadata: { name: 'a', namespace: 'b' },
  })
  t.end()
})

t.test('times, quantities and other types with custom JSON are converted', (t) => {
  const event = (...fields: Buffer[]): JsonObject => fieldsOf('v1', 'Event', ...fields)
  const time = (seconds: number | bigint, nanos = 0): Buffer[] => [whole(1, seconds), whole(2, nanos)]
  const times = ({ firstTimestamp, lastTimestamp, eventTime }: JsonObject): unknown => [firstTimestamp, lastTimestamp, eventTime]
  t.strictSame(times(event(bytes(6, ...time(0)), bytes(10, ...time(1_700_000_000, 123_456_789)))), [
    '1970-01-01T00:00:00Z',
    null,
    '2023-11-14T22:13:20.123456Z',
  ])
  t.strictSame(times(event(bytes(6, ...time(-62_135_596_800)), bytes(10, ...time(-1, -1000)))), [null, null, '1969-12-31T23:59:58.999999Z'])
  const port = (...fields: Buffer[]): JsonObject => fieldsOf('v1', 'Service', bytes(2, bytes(1, bytes(4, ...fields))))
  for (const [sent, expected] of [
    [[whole(1, 0), whole(2, 8080)], 8080],
    [[whole(1, 0), whole(2, -1)], -1],
    [[whole(1, 1), bytes(3, 'http')], 'http'],
    [[], 0],
  ] as const) {
    t.match(port(...sent), { spec: { ports: [{ port: 0, targetPort: expected }] } })
  }
  const review = fieldsOf('authorization.k8s.io/v1', 'SubjectAccessReview', bytes(2, bytes(5, bytes(1, 'k'), bytes(2, bytes(1, 'v')))))
  t.match(review, { spec: { extra: { k: ['v'] } }, status: { allowed: false } })
  t.strictSame(fieldsOf('v1', 'Secret', bytes(2, bytes(1, 'k'), bytes(2, Buffer.from([0, 255])))), { metadata: {}, data: { k: 'AP8=' } })
  const revision = (...data: Buffer[]): JsonObject => fieldsOf('apps/v1', 'ControllerRevision', bytes(2, ...data), whole(3, 2n ** 53n - 1n))
  t.strictSame(revision(bytes(1, '{"a":[1,null]}')), { metadata: {}, data: { a: [1, null] }, revision: 2 ** 53 - 1 })
  t.strictSame(revision(), { metadata: {}, data: null, revision: 2 ** 53 - 1 })
  t.end()
})

t.test('times at the limits of their range are converted as by Go', (t) => {
  const first = (...fields: Buffer[]): unknown => fieldsOf('v1', 'Event', bytes(6, ...fields))['firstTimestamp']
  const event = (...fields: Buffer[]): unknown => fieldsOf('v1', 'Event', bytes(10, ...fields))['eventTime']
  t.equal(first(whole(1, -62_135_596_799)), '0001-01-01T00:00:01Z')
  t.equal(first(whole(1, 253_402_300_799)), '9999-12-31T23:59:59Z')
  const range = { message: 'Time.MarshalJSON: year outside of range [0,9999]' }
  t.throws(() => first(whole(1, 253_402_300_800)), range)
  t.throws(() => first(whole(1, -62_135_596_801)), range)
  t.equal(first(whole(2, 999_999_999)), '1970-01-01T00:00:00Z', 'a Time has whole seconds')
  t.equal(event(whole(2, 1999)), '1970-01-01T00:00:00.000001Z')
  t.equal(event(whole(1, -62_135_596_800), whole(2, 1000)), '0001-01-01T00:00:00.000001Z')
  t.equal(event(whole(1, 5)), '1970-01-01T00:00:05.000000Z')
  t.equal(event(), null)
  t.end()
})

t.test('packed lists of numbers are decoded', (t) => {
  const groups = (...sent: Buffer[]): unknown => {
    const { spec } = fieldsOf('v1', 'Pod', bytes(2, bytes(14, ...sent))) as { spec: JsonObject }
    return (spec['securityContext'] as JsonObject)['supplementalGroups']
  }
  t.strictSame(groups(whole(4, 1), whole(4, 2)), [1, 2])
  t.strictSame(groups(bytes(4, varint(1), varint(300)), whole(4, 2)), [1, 300, 2])
  t.equal(groups(bytes(4)), undefined)
  t.end()
})

t.test('the schema of a CustomResourceDefinition is decoded', (t) => {
  const schemaOf = (...fields: Buffer[]): unknown => {
    const version = bytes(7, bytes(1, 'v1'), bytes(4, bytes(1, ...fields)))
    const { spec } = fieldsOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, version)) as { spec: JsonObject }
    return ((spec['versions'] as JsonObject[])[0]!['schema'] as JsonObject)['openAPIV3Schema']
  }
  const string = bytes(5, 'string')
  const property = (name: string, ...fields: Buffer[]): Buffer => bytes(29, bytes(1, name), bytes(2, ...fields))
  t.strictSame(
    schemaOf(
      bytes(5, 'object'),
      bytes(30, whole(1, 1)),
      bytes(33, bytes(2, string)),
      property('a', bytes(8, bytes(1, '{"x":1}')), double(11, 0), double(9, 1.5), whole(38, 1), whole(40, 1)),
      property('b', bytes(24, bytes(1, string))),
      property('c', bytes(24, bytes(2, string), bytes(2))),
      bytes(32, bytes(1, 'd'), bytes(2, bytes(2, 'e'))),
    ),
    {
      type: 'object',
      properties: {
        a: {
          default: { x: 1 },
          maximum: 1.5,
          minimum: 0,
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-int-or-string': true,
        },
        b: { items: { type: 'string' } },
        c: { items: [{ type: 'string' }, {}] },
      },
      additionalProperties: true,
      dependencies: { d: ['e'] },
      additionalItems: { type: 'string' },
    },
  )
  t.end()
})

t.test('malformed protobuf is refused with the message of Go', (t) => {
  const raw = (hex: string): Buffer => object('v1', 'ConfigMap', Buffer.from(hex, 'hex'))
  const deep = (levels: number): Buffer => Array.from({ length: levels }).reduce<Buffer>((inner) => bytes(28, inner), Buffer.alloc(0))
  const noneOfIt = 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'
  const table: readonly (readonly [Buffer, string])[] = [
    [Buffer.alloc(0), 'empty data'],
    [Buffer.from('hello'), noneOfIt],
    [Buffer.from('k8s'), noneOfIt],
    [Buffer.from('k8s\0'), 'empty body'],
    [Buffer.from('k8s\0\n'), 'unexpected EOF'],
    [Buffer.from('6b38730008', 'hex'), 'proto: wrong wireType = 0 for field TypeMeta'],
    [Buffer.from('6b387300fe07', 'hex'), 'proto: illegal wireType 6'],
    [Buffer.from('6b387300faffffff7f00', 'hex'), 'proto: Unknown: illegal tag -1 (wire type 34359738362)'],
    [object('v1', 'Nope'), 'no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'],
    [object('ex.com/v1', 'ConfigMap'), 'no kind "ConfigMap" is registered for version "ex.com/v1" in scheme "pkg/runtime/scheme.go:111"'],
    [raw('0a'), 'unexpected EOF'],
    [raw('0a05'), 'unexpected EOF'],
    [raw('0801'), 'proto: wrong wireType = 0 for field ObjectMeta'],
    [raw('0a020801'), 'proto: wrong wireType = 0 for field Name'],
    [raw('0001'), 'proto: ConfigMap: illegal tag 0 (wire type 0)'],
    [raw('0c'), 'proto: ConfigMap: wiretype end group for non-group'],
    [raw('f307'), 'unexpected EOF'],
    [raw('0affffffffffffffffff01'), 'proto: negative length found during unmarshaling'],
    [raw('0affffffffffffffffffff01'), 'proto: integer overflow'],
    [raw('20ffffffffffffffffffff01'), 'proto: integer overflow'],
    [raw('f90700'), 'unexpected EOF'],
    [raw('120108'), 'unexpected EOF'],
    [raw('120104'), 'proto: unexpected end of group'],
    [
      object('v1', 'ResourceQuota', bytes(2, bytes(1, bytes(1, 'cpu'), bytes(2, bytes(1, 'many'))))),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [object('v1', 'Service', bytes(2, bytes(1, bytes(4, whole(1, 2))))), 'impossible IntOrString.Type'],
    [object('v1', 'Event', bytes(6, whole(1, 2n ** 62n))), 'Time.MarshalJSON: year outside of range [0,9999]'],
    [object('apps/v1', 'ControllerRevision', bytes(2, bytes(1, '{'))), 'failed to parse bytes as JSON: unexpected end of JSON input'],
    [
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, bytes(7, bytes(4, bytes(1, double(9, Infinity)))))),
      'json: unsupported value: Infinity',
    ],
    [
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, bytes(7, bytes(4, bytes(1, deep(1000)))))),
      'exceeded max depth',
    ],
  ]
  for (const [body, expected] of table) t.equal(problem(body), expected)
  t.end()
})

t.test('messages may be nested to a depth of 500, where an item of a list or map counts twice', (t) => {
  const problemOf = (levels: number, wrap: (inner: Buffer) => Buffer): string | undefined => {
    const schema = Array.from({ length: levels }).reduce<Buffer>(wrap, Buffer.alloc(0))
    const text = problem(object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', bytes(2, bytes(7, bytes(4, bytes(1, schema))))))
    return text.startsWith('{') ? undefined : text
  }
  for (const [name, most, wrap] of [
    ['not', 495, (inner: Buffer) => bytes(28, inner)],
    ['allOf', 247, (inner: Buffer) => bytes(25, inner)],
    ['properties', 247, (inner: Buffer) => bytes(29, bytes(1, 'a'), bytes(2, inner))],
  ] as const) {
    t.equal(problemOf(most, wrap), undefined, name)
    t.equal(problemOf(most + 1, wrap), 'exceeded max depth', name)
  }
  t.end()
})
