import t from 'tap'
import { formatFieldError } from '../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { withBuiltinType } from '../../src/api/builtin-types.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { defineKind } from '../../src/api/kind.ts'
import type { TSchema } from '../../src/api/type.ts'
import { Type } from '../../src/api/type.ts'
import { builtinNode } from '../../src/schema/builtin-node.ts'
import { schemaOf } from '../../src/schema/kind-schema.ts'

const kind = defineKind({
  group: 'example.com',
  kind: 'Holder',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        pod: Type.Optional(Type.Builtin('PodSpec')),
        named: Type.Optional(
          Type.Builtin('PodSpec', {
            required: ['containers'],
            properties: {
              containers: Type.Array(Type.Object({ name: Type.String() }, { preserveUnknownFields: true }), {
                listType: 'map',
                listMapKeys: ['name'],
              }),
            },
          }),
        ),
        env: Type.Optional(Type.Array(Type.Builtin('EnvVar'))),
        template: Type.Optional(Type.Builtin('PodTemplateSpec')),
        byName: Type.Optional(Type.Record(Type.Builtin('ResourceRequirements'))),
        maybe: Type.Optional(Type.Nullable(Type.Builtin('Affinity'))),
        storage: Type.Optional(Type.Builtin('PersistentVolumeClaimSpec', { default: { accessModes: ['ReadWriteOnce'] } })),
      }),
    },
  ],
})
const schema = schemaOf(kind)

function holder(spec: JsonObject): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Holder', metadata: { name: 'a' }, spec }
}

function errorsOf(spec: JsonObject, old?: JsonObject): string[] {
  return schema.validate(holder(spec), old && holder(old)).map(formatFieldError)
}

const main = { name: 'main', image: 'x' }
const pod = (container: JsonObject, rest: JsonObject = {}): JsonObject => ({ pod: { containers: [{ ...main, ...container }], ...rest } })
const inContainer = 'spec.pod.containers[0]'

t.test('an invalid value is reported as for every schema', async (t) => {
  const cases: readonly (readonly [name: string, spec: JsonObject, errors: readonly string[]])[] = [
    ['nothing', pod({}), []],
    ['a missing field', { pod: { containers: [{ image: 'x' }] } }, [`${inContainer}.name: Required value`]],
    ['a missing list', { pod: {} }, ['spec.pod.containers: Required value']],
    ['an empty text for a required one', pod({ env: [{ name: '' }] }), [`${inContainer}.env[0].name: Required value`]],
    [
      'a number for a text',
      pod({ image: 5 }),
      [`${inContainer}.image: Invalid value: "integer": ${inContainer}.image in body must be of type string: "integer"`],
    ],
    [
      'a text for a number',
      pod({ ports: [{ containerPort: '80' }] }),
      [
        `${inContainer}.ports[0].containerPort: Invalid value: "string": ${inContainer}.ports[0].containerPort in body must be of type integer: "string"`,
      ],
    ],
    [
      'an object for a list',
      pod({}, { tolerations: {} }),
      ['spec.pod.tolerations: Invalid value: "object": spec.pod.tolerations in body must be of type array: "object"'],
    ],
    [
      'no quantity',
      pod({ resources: { limits: { memory: 'much' } } }),
      [
        `${inContainer}.resources.limits.memory: Invalid value: "much": ${inContainer}.resources.limits.memory in body should match '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
      ],
    ],
    [
      'a number for a text, beside a name that comes twice, which is allowed',
      pod({ image: 5, env: [{ name: 'A' }, { name: 'A' }] }),
      [`${inContainer}.image: Invalid value: "integer": ${inContainer}.image in body must be of type string: "integer"`],
    ],
    [
      'an unknown text',
      pod({}, { restartPolicy: 'Sometimes' }),
      ['spec.pod.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
    ['a wrong value of a list of embedded types', { env: [{ name: 'A' }, { value: 'x' }] }, ['spec.env[1].name: Required value']],
    [
      'a wrong value of a map of embedded types',
      { byName: { a: { limits: 1 } } },
      ['spec.byName.a.limits: Invalid value: "integer": spec.byName.a.limits in body must be of type object: "integer"'],
    ],
    [
      'an item that is nothing',
      { pod: { containers: [null] } },
      ['spec.pod.containers[0]: Invalid value: "null": spec.pod.containers[0] in body must be of type object: "null"'],
    ],
  ]
  for (const [name, spec, errors] of cases) t.strictSame(errorsOf(spec), errors, name)
})

t.test('values that Go decodes as empty or converts are accepted', async (t) => {
  const cases: readonly (readonly [name: string, spec: JsonObject])[] = [
    ['null', pod({ env: null, resources: { limits: null } }, { volumes: null, restartPolicy: null, hostNetwork: null })],
    ['a null item', pod({ args: ['a', null] })],
    ['an empty text where there are a few', pod({ imagePullPolicy: '' })],
    ['numbers as quantities', pod({ resources: { limits: { cpu: 0.5, memory: 1024 }, requests: { cpu: '1e3', memory: '.5Gi' } } })],
    ['ports by number and by name', pod({ livenessProbe: { httpGet: { port: 80 } }, readinessProbe: { tcpSocket: { port: 'http' } } })],
    ['environment variables that come twice', pod({ env: [{ name: 'A' }, { name: 'A' }] })],
    ['null where the kind allows it', { maybe: null }],
    ['unknown fields', pod({ envs: [] })],
  ]
  for (const [name, spec] of cases) t.strictSame(errorsOf(spec), [], name)
})

t.test('an error that the CRD schema reports as well is reported once', async (t) => {
  t.strictSame(errorsOf({ named: { containers: [{ image: 'x' }, { name: 7 }] } }), [
    'spec.named.containers[0].name: Required value',
    'spec.named.containers[1].name: Invalid value: "integer": spec.named.containers[1].name in body must be of type string: "integer"',
  ])
  t.strictSame(errorsOf({ named: {} }), ['spec.named.containers: Required value'])
  const spec = withBuiltinType<StructuralSchema>(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { name: { type: 'integer' } } },
    'EnvVar',
  )
  const compiled = compileSchema({ type: 'object', properties: { spec } })
  t.strictSame(
    compiled.validate({ spec: { name: true } }).map(formatFieldError),
    ['spec.name: Invalid value: "boolean": spec.name in body must be of type integer: "boolean"'],
    'the CRD schema takes precedence',
  )
})

t.test('items with equal keys are no error', async (t) => {
  const ports = [80, 80].map((containerPort) => ({ containerPort, protocol: 'TCP' }))
  t.strictSame(errorsOf(pod({ ports })), [])
  t.strictSame(
    errorsOf(pod({ ports, image: 5 })).map((error) => error.split(': ')[0]),
    [`${inContainer}.image`],
  )
})

t.test('an update need not correct an unchanged invalid value', async (t) => {
  const old = pod({ image: 5 }, { noSuchField: 1 })
  t.strictSame(errorsOf({ ...old, env: [] }, old), [], 'the whole value')
  t.strictSame(errorsOf({ pod: { noSuchField: 1 }, env: [] }, { pod: { noSuchField: 1 } }), [], 'the whole value, which lacks a field')
  t.strictSame(errorsOf(pod({ image: 5 }, { hostname: 'new' }), old), [], 'a container')
  t.match(errorsOf(pod({ image: 6 }), old), [/spec\.pod\.containers\[0\]\.image/])
})

t.test('an update may move invalid items with keys, but no others', async (t) => {
  const bad = { name: 'bad', image: 5 }
  const moved = (list: string, old: JsonValue[], now: JsonValue[]): string[] =>
    errorsOf({ pod: { containers: [main], [list]: now, hostname: 'new' } }, { pod: { containers: [main], [list]: old } }).map(
      (error) => error.split(': ')[0]!,
    )
  t.strictSame(moved('initContainers', [bad, main], [main, bad]), [])
  t.strictSame(moved('initContainers', [bad, main], [main, { ...bad, name: 'other' }]), ['spec.pod.initContainers[1].image'])
  t.strictSame(moved('tolerations', [{ key: 5 }, { key: 'a' }], [{ key: 'a' }, { key: 5 }]), ['spec.pod.tolerations[1].key'])
})

t.test('every kind of scalar is validated', async (t) => {
  const template = (metadata: JsonObject): string[] => errorsOf({ template: { metadata, spec: { containers: [main] } } })
  const wrong = (field: string, type: string, value: string): string =>
    `spec.template.metadata.${field}: Invalid value: ${JSON.stringify(value)}: spec.template.metadata.${field} in body must be of type ${type}: ${JSON.stringify(value)}`
  t.strictSame(
    template({ creationTimestamp: '2026-01-01T00:00:00Z', generation: 5, managedFields: [{ fieldsV1: { any: { thing: 1 } } }] }),
    [],
  )
  t.strictSame(template({ creationTimestamp: 'soon' }), [wrong('creationTimestamp', 'date-time', 'soon')])
  t.strictSame(template({ generation: 'x' }), [wrong('generation', 'integer', 'string')])
  t.strictSame(
    template({ generation: true }),
    ['spec.template.metadata.generation: Invalid value: "": spec.template.metadata.generation in body must be of type int64: ""'],
    'for values that are no texts, the format is compared',
  )
  t.strictSame(template({ managedFields: [{ fieldsV1: 'x' }] }), [wrong('managedFields[0].fieldsV1', 'object', 'string')])
  t.strictSame(template({ labels: { a: 5 } }), [wrong('labels.a', 'string', 'integer')])
  t.strictSame(errorsOf(pod({}, { hostNetwork: 'x' })), [
    'spec.pod.hostNetwork: Invalid value: "string": spec.pod.hostNetwork in body must be of type boolean: "string"',
  ])
  const port = `${inContainer}.livenessProbe.httpGet.port`
  t.strictSame(errorsOf(pod({ livenessProbe: { httpGet: { port: true } } })), [
    `${port}: Invalid value: "boolean": ${port} in body must be of type integer,string: "boolean"`,
  ])
  const period = `${inContainer}.livenessProbe.periodSeconds`
  t.strictSame(errorsOf(pod({ livenessProbe: { periodSeconds: 2 ** 31, httpGet: { port: 1 } } })), [
    `<nil>: Invalid value: "": Checked value must be of type integer with format int32 in ${period}`,
  ])
  t.strictSame(errorsOf(pod({ livenessProbe: { periodSeconds: true, httpGet: { port: 1 } } })), [
    `${period}: Invalid value: "": ${period} in body must be of type int32: ""`,
  ])
})

t.test('quantities are validated', async (t) => {
  const limit = `${inContainer}.resources.limits.memory`
  for (const good of ['1', '+1', '-1', '1.', '.5', '1.5Gi', '1e3', '1E-3', '5m', '5n', '5u', '5k', '5M', '5Ki', '5Ei', 5, 1.5])
    t.strictSame(errorsOf(pod({ resources: { limits: { memory: good } } })), [], String(good))
  for (const suffix of ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'])
    t.strictSame(errorsOf(pod({ resources: { limits: { memory: `1${suffix}` } } })), [], `suffix ${suffix}`)
  for (const bad of ['.', '1 Gi', '1gi', '1K', '1mi', '1ni', '1ui', '1ki', '1N', '1g', '1i', '1Kii', 'e3', '1e', '--1', 'x', ' 1'])
    t.strictSame(errorsOf(pod({ resources: { limits: { memory: bad } } })), [
      `${limit}: Invalid value: ${JSON.stringify(bad)}: ${limit} in body should match '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    ])
})

t.test('values keep their form', async (t) => {
  const object = holder({
    ...pod({ ports: [{ containerPort: 80 }], args: null }, { noSuchField: { a: null } }),
    storage: { resources: null },
  })
  t.equal(schema.default(object), object)
  t.equal(schema.prune(object).object, object)
  t.match(schema.default(holder({})), { spec: { storage: { accessModes: ['ReadWriteOnce'] } } }, 'only the default of the field is applied')
})

t.test('unknown fields are pruned and reported', async (t) => {
  const cases: readonly (readonly [spec: JsonObject, unknown: readonly string[]])[] = [
    [pod({}), []],
    [
      pod({ envs: [], securityContext: { runAsuser: 1 } }, { restartpolicy: 'x' }),
      [`${inContainer}.envs`, `${inContainer}.securityContext.runAsuser`, 'spec.pod.restartpolicy'],
    ],
    [pod({}, { nodeSelector: { any: 'thing' } }), []],
    [{ env: [{ name: 'A', val: 'x' }], byName: { a: { limit: {} } } }, ['spec.byName.a.limit', 'spec.env[0].val']],
    [{ named: { containers: [{ name: 'a', img: 'x' }] } }, ['spec.named.containers[0].img']],
    [{ pod: JSON.parse('{"containers":[],"__proto__":1,"constructor":2}') as JsonValue }, ['spec.pod.__proto__', 'spec.pod.constructor']],
  ]
  for (const [spec, unknown] of cases) t.strictSame(schema.unknownFields(holder(spec)), unknown)
  t.strictSame(
    schema.unknownFields(
      holder({
        env: [null, 5, { name: 'A', val: 1 }],
        byName: null,
        pod: { containers: [{ env: [{ x: 1 }] }, { y: 2 }] },
      } as unknown as JsonObject),
    ),
    ['spec.env[2].val', 'spec.pod.containers[0].env[0].x', 'spec.pod.containers[1].y'],
  )
  const three = holder({ env: [{ a: 1 }, { b: 1 }, { c: 1 }] })
  for (const limit of [0, 1, 2, 3]) t.equal(schema.unknownFields(three, limit).length, limit)
  t.equal(schema.unknownFields(three, 4).length, 3)
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, index]))
  t.equal(schema.unknownFields(holder(pod({}, many)), 32).length, 32)
})

t.test('unknown fields are found wherever the only built-in type of a schema is', async (t) => {
  const inside = (field: TSchema, value: JsonValue): readonly string[] =>
    schemaOf(defineKind({ group: 'example.com', kind: 'Holder', versions: [{ name: 'v1', spec: Type.Object({ field }) }] })).unknownFields({
      spec: { field: value },
    })
  const variable = Type.Builtin('EnvVar')
  t.strictSame(inside(variable, { x: 1 }), ['spec.field.x'])
  t.strictSame(inside(Type.Array(variable), [{ x: 1 }]), ['spec.field[0].x'])
  t.strictSame(inside(Type.Record(variable), { a: { x: 1 } }), ['spec.field.a.x'])
  t.strictSame(inside(Type.Object({ a: variable }), { a: { x: 1 } }), ['spec.field.a.x'])
  t.strictSame(inside(Type.Record(Type.String()), { a: 'x' }), [])
})

t.test('a map of anything beside a built-in type has no unknown fields', async (t) => {
  const variable = withBuiltinType<StructuralSchema>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'EnvVar')
  const any: StructuralSchema = { type: 'object', additionalProperties: true }
  const compiled = compileSchema({ type: 'object', properties: { any, variable } })
  t.strictSame(compiled.unknownFields({ any: { a: { b: 1 }, l: [{ c: 1 }] }, variable: { x: 1 } }), ['variable.x'])
})

t.test('the schema of a type is built once and shared', async (t) => {
  t.equal(builtinNode('PodSpec'), builtinNode('PodSpec'))
  t.equal(builtinNode('PodTemplateSpec').properties.get('spec'), builtinNode('PodSpec'))
  t.throws(() => builtinNode('NoSuchType'), {
    code: 'PRO_INPUT',
    message: /^Unknown built-in type "NoSuchType": a kind cannot embed it\.$/,
  })
})

t.test('a missing struct is reported like a missing text', async (t) => {
  const deployment = { type: 'object', properties: { spec: withBuiltinType({ type: 'object' }, 'DeploymentSpec') } } as StructuralSchema
  const errors = compileSchema(deployment).validate({ spec: {} }).map(formatFieldError)
  t.strictSame(errors, ['spec.selector: Required value', 'spec.template: Required value'])
})
