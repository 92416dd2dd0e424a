import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { node, pod } from '../../src/api/builtin.ts'
import { formatFieldError, forbidden, invalid } from '../../src/api/field-error.ts'
import type { ResourceType } from '../../src/api/group-version-kind.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import type { ReviewContext } from '../../src/webhook/definition/context.ts'
import type { WebhookDefinition } from '../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { reviewOffline } from '../../src/webhook/validate-offline.ts'
import { handlers, widget, widgetObject } from '../support/webhook/fixture.ts'
import type { Widget } from '../support/webhook/fixture.ts'

const webhooks = [defineWebhook(widget, { ...handlers, validateInCluster: () => Promise.reject(new Error('there is no cluster')) })]

t.test('a valid object is reported as such', async (t) => {
  t.strictSame(await reviewOffline(webhooks, widgetObject({})), {
    known: true,
    kind: 'Widget',
    name: 'w',
    valid: true,
    errors: [],
    warnings: [],
  })
  t.match(
    await reviewOffline(webhooks, {
      apiVersion: 'apps.example.com/v1',
      kind: 'Widget',
      metadata: { generateName: 'w-' },
      spec: { image: 'i' },
    }),
    { valid: true, name: 'w-' },
  )
})

t.test('all errors of an object are reported, sorted', async (t) => {
  const review = await reviewOffline(webhooks, widgetObject({ image: 'i', size: 99, typo: 1 }, { name: 'Bad', labels: { 'a b': '' } }))
  t.equal(review.valid, false)
  t.strictSame(
    review.errors.map(({ path }) => path),
    ['metadata.labels', 'metadata.name', 'spec.size', 'spec.typo'],
  )
  t.match(review.errors.at(-1), { message: 'Forbidden: unknown field' })
})

t.test('malformed metadata and unknown metadata fields are errors', async (t) => {
  const unreadable = await reviewOffline(webhooks, widgetObject({ image: 'i' }, { name: 'w', labels: { a: 1 } as never }))
  t.match(unreadable.errors, [{ path: 'metadata', message: /json: cannot unmarshal number into Go struct field ObjectMeta.*labels/ }])
  const unknown = await reviewOffline(webhooks, widgetObject({ image: 'i' }, { name: 'w', label: 'x' } as never))
  t.match(unknown.errors, [{ path: 'metadata.label', message: 'Forbidden: unknown field' }])
})

t.test('embedded built-in types are validated in full, and their unknown fields are errors', async (t) => {
  const holder = defineKind({
    group: 'example.com',
    kind: 'Holder',
    versions: [{ name: 'v1', spec: Type.Object({ pod: Type.Builtin('PodSpec') }) }],
  })
  const pod = { containers: [{ name: 'a', ports: [{ containerPort: '80' }], envs: [] }] }
  const review = await reviewOffline([defineWebhook(holder)], {
    apiVersion: 'example.com/v1',
    kind: 'Holder',
    metadata: { name: 'a' },
    spec: { pod },
  })
  t.match(review.errors, [
    { path: 'spec.pod.containers[0].envs', message: 'Forbidden: unknown field' },
    { path: 'spec.pod.containers[0].ports[0].containerPort', reason: 'FieldValueTypeInvalid' },
  ])
})

t.test('validate() handlers are called, and their failure is an error', async (t) => {
  t.match(await reviewOffline(webhooks, widgetObject({ image: 'i', note: 'bad' })), { valid: false, errors: [{ path: 'spec.note' }] })
  const warning = [defineWebhook(widget, { validate: (_object, _old, { warn }) => (warn('careful'), []) })]
  t.match(await reviewOffline(warning, widgetObject({ image: 'i' })), { valid: true, warnings: ['careful'] })
  const broken = [defineWebhook(widget, { validate: () => Promise.reject(new Error('boom')) })]
  t.match(await reviewOffline(broken, widgetObject({ image: 'i' })), {
    valid: false,
    errors: [{ message: /validation failed: boom/ }],
  })
})

t.test('a defaulter that throws is an error of the object', async (t) => {
  const failing = defineWebhook(widget, {
    default: () => Promise.reject(new Error('oops')),
    validate: () => [invalid('spec.note', '', 'of its own')],
  })
  const ofPods = defineWebhook(pod, { default: () => Promise.reject(new Error('oops')) })
  const failed = ['<nil>: Invalid value: "": the kind\'s own validation failed: oops']
  const errorsOf = async (...review: Parameters<typeof reviewOffline>): Promise<string[]> =>
    (await reviewOffline(...review)).errors.map(formatFieldError)
  t.strictSame(await errorsOf([failing], widgetObject({ image: 'i' })), failed)
  t.strictSame(await errorsOf([ofPods], { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }), failed)
  const refused = await reviewOffline([failing], widgetObject({ image: 5 }))
  t.strictSame(
    refused.errors.map(({ path }) => path),
    ['spec.image', 'spec.note'],
    'default() is not called if the schema refuses the object',
  )
})

t.test('the name of an object with generateName is empty in handlers', async (t) => {
  const names: string[] = []
  const recording = defineWebhook(widget, { validate: (_object, _old, { name }) => (names.push(name), []) })
  const { name } = await reviewOffline([recording], { ...widgetObject({ image: 'i' }), metadata: { generateName: 'w-' } })
  t.equal(name, 'w-')
  t.strictSame(names, [''])
})

t.test('all handlers of a kind are called in declared order', async (t) => {
  const step = (name: string, spec: object): WebhookDefinition =>
    defineWebhook(widget, {
      ...spec,
      default: (object) => ({ ...object, spec: { ...object.spec, note: `${object.spec.note ?? ''}${name}` } }),
    })
  const several = [
    step('a', { validate: ({ spec }: Widget) => [invalid('spec.note', spec.note, 'first')] }),
    step('b', { validate: () => [forbidden('spec.image', 'second')] }),
    defineWebhook(widget, { operations: ['UPDATE'], validate: () => [forbidden('spec', 'is not asked about a create')] }),
    defineWebhook(widget, {
      name: 'labelled',
      objectSelector: { matchLabels: { a: 'b' } },
      validate: () => [forbidden('metadata.labels', 'third')],
    }),
    defineWebhook(widget, { subresource: 'status', validate: () => [forbidden('status', 'is another matter')] }),
  ]
  const pathsOf = async (metadata: JsonObject): Promise<unknown> =>
    (await reviewOffline(several, widgetObject({ image: 'i' }, metadata))).errors.map(({ path, message }) => `${path}: ${message}`)
  const both = ['spec.image: Forbidden: second', 'spec.note: Invalid value: "ab": first']
  t.strictSame(await pathsOf({}), both)
  t.strictSame(await pathsOf({ labels: { a: 'b' } }), ['metadata.labels: Forbidden: third', ...both])
})

t.test('handlers are skipped by selectors and match conditions that the object alone can decide', async (t) => {
  const isCalled = async (expression: string): Promise<boolean> => {
    const webhooks = [
      defineWebhook(widget, { matchConditions: [{ name: 'c', expression }], validate: () => [forbidden('spec', 'was asked')] }),
    ]
    return !(await reviewOffline(webhooks, widgetObject({ image: 'i' }))).valid
  }
  t.equal(await isCalled("object.metadata.name == 'w' && oldObject == null"), true)
  t.equal(await isCalled("object.metadata.name != 'w'"), false)
  t.equal(await isCalled("object.metadata.missing == 'w'"), true, 'the API server would refuse the request')
  const none = [defineWebhook(widget, { objectSelector: { matchLabels: { a: 'b' } } })]
  t.match(
    await reviewOffline(none, widgetObject({ size: 99 })),
    { errors: [{ path: 'spec.image' }, { path: 'spec.size' }] },
    'the API server validates by the schema in any case',
  )
  t.equal(await isCalled("request.userInfo.username == 'jane'"), true, 'the user is unknown')
})

t.test('types without a schema are validated by their handlers', async (t) => {
  const pods = [
    defineWebhook(pod, { validate: ({ spec }) => (spec?.hostNetwork === true ? [forbidden('spec.hostNetwork', 'not here')] : []) }),
  ]
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { hostNetwork: true, containers: [] } }
  t.match(await reviewOffline(pods, object), { known: true, kind: 'Pod', valid: false, errors: [{ path: 'spec.hostNetwork' }] })
  t.match(await reviewOffline(pods, { ...object, spec: {} }), { known: true, valid: true })
  const broken = [defineWebhook(pod, { default: () => Promise.reject(new Error('boom')) })]
  t.match(await reviewOffline(broken, object), { valid: false, errors: [{ message: /validation failed: boom/ }] })
})

interface Namespaced {
  readonly metadata: { readonly namespace?: string }
}

t.test('a namespaced object without a namespace is in "default"', async (t) => {
  const seen: unknown[] = []
  const validate = ({ metadata }: Namespaced, _old: unknown, { namespace }: Pick<ReviewContext<JsonObject>, 'namespace'>): [] => {
    seen.push([metadata.namespace, namespace])
    return []
  }
  const spec = Type.Object({})
  const house = defineKind({ group: 'example.com', kind: 'House', versions: [{ name: 'v1', spec }] })
  const town = defineKind({ group: 'example.com', kind: 'Town', scope: 'Cluster', versions: [{ name: 'v1', spec }] })
  const definitions = [house, town, pod, node].map((type) => defineWebhook(type as ResourceType, { validate }))
  for (const [apiVersion, kind] of [
    ['example.com/v1', 'House'],
    ['example.com/v1', 'Town'],
    ['v1', 'Pod'],
    ['v1', 'Node'],
  ] as const) {
    const { valid } = await reviewOffline(definitions, { apiVersion, kind, metadata: { name: 'x' }, spec: {} })
    t.ok(valid, kind)
  }
  await reviewOffline(definitions, { apiVersion: 'example.com/v1', kind: 'House', metadata: { name: 'x', namespace: 'far' }, spec: {} })
  t.strictSame(seen, [
    ['default', 'default'],
    [undefined, ''],
    ['default', 'default'],
    [undefined, ''],
    ['far', 'far'],
  ])
})

t.test('other kinds are unknown, other versions are errors', async (t) => {
  t.match(await reviewOffline(webhooks, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }), {
    known: false,
    kind: 'Pod',
    name: 'p',
    valid: true,
  })
  t.match(await reviewOffline(webhooks, { ...widgetObject({}), apiVersion: 'apps.example.com/v1alpha1' }), {
    known: true,
    valid: false,
    errors: [
      {
        path: 'apiVersion',
        message: 'Unsupported value: "apps.example.com/v1alpha1": supported values: "apps.example.com/v1", "apps.example.com/v1beta1"',
      },
    ],
  })
})

t.test('an unknown kind of a served group is an error with the nearest kind', async (t) => {
  const review = (apiVersion: string, kind: string) =>
    reviewOffline(webhooks, { apiVersion, kind, metadata: { name: 'a' } }, undefined, [], [widget])
  const misspelt = await review('apps.example.com/v1', 'Wigdet')
  t.match(misspelt, { known: true, kind: 'Wigdet', name: 'a', valid: false })
  t.strictSame(misspelt.errors.map(formatFieldError), [
    'kind: Invalid value: "Wigdet": is not a kind of apps.example.com; did you mean Widget?',
  ])
  const other = await review('apps.example.com/v1', 'Database')
  t.strictSame(other.errors.map(formatFieldError), ['kind: Invalid value: "Database": is not a kind of apps.example.com, which has Widget'])
  t.match(await review('example.com/v1', 'Wigdet'), { known: false, valid: true }, 'in another group')
})

t.test('a kind without a webhook is validated with its schema, as the API server does', async (t) => {
  const house = defineKind({
    group: 'example.com',
    kind: 'House',
    versions: [
      {
        name: 'v1',
        storage: true,
        spec: Type.Object(
          { size: Type.Integer({ minimum: 1 }), floors: Type.Integer({ default: 2 }) },
          { rules: [{ rule: 'self.floors <= self.size', message: 'is too high' }] },
        ),
      },
      { name: 'v1beta1', spec: Type.Object({ size: Type.Integer() }) },
      { name: 'v1alpha1', served: false, spec: Type.Object({}) },
    ],
  })
  const ofStatus = defineWebhook(house, { subresource: 'status', validate: () => [forbidden('status', 'no')] })
  const review = async (spec: JsonObject, version = 'v1', definitions: WebhookDefinition[] = [...webhooks, ofStatus]) =>
    reviewOffline(
      definitions,
      { apiVersion: `example.com/${version}`, kind: 'House', metadata: { name: 'h' }, spec },
      undefined,
      [],
      [widget, house],
    )
  t.match(await review({ size: 3 }), { known: true, valid: true, kind: 'House', name: 'h' })
  const errors = async (...of: Parameters<typeof review>) => (await review(...of)).errors.map(formatFieldError)
  t.strictSame((await errors({})).slice(1), ['spec.size: Required value'])
  t.strictSame(await errors({ size: 0, typo: 1 }), [
    'spec: Invalid value: is too high',
    'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    'spec.typo: Forbidden: unknown field',
  ])
  t.strictSame(await errors({ size: 1 }), ['spec: Invalid value: is too high'], 'the rule sees the default')
  t.strictSame(await errors({ size: 1 }, 'v1beta1'), ['spec: Invalid value: is too high'], 'in the stored version')
  t.match(await errors({}, 'v1alpha1'), [/^apiVersion: Unsupported value: "example.com\/v1alpha1": supported values/])
  t.strictSame((await errors({}, 'v1', [])).slice(1), ['spec.size: Required value'], 'without any webhook')
})

const messagesOf = async (...review: Parameters<typeof reviewOffline>): Promise<string[]> =>
  (await reviewOffline(...review)).errors.map(formatFieldError)

t.test('handlers run as a dry-run create by an anonymous user, and their warnings are deduplicated', async (t) => {
  const seen: ReviewContext[] = []
  const logger = silentLogger()
  const recording = defineWebhook(widget, {
    validate(_object, old, context) {
      seen.push(context)
      for (const text of ['one', 'one', '', 'two']) context.warn(text)
      context.audit('a.b', 'c')
      return old === undefined ? [] : [forbidden('spec', 'there is one before')]
    },
  })
  const object = widgetObject({ image: 'i' })
  t.strictSame(await reviewOffline([recording], object, logger), {
    known: true,
    kind: 'Widget',
    name: 'w',
    valid: true,
    errors: [],
    warnings: ['one', 'two'],
  })
  const { signal, warn: _warn, audit, logger: contextLogger, ...context } = seen[0]!
  t.strictSame(context, {
    operation: 'CREATE',
    dryRun: true,
    user: { username: '' },
    namespace: 'ns',
    name: 'w',
    resource: { group: 'apps.example.com', version: 'v1', resource: 'widgets' },
    subResource: '',
    options: {},
    oldObject: undefined,
  })
  t.equal(signal.aborted, false)
  t.equal(contextLogger, logger)
  t.throws(() => audit('a/b', ''), { code: 'PRO_INPUT' })
})

t.test('the name of an object is metadata.name or generateName', async (t) => {
  for (const [metadata, name] of [
    [{ name: 'a', generateName: 'b-' }, 'a'],
    [{ generateName: 'b-' }, 'b-'],
    [{ name: 1 }, ''],
    ['x', ''],
    [undefined, ''],
  ] as const)
    t.equal((await reviewOffline(webhooks, { ...widgetObject({}), metadata: metadata as never })).name, name, JSON.stringify(metadata))
})

t.test('objects without a kind or of another group are unknown', async (t) => {
  const unknown = { known: false, name: '', valid: true, errors: [], warnings: [] }
  t.strictSame(await reviewOffline(webhooks, {}), { ...unknown, kind: '' })
  t.strictSame(await reviewOffline(webhooks, { apiVersion: 1, kind: {} } as never), { ...unknown, kind: '' })
  t.strictSame(await reviewOffline(webhooks, { apiVersion: 'v1', kind: 'Widget' }), { ...unknown, kind: 'Widget' })
  const ofStatus = [defineWebhook(widget, { subresource: 'status', validate: () => [forbidden('status', 'no')] })]
  t.strictSame(await reviewOffline(ofStatus, { apiVersion: 'apps.example.com/v1', kind: 'Widget' }), { ...unknown, kind: 'Widget' })
})

t.test('the kinds of a group are listed by name', async (t) => {
  const spec = Type.Object({})
  const kinds = ['Tower', 'House', 'Barn'].map((kind) => defineKind({ group: 'example.com', kind, versions: [{ name: 'v1', spec }] }))
  t.strictSame(await messagesOf([], { apiVersion: 'example.com/v1', kind: 'Xylophone' }, undefined, [], [widget, ...kinds]), [
    'kind: Invalid value: "Xylophone": is not a kind of example.com, which has Barn, House, Tower',
  ])
})

t.test('errors of the schema and of handlers are combined, and the last of very many counts the rest', async (t) => {
  const broken = [
    defineWebhook(widget, { default: () => Promise.reject(new Error('boom')), validate: () => [] }),
    defineWebhook(widget, { validate: () => Promise.reject(new Error('bang')) }),
  ]
  t.strictSame(await messagesOf(broken, widgetObject({ image: 'i', size: 10 }, { name: 'Bad' })), [
    "metadata.name: Invalid value: \"Bad\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
  ])
  const many = defineWebhook(widget, { validate: () => Array.from({ length: 252 }, (_, index) => forbidden(`spec.f${index}`, 'no')) })
  const errors = await messagesOf([many], widgetObject({ image: 'i' }))
  t.equal(errors.length, 251)
  t.equal(errors.at(-1), '<nil>: Too many: at least 2 more errors are not listed; correct those that are')
})

t.test('unknown fields are errors at any level', async (t) => {
  const object = { ...widgetObject({ image: 'i', typo: 1, parts: [{ name: 'a', colour: 'b' }] }), more: 1 }
  t.strictSame(await messagesOf(webhooks, object), [
    'more: Forbidden: unknown field',
    'spec.parts[0].colour: Forbidden: unknown field',
    'spec.typo: Forbidden: unknown field',
  ])
})

t.test('defaults of the schema are applied before default(), and its result is validated', async (t) => {
  const seen: unknown[] = []
  const filling = defineWebhook(widget, {
    default: (object) => (seen.push(object.spec.size), { ...object, spec: { ...object.spec, size: 10, image: 'i' } }),
    validate: ({ spec }) => (seen.push(spec.size), []),
  })
  t.strictSame(await messagesOf([filling], widgetObject({})), [
    'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9',
  ])
  t.strictSame(seen, [3, 10])
})

t.test('malformed metadata is the only error', async (t) => {
  const spec = Type.Object({ size: Type.Integer(), resource: Type.Optional(Type.EmbeddedResource()) })
  const kind = defineKind({ group: 'example.com', kind: 'Holder', versions: [{ name: 'v1', spec }] })
  const none = { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } as const
  const holder = defineWebhook(kind, { objectSelector: none, validate: () => [forbidden('spec', 'was asked')] })
  const errorsOf = (object: object): Promise<string[]> =>
    messagesOf([holder], { apiVersion: 'example.com/v1', kind: 'Holder', ...object } as JsonObject)
  const noNumber = 'json: cannot unmarshal number into Go value of type v1.ObjectMeta'
  t.strictSame(await errorsOf({ metadata: 5, spec: {} }), [`metadata: Invalid value: 5: ${noNumber}`])
  const resource = { apiVersion: 'v1', kind: 'Pod', metadata: 5 }
  t.strictSame(await errorsOf({ metadata: { name: 'a' }, spec: { resource } }), [`spec.resource.metadata: Invalid value: 5: ${noNumber}`])
  t.strictSame(await errorsOf({ spec: { size: 1 } }), [
    'metadata.name: Required value: name or generateName is required',
    'spec: Forbidden: was asked',
  ])
})
