import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { Admission } from '../../../src/devcluster/admission/admission.ts'
import { CallError } from '../../../src/devcluster/admission/review.ts'
import { createWebhookAdmission } from '../../../src/devcluster/admission/webhook-admission.ts'
import { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { attributesOf, contextOf, custom, pods } from '../../support/devcluster/admission.ts'

type Handler = (request: JsonObject, body: JsonObject) => JsonObject | Promise<JsonObject>

interface Setup {
  readonly mutating?: readonly JsonObject[]
  readonly validating?: readonly JsonObject[]
  /** The handlers of the webhooks, keyed by the URL of the webhook. */
  readonly handlers: Readonly<Record<string, Handler>>
}

const allRules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }]

function webhook(name: string, more: JsonObject = {}): JsonObject {
  return { name, clientConfig: { url: name }, rules: allRules, sideEffects: 'None', admissionReviewVersions: ['v1'], ...more }
}

/**
 * Returns an `Admission` with one mutating and one validating webhook configuration. `called` contains the URLs of the called webhooks, in
 * order.
 */
function admissionOf({ mutating = [], validating = [], handlers }: Setup): Admission & { called: string[] } {
  const called: string[] = []
  const configurations = {
    mutating: [{ metadata: { name: 'm' }, webhooks: [...mutating] }],
    validating: [{ metadata: { name: 'v' }, webhooks: [...validating] }],
  }
  const admission = createWebhookAdmission({
    random: Math.random,
    state: {
      configurations: (kind) => configurations[kind],
      namespaceLabels: () => ({}),
      otherVersions: (info) => [custom.v1, custom.v2].filter((row) => row !== info),
    },
    caller: {
      async call({ url = '' }, body): Promise<JsonValue> {
        called.push(url)
        const request = body.request as JsonObject
        const response = await handlers[url]!(request, body)
        return 'apiVersion' in response
          ? response
          : { apiVersion: body.apiVersion!, kind: 'AdmissionReview', response: { uid: request.uid!, ...response } }
      },
      close: () => Promise.resolve(),
    },
    authorizer: { authorize: ({ verb }) => ({ allowed: verb === 'get', reason: '' }) },
    logger: silentLogger(),
  })
  return Object.assign(admission, { called })
}

function patch(...operations: JsonObject[]): JsonObject {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}
const label = (name: string, value = 'x'): JsonObject => ({ op: 'add', path: `/metadata/labels/${name}`, value })
const labelled = attributesOf(pods, { object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: {} } } })
const keep = (object: JsonObject): JsonObject => object
const labelsOf = (object: JsonObject | undefined): unknown => (object?.metadata as JsonObject).labels

async function refusal(running: Promise<unknown>): Promise<StatusError['status']> {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof StatusError)) throw new Error('not refused', { cause: error })
  return error.status
}

t.test('a mutating webhook receives the object as patched by earlier ones and defaulted again', async (t) => {
  const admission = admissionOf({
    mutating: [webhook('a'), webhook('b')],
    handlers: {
      a: () => patch(label('one')),
      b: (request) =>
        (labelsOf(request.object as JsonObject) as JsonObject).defaulted === 'yes' ? patch(label('two')) : { allowed: false },
    },
  })
  const object = await admission.mutate(labelled, (changed) => ({
    ...changed,
    metadata: { ...(changed.metadata as JsonObject), labels: { ...(labelsOf(changed) as JsonObject), defaulted: 'yes' } },
  }))
  t.strictSame(labelsOf(object), { one: 'x', defaulted: 'yes', two: 'x' })
  t.strictSame(admission.called, ['a', 'b'])
})

t.test('a webhook with reinvocationPolicy IfNeeded runs once more when a later one changed the object', async (t) => {
  const handlers = { a: () => patch(label('one')), b: () => patch(label('two')), c: () => ({ allowed: true }) }
  const ifNeeded = { reinvocationPolicy: 'IfNeeded' }
  const changed = admissionOf({ mutating: [webhook('a', ifNeeded), webhook('b'), webhook('c', ifNeeded)], handlers })
  await changed.mutate(labelled, keep)
  t.strictSame(changed.called, ['a', 'b', 'c', 'a'])
  const unchanged = admissionOf({ mutating: [webhook('a', ifNeeded), webhook('c')], handlers })
  await unchanged.mutate(labelled, keep)
  t.strictSame(unchanged.called, ['a', 'c'])
})

t.test('a denial carries the code, reason and details of the webhook', async (t) => {
  const details = { name: 'a', kind: 'Pod', causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value', field: 'spec.x' }] }
  const table: [JsonObject | undefined, JsonObject][] = [
    [undefined, { message: 'admission webhook "w" denied the request without explanation', code: 400 }],
    [{ message: 'no' }, { message: 'admission webhook "w" denied the request: no', code: 400 }],
    [
      { reason: 'Forbidden', code: 403 },
      { message: 'admission webhook "w" denied the request: Forbidden', reason: 'Forbidden', code: 403 },
    ],
    [
      { message: 'no', code: 200 },
      { message: 'admission webhook "w" denied the request: no', code: 400 },
    ],
    [
      { message: 'bad', reason: 'Invalid', code: 422, details },
      { message: 'admission webhook "w" denied the request: bad', reason: 'Invalid', code: 422, details },
    ],
  ]
  for (const [status, expected] of table) {
    const response = { allowed: false, ...(status === undefined ? {} : { status }) }
    const admission = admissionOf({ mutating: [webhook('w')], validating: [webhook('w')], handlers: { w: () => response } })
    const full = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...expected }
    t.strictSame(await refusal(admission.mutate(labelled, keep)), full)
    t.strictSame(await refusal(admission.validate(labelled)), full)
  }
})

t.test('a failed call is an internal error with failurePolicy Fail, and is ignored with Ignore', async (t) => {
  const handlers: Setup['handlers'] = { w: () => Promise.reject(new CallError('failed to call webhook: EOF')) }
  const fail = admissionOf({ mutating: [webhook('w')], validating: [webhook('w')], handlers })
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Internal error occurred: failed calling webhook "w": failed to call webhook: EOF',
    reason: 'InternalError',
    details: { causes: [{ message: 'failed calling webhook "w": failed to call webhook: EOF' }] },
    code: 500,
  }
  t.strictSame(await refusal(fail.mutate(labelled, keep)), status)
  t.strictSame(await refusal(fail.validate(labelled)), status)
  const ignore = { failurePolicy: 'Ignore' }
  const open = admissionOf({ mutating: [webhook('w', ignore)], validating: [webhook('w', ignore)], handlers })
  t.equal(await open.mutate(labelled, keep), labelled.object)
  await open.validate(labelled)
})

t.test('a denial is enforced with failurePolicy Ignore', async (t) => {
  const admission = admissionOf({ validating: [webhook('w', { failurePolicy: 'Ignore' })], handlers: { w: () => ({ allowed: false }) } })
  await t.rejects(admission.validate(labelled), { message: 'admission webhook "w" denied the request without explanation' })
})

t.test('a webhook is called when its match conditions are true', async (t) => {
  const conditional = (name: string, expression: string, more: JsonObject = {}): JsonObject =>
    webhook(name, { matchConditions: [{ name: 'x', expression }], ...more })
  const may = (verb: string): string => `authorizer.requestResource.check('${verb}').allowed()`
  const admission = admissionOf({
    validating: [
      conditional('true', "object.metadata.name == 'a'"),
      conditional('false', "object.metadata.name == 'b'"),
      conditional('may', may('get')),
      conditional('may not', may('delete')),
      conditional('ignored', 'object.x == 1', { failurePolicy: 'Ignore' }),
    ],
    handlers: { true: () => ({ allowed: true }), may: () => ({ allowed: true }) },
  })
  await admission.validate(labelled)
  t.strictSame(admission.called, ['true', 'may'])
  const failing = admissionOf({ validating: [webhook('w'), conditional('fails', 'object.x == 1')], handlers: {} })
  const message = `pods "a" is forbidden: expression 'object.x == 1' resulted in error: no such key: x`
  t.match(await refusal(failing.validate(labelled)), { code: 403, message })
  t.strictSame(failing.called, [])
})

t.test('a dry run is refused for webhooks with side effects', async (t) => {
  const dry = { ...labelled, context: contextOf({ dryRun: true }) }
  const withEffects = admissionOf({ mutating: [webhook('w', { sideEffects: 'Some' })], handlers: { w: () => ({ allowed: true }) } })
  const status = await refusal(withEffects.mutate(dry, keep))
  t.match(status, { code: 400, reason: 'BadRequest', message: 'admission webhook "w" does not support dry run' })
  t.strictSame(withEffects.called, [])
  const without = admissionOf({
    mutating: [webhook('w', { sideEffects: 'NoneOnDryRun' })],
    handlers: { w: (request) => ({ allowed: request.dryRun === true }) },
  })
  await without.mutate(dry, keep)
})

const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
const badResponses: [string, Handler, string][] = [
  ['another uid', () => ({ uid: 'other', allowed: true }), 'received invalid webhook response: expected response.uid="UID", got "other"'],
  ['no response', () => ({ ...review }), 'received invalid webhook response: webhook response was absent'],
  [
    'another kind',
    () => ({ ...review, kind: 'Other' }),
    'failed to call webhook: no kind "Other" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    'a patch without type',
    () => ({ allowed: true, patch: 'W10=' }),
    'received invalid webhook response: webhook returned response.patch but not response.patchType',
  ],
  [
    'a type without patch',
    () => ({ allowed: true, patchType: 'JSONPatch' }),
    'received invalid webhook response: webhook returned response.patchType but not response.patch',
  ],
  ['an unknown patch type', () => ({ ...patch(label('a')), patchType: 'Merge' }), 'unsupported patch type "Merge"'],
]
for (const [name, handler, expected] of badResponses) {
  t.test(`a response with ${name} is a failed call`, async (t) => {
    let uid = ''
    const remember: Handler = (request, body) => {
      uid = request.uid as string
      return handler(request, body)
    }
    const admission = admissionOf({ mutating: [webhook('w')], handlers: { w: remember } })
    const { message } = await refusal(admission.mutate(labelled, keep))
    t.equal(message, `Internal error occurred: failed calling webhook "w": ${expected.replace('UID', uid)}`)
  })
}

t.test('a patch that fails, or that the operation does not support, is an internal error', async (t) => {
  const failing = admissionOf({ mutating: [webhook('w')], handlers: { w: () => patch({ op: 'remove', path: '/spec/nope' }) } })
  t.match(await refusal(failing.mutate(labelled, keep)), { code: 500, reason: 'InternalError' })
  const deleting = admissionOf({ mutating: [webhook('w')], handlers: { w: () => patch(label('a')) } })
  const { object, ...rest } = labelled
  const status = await refusal(deleting.mutate({ ...rest, operation: 'DELETE', oldObject: object! }, keep))
  t.equal(
    status.message,
    'Internal error occurred: admission webhook "w" attempted to modify the object, which is not supported for this operation',
  )
})

t.test('a validating webhook may not patch', async (t) => {
  const admission = admissionOf({ validating: [webhook('w')], handlers: { w: () => patch(label('a')) } })
  await t.rejects(admission.validate(labelled), { message: /validating webhook may not return response.patch$/ })
})

t.test('the review contains every attribute of the request', async (t) => {
  let seen: JsonObject = {}
  const admission = admissionOf({
    validating: [
      webhook('w', { rules: [{ apiGroups: ['example.com'], apiVersions: ['v2'], operations: ['UPDATE'], resources: ['things/status'] }] }),
    ],
    handlers: {
      w: (request, body) => {
        seen = body
        return { allowed: true, warnings: ['careful'], uid: request.uid! }
      },
    },
  })
  const warnings: string[] = []
  const oldObject = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }
  const options = { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' }
  const context = contextOf({
    options,
    warn: (text) => warnings.push(text),
    user: { username: 'jane', uid: '1', groups: ['devs'], extra: { scopes: ['all'] } },
  })
  await admission.validate(attributesOf(custom.v1, { operation: 'UPDATE', subresource: 'status', oldObject, context }))
  const { uid, ...request } = seen.request as JsonObject
  t.match(uid, /^[0-9a-f-]{36}$/)
  t.strictSame(warnings, ['careful'])
  t.strictSame(request, {
    kind: { group: 'example.com', version: 'v2', kind: 'Thing' },
    resource: { group: 'example.com', version: 'v2', resource: 'things' },
    subResource: 'status',
    requestKind: { group: 'example.com', version: 'v1', kind: 'Thing' },
    requestResource: { group: 'example.com', version: 'v1', resource: 'things' },
    requestSubResource: 'status',
    name: 'a',
    namespace: 'default',
    operation: 'UPDATE',
    userInfo: { username: 'jane', uid: '1', groups: ['devs'], extra: { scopes: ['all'] } },
    object: { apiVersion: 'example.com/v2', kind: 'Thing', metadata: { name: 'a' } },
    oldObject: { apiVersion: 'example.com/v2', kind: 'Thing', metadata: { name: 'a' } },
    dryRun: false,
    options,
  })
})

t.test('an object that was patched in another version is converted back to the version of the request', async (t) => {
  const rules = [{ apiGroups: ['example.com'], apiVersions: ['v2'], operations: ['*'], resources: ['things'] }]
  const admission = admissionOf({
    mutating: [webhook('w', { rules })],
    handlers: { w: () => patch({ op: 'add', path: '/spec', value: { size: 1 } }) },
  })
  t.strictSame(await admission.mutate(attributesOf(custom.v1), keep), {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a', namespace: 'default' },
    spec: { size: 1 },
  })
})

t.test('validating webhooks are called in parallel, and the first error is returned', async (t) => {
  const slow = Promise.withResolvers<JsonObject>()
  const admission = admissionOf({
    validating: [webhook('slow'), webhook('quick')],
    handlers: {
      slow: () => slow.promise,
      quick: () => {
        queueMicrotask(() => setImmediate(() => slow.resolve({ allowed: false, status: { message: 'slow' } })))
        return { allowed: false, status: { message: 'quick' } }
      },
    },
  })
  await t.rejects(admission.validate(labelled), { message: 'admission webhook "quick" denied the request: quick' })
  t.strictSame(admission.called, ['slow', 'quick'])
})

t.test('a webhook is reinvoked after a later change, at most once', async (t) => {
  const ifNeeded = { reinvocationPolicy: 'IfNeeded' }
  let turn = 0
  const handlers = { a: () => patch(label('a', String(turn++))), b: () => patch(label('b', String(turn++))) }
  const admission = admissionOf({ mutating: [webhook('a', ifNeeded), webhook('b', ifNeeded)], handlers })
  await admission.mutate(labelled, keep)
  t.strictSame(admission.called, ['a', 'b', 'a', 'b'])
  const failing = admissionOf({
    mutating: [webhook('a', { ...ifNeeded, failurePolicy: 'Ignore' }), webhook('b')],
    handlers: { ...handlers, a: () => Promise.reject(new CallError('x')) },
  })
  await failing.mutate(labelled, keep)
  t.strictSame(failing.called, ['a', 'b', 'a'], 'a webhook whose first call failed is reinvoked')
  const same = admissionOf({
    mutating: [webhook('a', ifNeeded), webhook('b')],
    handlers: { ...handlers, b: () => patch({ op: 'test', path: '/kind', value: 'Pod' }) },
  })
  await same.mutate(labelled, keep)
  t.strictSame(same.called, ['a', 'b'], 'a patch without effect causes no reinvocation')
  const taken = admissionOf({
    mutating: [webhook('a', ifNeeded), webhook('b')],
    handlers: { a: () => ({ allowed: true }), b: () => patch(label('x')) },
  })
  t.strictSame(labelsOf(await taken.mutate(labelled, () => labelled.object!)), {})
  t.strictSame(taken.called, ['a', 'b', 'a'], 'a change that defaulting reverts causes a reinvocation')
})

t.test('a denial keeps the allowed fields of its status', async (t) => {
  const denied = async (status: JsonObject) => {
    const {
      kind: _kind,
      apiVersion: _apiVersion,
      ...rest
    } = await refusal(admissionOf({ validating: [webhook('w')], handlers: { w: () => ({ allowed: false, status }) } }).validate(labelled))
    return rest
  }
  const common = { metadata: {}, status: 'Failure', message: 'admission webhook "w" denied the request without explanation', code: 400 }
  t.strictSame(await denied({ code: 399 }), common)
  t.strictSame(await denied({ code: 400, status: 'Success' }), common)
  t.strictSame(await denied({ code: 401, status: 'Odd', metadata: { resourceVersion: '1' } }), {
    ...common,
    code: 401,
    status: 'Odd',
    metadata: { resourceVersion: '1' },
  })
})

t.test('warnings that are not empty reach the client, those of a denial included', async (t) => {
  const warnings: string[] = []
  const context = contextOf({ warn: (text) => warnings.push(text) })
  const admission = admissionOf({
    mutating: [webhook('m')],
    validating: [webhook('v')],
    handlers: { m: () => ({ allowed: true, warnings: ['one', '', 'two'] }), v: () => ({ allowed: false, warnings: ['three'] }) },
  })
  await admission.mutate({ ...labelled, context }, keep)
  await t.rejects(admission.validate({ ...labelled, context }))
  t.strictSame(warnings, ['one', 'two', 'three'])
})

t.test('a webhook is called with its own timeout and the deadline of the request', async (t) => {
  const calls: unknown[] = []
  const { signal } = new AbortController()
  const admission = createWebhookAdmission({
    random: Math.random,
    state: {
      configurations: () => [{ metadata: { name: 'c' }, webhooks: [webhook('w', { timeoutSeconds: 7 })] }],
      namespaceLabels: () => ({}),
      otherVersions: () => [],
    },
    caller: {
      call(config, body, options) {
        calls.push([config, options])
        const { uid } = body.request as JsonObject
        return Promise.resolve({ apiVersion: body.apiVersion!, kind: 'AdmissionReview', response: { uid: uid!, allowed: true } })
      },
      close: () => Promise.resolve(),
    },
    authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
    logger: silentLogger(),
  })
  const context = contextOf({ signal, deadline: 5 })
  await admission.mutate({ ...labelled, context }, keep)
  await admission.validate({ ...labelled, context })
  const call = [{ url: 'w' }, { timeoutSeconds: 7, deadline: 5, signal }]
  t.strictSame(calls, [call, call])
})

t.test('a dry run calls webhooks without side effects only', async (t) => {
  const handlers = { w: () => ({ allowed: true }) }
  const dry = { ...labelled, context: contextOf({ dryRun: true }) }
  for (const sideEffects of ['None', 'NoneOnDryRun']) {
    const admission = admissionOf({ validating: [webhook('w', { sideEffects })], handlers })
    await admission.validate(dry)
    t.strictSame(admission.called, ['w'], sideEffects)
  }
  for (const sideEffects of ['Some', 'Unknown', undefined]) {
    const admission = admissionOf({ validating: [webhook('w', { sideEffects: sideEffects! })], handlers })
    t.match(await refusal(admission.validate(dry)), { code: 400, message: 'admission webhook "w" does not support dry run' })
    await admission.validate(labelled)
    t.strictSame(admission.called, ['w'], 'only the actual write calls it')
  }
})

t.test('an ignored failure is logged', async (t) => {
  const { logger, entries } = recordingLogger()
  const admission = createWebhookAdmission({
    random: Math.random,
    state: {
      configurations: () => [{ metadata: { name: 'c' }, webhooks: [webhook('w', { failurePolicy: 'Ignore' })] }],
      namespaceLabels: () => ({}),
      otherVersions: () => [],
    },
    caller: { call: () => Promise.reject(new CallError('x')), close: () => Promise.resolve() },
    authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
    logger,
  })
  await admission.validate(labelled)
  t.match(entries, [{ level: 'warn', webhook: 'w', msg: 'failing open: failed calling webhook "w": x' }])
})

t.test('an error other than a failed call is not ignored', async (t) => {
  const admission = admissionOf({
    validating: [webhook('w', { failurePolicy: 'Ignore' })],
    handlers: { w: () => Promise.reject(new TypeError('boom')) },
  })
  await t.rejects(admission.validate(labelled), new TypeError('boom'))
  const mutating = admissionOf({
    mutating: [webhook('w', { failurePolicy: 'Ignore' })],
    handlers: { w: () => Promise.reject(new TypeError('boom')) },
  })
  await t.rejects(mutating.mutate(labelled, keep), new TypeError('boom'))
})

t.test('an invalid patch is an internal error, and the result of a valid one gets its namespace', async (t) => {
  const mutate = (text: string, attributes = labelled) =>
    admissionOf({
      mutating: [webhook('w')],
      handlers: { w: () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') }) },
    }).mutate(attributes, keep)
  const undecodable = 'Internal error occurred: failed calling webhook "w": received undecodable patch in webhook response:'
  const wrong: [text: string, message: string][] = [
    ['{', `${undecodable} unexpected end of JSON input`],
    ['{}', `${undecodable} json: cannot unmarshal object into Go value of type jsonpatch.Patch`],
    ['[{"op":"replace","path":"","value":[]}]', 'Internal error occurred: the patched object is not a JSON object'],
    ['["x"]', `${undecodable} json: cannot unmarshal string into Go value of type jsonpatch.Operation`],
  ]
  for (const [text, message] of wrong) {
    const status = await refusal(mutate(text))
    t.strictSame([status.code, status.message], [500, message], text)
  }
  for (const text of ['null', '[]']) t.equal(await mutate(text), labelled.object, text)
  const placed = { ...labelled, object: { ...labelled.object!, metadata: { name: 'a', namespace: 'default', labels: {} } } }
  const remove = '[{"op":"remove","path":"/metadata/namespace"}]'
  t.match(await mutate(remove, placed), { metadata: { namespace: 'default' } }, 'the namespace is restored')
  t.match(await refusal(mutate('[{"op":"replace","path":"/metadata/namespace","value":"x"}]', placed)), {
    code: 400,
    message: /does not match the namespace/,
  })
  const status = { ...placed, subresource: 'status' }
  t.notOk('namespace' in ((await mutate(remove, status))!.metadata as JsonObject), 'a subresource is unchanged')
})

t.test('webhooks are compiled once for each state of the configurations', async (t) => {
  let configurations: JsonObject[] = [{ metadata: { name: 'c' }, webhooks: [webhook('w')] }]
  const called: string[] = []
  const admission = createWebhookAdmission({
    random: Math.random,
    state: { configurations: () => configurations, namespaceLabels: () => ({}), otherVersions: () => [] },
    caller: {
      call({ url = '' }, body) {
        called.push(url)
        const { uid } = body.request as JsonObject
        return Promise.resolve({ apiVersion: body.apiVersion!, kind: 'AdmissionReview', response: { uid: uid!, allowed: true } })
      },
      close: () => Promise.resolve(),
    },
    authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
    logger: silentLogger(),
  })
  await admission.validate(labelled)
  configurations.push({ metadata: { name: 'd' }, webhooks: [webhook('x')] })
  await admission.validate(labelled)
  configurations = [...configurations]
  await admission.validate(labelled)
  t.strictSame(called, ['w', 'w', 'w', 'x'])
})

t.test('a webhook is matched against the object as patched by earlier ones', async (t) => {
  const handlers = { a: () => patch(label('wanted')), b: () => ({ allowed: true }), c: () => ({ allowed: true }) }
  const objectSelector = { matchLabels: { wanted: 'x' } }
  const admission = admissionOf({ mutating: [webhook('c', { objectSelector }), webhook('a'), webhook('b', { objectSelector })], handlers })
  await admission.mutate(labelled, keep)
  t.strictSame(admission.called, ['a', 'b'])
})

t.test('a patched object must keep its type, and a patched subresource keeps its own', async (t) => {
  const admission = admissionOf({
    mutating: [webhook('w')],
    handlers: { w: () => patch({ op: 'replace', path: '/kind', value: 'Other' }) },
  })
  t.match(await refusal(admission.mutate(labelled, keep)), {
    code: 500,
    message: 'Internal error occurred: no kind "Other" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  })
  t.match(await admission.mutate({ ...labelled, subresource: 'binding' }, keep), { kind: 'Other' })
})
