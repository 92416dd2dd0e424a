/** Tests of the complete AdmissionReviews that mutating and validating webhooks receive for each verb that writes. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { Call } from '../support/conformance/admission.ts'
import { admissionWorld, configMaps, defineWidgets, patchResponse, webhookOf } from '../support/conformance/admission.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-reviews'
const group = 'reviews.example.com'
const anything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
const controlPlane = await conformanceControlPlane(t, {
  controllers: false,
  namespaces: [namespace],
  users: [{ name: 'jane', groups: ['team'], rules: anything }],
})
const api = apiOf(t, controlPlane.connection)
const jane = apiOf(t, controlPlane.connectionFor('jane'))
const { server, configure } = await admissionWorld(t, api, namespace)
await defineWidgets(t, api, group)

const path = `/apis/${group}/v1/namespaces/${namespace}/widgets`
const rules = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['*'], resources: ['*/*'] }]
const kind = { group, version: 'v1', kind: 'Widget' }
const resource = { group, version: 'v1', resource: 'widgets' }
const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
const merge = { contentType: 'application/merge-patch+json' }
const apply = { contentType: 'application/apply-patch+yaml' }

function widget(content: JsonObject, metadata: JsonObject): JsonObject {
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata, ...content }
}

/** Returns a stored object as the reviews contain it. Values that differ between runs are placeholders. */
function live(name: string, content: JsonObject, generation = 1, more: JsonObject = {}): JsonObject {
  return widget(content, { name, namespace, uid: 'uid', resourceVersion: 'version', creationTimestamp: 'time', generation, ...more })
}

/**
 * Returns the Widget that the admission reviews of its creation contain. The Widget is not stored yet, so it has no resourceVersion. Values
 * that differ between runs are placeholders.
 */
function unstored(name: string, content: JsonObject, generation = 1): JsonObject {
  return widget(content, { name, namespace, uid: 'uid', creationTimestamp: 'time', generation })
}

const placeholders: Readonly<Record<string, string>> = { uid: 'uid', resourceVersion: 'version', creationTimestamp: 'time' }

/**
 * Returns an object from a review. The field managedFields is omitted, and values that differ between runs are replaced by placeholders.
 */
function normalized(object: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(object) || !isObject(object.metadata)) return object
  const { managedFields: _managedFields, ...metadata } = object.metadata
  const fixed = Object.entries(metadata).map(([key, value]) => [key, placeholders[key] ?? value])
  return { ...object, metadata: Object.fromEntries(fixed) as JsonObject }
}

interface Seen {
  readonly operation: JsonValue | undefined
  readonly name: JsonValue | undefined
  readonly object: JsonValue | undefined
  readonly oldObject: JsonValue | undefined
  readonly options: JsonValue | undefined
}

function seen({ request }: Call): Seen {
  const { operation, name, object, oldObject, options } = request
  return { operation, name, object: normalized(object), oldObject: normalized(oldObject), options }
}

/**
 * Returns the last review that each webhook has received since the previous call of this function. Earlier reviews are ignored, because
 * kube-apiserver may send several reviews for a write. kube-apiserver first tries the write with the object in its watch cache. If this
 * object is stale, kube-apiserver repeats the write and sends another review (k8s.io/apiserver/pkg/storage/etcd3: GuaranteedUpdate).
 */
function reviewed(): { mutating: Seen; validating: Seen } {
  const calls = server.take()
  const of = (name: string): Seen => seen(calls.findLast((call) => call.path === name)!)
  return { mutating: of('mutating'), validating: of('validating') }
}

const options = (name: string, more: JsonObject = {}): JsonObject => ({ kind: name, apiVersion: 'meta.k8s.io/v1', ...more })

t.test('reviews of writes of a custom resource', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'reviews', [webhookOf(server, 'mutating', rules)])
  await configure(t, 'validating', 'reviews', [webhookOf(server, 'validating', rules)])

  await t.test('the whole review of a CREATE', async (t) => {
    const labels = { a: 'b' }
    const body = widget({ spec: { size: 2, unknown: 1 }, status: { phase: 'x' } }, { name: 'a', uid: 'mine', generation: 7, labels })
    t.equal((await jane('POST', `${path}?fieldManager=me&fieldValidation=Ignore`, { body })).status, 201)
    const calls = server.take()
    t.strictSame(
      calls.map((call) => call.path),
      ['mutating', 'validating'],
    )
    const objects = [
      widget({ spec: { size: 2, color: 'red' }, status: { phase: 'x' } }, { name: 'a', namespace, generation: 7, labels }),
      widget({ spec: { size: 2, color: 'red' } }, { name: 'a', namespace, uid: 'uid', creationTimestamp: 'time', generation: 1, labels }),
    ]
    calls.forEach(({ review, request, query, headers }, index) => {
      const { uid, object, userInfo, ...rest } = request
      const { username, groups } = userInfo as JsonObject
      t.match(uid, /^[-0-9a-f]{36}$/)
      t.strictSame({ username, groups }, { username: 'jane', groups: ['team', 'system:authenticated'] })
      t.strictSame(normalized(object), objects[index])
      t.strictSame(rest, {
        kind,
        resource,
        requestKind: kind,
        requestResource: resource,
        name: 'a',
        namespace,
        operation: 'CREATE',
        oldObject: null,
        dryRun: false,
        options: options('CreateOptions', { fieldManager: 'me', fieldValidation: 'Ignore' }),
      })
      const { request: _request, ...envelope } = review
      t.strictSame(envelope, { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' })
      t.equal(query, 'timeout=10s')
      t.match(headers, { 'content-type': 'application/json', accept: 'application/json, */*', 'user-agent': 'kube-apiserver-admission' })
    })
    t.not(calls[0]!.request.uid, calls[1]!.request.uid)
    t.equal((await jane('DELETE', `${path}/a`)).status, 200)
    server.take()
  })

  await t.test('the review of a CREATE with generateName has no name', async (t) => {
    const body = widget({ spec: { size: 2 } }, { generateName: 'gen-' })
    const created = await jane('POST', `${path}?dryRun=All`, { body })
    const { name } = created.body.metadata as { name: string }
    const { mutating, validating } = reviewed()
    t.strictSame(mutating, {
      operation: 'CREATE',
      name: undefined,
      object: widget({ spec: { size: 2, color: 'red' } }, { generateName: 'gen-', namespace }),
      oldObject: null,
      options: options('CreateOptions', { dryRun: ['All'] }),
    })
    t.equal(validating.name, name)
    t.match(validating.object, { metadata: { generateName: 'gen-', name } })
  })

  await t.test('reviews of consecutive updates', async (t) => {
    t.equal((await api('POST', path, { body: widget({ spec: { size: 1 } }, { name: 'b' }) })).status, 201)
    server.take()
    const red = (size: number): JsonObject => ({ spec: { size, color: 'red' } })
    const version = async (): Promise<JsonValue> => ((await api('GET', `${path}/b`)).body.metadata as JsonObject).resourceVersion!
    const update = { operation: 'UPDATE', name: 'b' }

    const body = widget({ spec: { size: 2 } }, { name: 'b', resourceVersion: await version() })
    t.equal((await api('PUT', `${path}/b?fieldManager=me`, { body })).status, 200)
    const put = { ...update, oldObject: live('b', red(1)), options: options('UpdateOptions', { fieldManager: 'me' }) }
    t.strictSame(reviewed(), {
      mutating: { ...put, object: widget(red(2), { name: 'b', namespace, resourceVersion: 'version' }) },
      validating: { ...put, object: live('b', red(2), 2) },
    })

    t.equal((await api('PATCH', `${path}/b?fieldValidation=Strict`, { ...merge, body: { spec: { size: 3 } } })).status, 200)
    const patched = { ...update, oldObject: live('b', red(2), 2), options: options('UpdateOptions', { fieldValidation: 'Strict' }) }
    t.strictSame(reviewed(), {
      mutating: { ...patched, object: live('b', red(3), 2) },
      validating: { ...patched, object: live('b', red(3), 3) },
    })

    const applied = widget({ spec: { size: 4 } }, { name: 'b' })
    t.equal((await api('PATCH', `${path}/b?fieldManager=me&force=true`, { ...apply, body: applied })).status, 200)
    const forced = { ...update, oldObject: live('b', red(3), 3), options: options('UpdateOptions', { fieldManager: 'me' }) }
    t.strictSame(reviewed(), {
      mutating: { ...forced, object: live('b', red(4), 3) },
      validating: { ...forced, object: live('b', red(4), 4) },
    })

    t.equal((await api('PATCH', `${path}/b/status`, { ...merge, body: { spec: { size: 8 }, status: { phase: 'y' } } })).status, 200)
    const calls = server.take()
    for (const { request } of calls)
      t.match(request, { subResource: 'status', requestSubResource: 'status', kind, resource, requestKind: kind })
    const status = { ...update, oldObject: live('b', red(4), 4), options: options('UpdateOptions') }
    t.strictSame(calls.map(seen), [
      { ...status, object: live('b', { ...red(8), status: { phase: 'y' } }, 4) },
      { ...status, object: live('b', { ...red(4), status: { phase: 'y' } }, 4) },
    ])

    t.equal((await api('PATCH', `${path}/b/scale`, { ...merge, body: { spec: { replicas: 5 } } })).status, 200)
    const scaled = server.take()
    for (const { request } of scaled)
      t.match(request, {
        subResource: 'scale',
        requestSubResource: 'scale',
        kind: scaleKind,
        requestKind: scaleKind,
        resource,
        requestResource: resource,
      })
    const scale = (replicas: number): JsonObject => ({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'b', namespace, uid: 'uid', resourceVersion: 'version', creationTimestamp: 'time' },
      spec: { replicas },
      status: { replicas: 0 },
    })
    const scaling = { ...update, object: scale(5), oldObject: scale(4), options: options('UpdateOptions') }
    t.strictSame(scaled.map(seen), [scaling, scaling])
  })

  await t.test('an apply of a missing object is reviewed as CREATE', async (t) => {
    const body = widget({ spec: { size: 1 } }, { name: 'applied' })
    t.equal((await api('PATCH', `${path}/applied?fieldManager=me&force=true`, { ...apply, body })).status, 201)
    const created = { operation: 'CREATE', name: 'applied', oldObject: null, options: options('CreateOptions', { fieldManager: 'me' }) }
    const content = { spec: { size: 1, color: 'red' } }
    t.strictSame(reviewed(), {
      mutating: { ...created, object: widget(content, { name: 'applied', namespace }) },
      validating: { ...created, object: unstored('applied', content) },
    })
  })

  await t.test('reviews of DELETEs', async (t) => {
    const make = async (name: string, labels?: JsonObject): Promise<void> => {
      const metadata = { name, ...(labels === undefined ? {} : { labels }) }
      t.equal((await api('POST', path, { body: widget({}, metadata) })).status, 201)
      server.take()
    }
    const deletion = (name: string | undefined, oldObject: JsonObject, more: JsonObject): Seen => ({
      operation: 'DELETE',
      name,
      object: null,
      oldObject,
      options: options('DeleteOptions', more),
    })
    await make('c')
    t.equal((await api('DELETE', `${path}/c?propagationPolicy=Background`)).status, 200)
    const byQuery = deletion('c', live('c', {}), { propagationPolicy: 'Background' })
    t.strictSame(reviewed(), { mutating: byQuery, validating: byQuery })

    await make('c')
    t.equal((await api('DELETE', `${path}/c`, { body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 3 } })).status, 200)
    const byBody = deletion('c', live('c', {}), { gracePeriodSeconds: 3 })
    t.strictSame(reviewed(), { mutating: byBody, validating: byBody })

    for (const name of ['d', 'e']) await make(name, { group: 'two' })
    await make('f')
    t.equal((await api('DELETE', `${path}?labelSelector=group%3Dtwo`)).status, 200)
    const calls = server.take()
    t.strictSame(calls.map((call) => call.path).toSorted(), ['mutating', 'mutating', 'validating', 'validating'])
    // A DELETE of a collection calls the webhooks for each object. The AdmissionRequests do not contain the name of the object.
    const old = (name: string): JsonObject => live(name, {}, 1, { labels: { group: 'two' } })
    const validating = calls.filter((call) => call.path === 'validating').map(seen)
    t.strictSame(
      validating.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      [deletion(undefined, old('d'), {}), deletion(undefined, old('e'), {})],
    )
    t.equal((await api('GET', `${path}/f`)).status, 200)
  })

  await t.test('an object with finalizers is reviewed when it is marked and when they are removed', async (t) => {
    t.equal((await api('POST', path, { body: widget({}, { name: 'held', finalizers: ['example.com/a'] }) })).status, 201)
    server.take()
    t.equal((await api('DELETE', `${path}/held`)).status, 200)
    t.equal((await api('PATCH', `${path}/held`, { ...merge, body: { metadata: { finalizers: null } } })).status, 200)
    t.strictSame(
      server.take().map((call) => `${call.path} ${String(call.request.operation)}`),
      ['mutating DELETE', 'validating DELETE', 'mutating UPDATE', 'validating UPDATE'],
    )
    t.equal((await api('GET', `${path}/held`)).status, 404)
  })
})

t.test('reviews of writes of a built-in type', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'builtin', [webhookOf(server, 'mutating', configMaps)])
  await configure(t, 'validating', 'builtin', [webhookOf(server, 'validating', configMaps)])
  const configMap = (metadata: JsonObject, data: JsonObject): JsonObject => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace, ...metadata },
    data,
  })
  const created = { operation: 'CREATE', name: 'a', oldObject: null, options: options('CreateOptions') }
  t.equal(
    (await api('POST', `/api/v1/namespaces/${namespace}/configmaps`, { body: { metadata: { name: 'a' }, data: { a: 'b' } } })).status,
    201,
  )
  t.strictSame(reviewed(), {
    mutating: { ...created, object: configMap({}, { a: 'b' }) },
    validating: { ...created, object: configMap({ uid: 'uid', creationTimestamp: 'time' }, { a: 'b' }) },
  })
})

t.test('reviews of a TokenRequest', needsOwnControlPlane, async (t) => {
  const requests = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts/token'] }]
  await configure(t, 'mutating', 'requests', [webhookOf(server, 'mutating', requests)])
  await configure(t, 'validating', 'requests', [webhookOf(server, 'validating', requests)])
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  t.equal((await api('POST', accounts, { body: { metadata: { name: 'robot' } } })).status, 201)
  const token = `${accounts}/robot/token`

  const request = (metadata: JsonObject, spec: JsonObject): JsonObject => ({
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata,
    spec: { audiences: null, expirationSeconds: 3600, boundObjectRef: null, ...spec },
    status: { token: '', expirationTimestamp: null },
  })
  const review = { operation: 'CREATE', name: 'robot', oldObject: null, options: options('CreateOptions') }
  const known = { name: 'robot', namespace, uid: 'uid', creationTimestamp: 'time' }

  await t.test('mutating webhooks receive the request with defaults, validating webhooks what will be issued', async (t) => {
    const issued = await api('POST', token, { body: { metadata: { labels: { a: 'b' } } } })
    t.equal(issued.status, 201)
    const { managedFields, ...metadata } = issued.body.metadata as JsonObject
    t.match(metadata, { name: 'robot', namespace, labels: { a: 'b' } })
    t.match(managedFields, [
      {
        manager: 'conformance',
        operation: 'Update',
        apiVersion: 'authentication.k8s.io/v1',
        subresource: 'token',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:spec': { 'f:expirationSeconds': {} } },
      },
    ])
    t.match((issued.body.status as JsonObject).token, /^[^.]+\.[^.]+\.[^.]+$/)
    const { audiences } = issued.body.spec as JsonObject
    t.strictSame(reviewed(), {
      mutating: { ...review, object: request({ namespace, labels: { a: 'b' } }, {}) },
      validating: { ...review, object: request({ ...known, labels: { a: 'b' } }, { audiences: audiences! }) },
    })
  })

  await t.test('the response is to the request that a mutating webhook has changed', async (t) => {
    server.answer('mutating', patchResponse({ op: 'replace', path: '/spec/audiences', value: ['y'] }))
    const { body } = await api('POST', token, { body: { spec: { audiences: ['x'] } } })
    t.strictSame((body.spec as JsonObject).audiences, ['y'])
    const { token: issued } = body.status as { token: string }
    t.strictSame(JSON.parse(Buffer.from(issued.split('.')[1]!, 'base64url').toString()).aud, ['y'])
    t.strictSame(reviewed().validating.object, request(known, { audiences: ['y'] }))
    server.answer('mutating', { allowed: true })
  })

  await t.test('a request is validated between the webhooks, and what it is bound to after them', async (t) => {
    server.answer('validating', { allowed: false, status: { message: 'not this one' } })
    const denied = '400 admission webhook "validating.conformance.example.com" denied the request: not this one'
    const cases: readonly (readonly [string, JsonObject, string, string])[] = [
      ['robot', {}, denied, 'mutating,validating'],
      [
        'robot',
        { spec: { expirationSeconds: 1 } },
        '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
        'mutating',
      ],
      [
        'robot',
        { metadata: { name: 'other' } },
        '422 TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
        'mutating',
      ],
      ['missing', {}, '404 serviceaccounts "missing" not found', 'mutating'],
      ['robot', { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'absent' } } }, denied, 'mutating,validating'],
    ]
    for (const [name, body, expected, called] of cases) {
      const { status, body: refused } = await api('POST', `${accounts}/${name}/token`, { body })
      const paths = server.take().map((call) => call.path)
      t.strictSame([`${status} ${String(refused.message)}`, paths.join()], [expected, called], JSON.stringify(body))
    }
  })
})
