import t from 'tap'
import { failure } from '../../../src/api/status.ts'
import { encodeReview, peekRequest, readReview } from '../../../src/webhook/review/admission-review.ts'
import { review, widgetObject } from '../../support/webhook/fixture.ts'
import type { ReviewedRequest } from '../../support/webhook/fixture.ts'

const object = widgetObject({ size: 1 })
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const read = (request: ReviewedRequest): ReturnType<typeof readReview> => readReview(bytesOf(review({ object, ...request })))

t.test('all fields of a review are read', async (t) => {
  const userInfo = { username: 'joe', uid: '7', groups: ['a'], extra: { x: ['y'] } }
  const options = { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'kubectl' }
  const oldObject = widgetObject({ size: 2 })
  t.strictSame(read({ operation: 'UPDATE', subResource: 'status', oldObject, userInfo, dryRun: true, options }), {
    request: {
      uid: 'uid-1',
      kind: { group: 'apps.example.com', version: 'v1', kind: 'Widget' },
      resource: { group: 'apps.example.com', version: 'v1', resource: 'widgets' },
      operation: 'UPDATE',
      name: 'w',
      namespace: 'ns',
      subResource: 'status',
      userInfo,
      dryRun: true,
      options,
    },
    object,
    oldObject,
  })
})

t.test('absent fields are empty', async (t) => {
  const request = { uid: 'u', kind: { version: 'v1', kind: 'Widget' }, operation: 'DELETE' }
  const sent = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }
  const empty = {
    uid: 'u',
    kind: { group: '', version: 'v1', kind: 'Widget' },
    resource: { group: '', version: '', resource: '' },
    operation: 'DELETE',
    name: '',
    namespace: '',
    subResource: '',
    userInfo: { username: '' },
    dryRun: false,
    options: undefined,
  }
  t.strictSame(readReview(bytesOf(sent)), { request: empty, object: undefined, oldObject: undefined })
  const others = { resource: {}, name: 1, namespace: null, subResource: {}, userInfo: { username: 1 }, dryRun: 'true', options: [] }
  t.strictSame(readReview(bytesOf({ ...sent, request: { ...request, ...others } })).request, empty, 'as are fields of another type')
})

t.test('the name is that of the request, the object or the old object, in this order', async (t) => {
  const [own, old] = ['own', 'old'].map((name) => widgetObject({}, { name })) as [typeof object, typeof object]
  const nameless = { ...object, metadata: {} }
  for (const [request, name] of [
    [{ name: 'asked', object: own }, 'asked'],
    [{ name: '', object: own }, 'own'],
    [{ name: undefined, operation: 'UPDATE', object: own, oldObject: old }, 'own'],
    [{ name: '', operation: 'UPDATE', object: nameless, oldObject: old }, 'old'],
    [{ name: '', operation: 'DELETE', object: null, oldObject: old }, 'old'],
    [{ name: '', object: nameless }, ''],
    [{ name: '', object: { ...object, metadata: 'x' } }, ''],
    [{ name: '', object: { ...object, metadata: { name: 7 } } }, ''],
  ] as const)
    t.equal(read(request).request.name, name, JSON.stringify(request))
})

t.test('each operation requires its objects', async (t) => {
  const no = (field: string): string => `The request of the AdmissionReview has no ${field}.`
  for (const [request, message] of [
    [{ operation: 'CREATE', object: null }, no('object')],
    [{ operation: 'CREATE', object }, undefined],
    [{ operation: 'CREATE', object, oldObject: 'x' }, no('oldObject')],
    [{ operation: 'UPDATE', object: null, oldObject: object }, no('object')],
    [{ operation: 'UPDATE', object, oldObject: null }, no('oldObject')],
    [{ operation: 'UPDATE', object, oldObject: object }, undefined],
    [{ operation: 'DELETE', object: null, oldObject: null }, undefined],
    [{ operation: 'DELETE', object: null, oldObject: object }, undefined],
    [{ operation: 'DELETE', object: [], oldObject: object }, no('object')],
    [{ operation: 'CONNECT', object: null, oldObject: null }, undefined],
    [{ operation: 'CONNECT', object: undefined, oldObject: undefined }, undefined],
  ] as const) {
    const reading = (): unknown => read(request as ReviewedRequest)
    if (message === undefined) t.doesNotThrow(reading, JSON.stringify(request))
    else t.throws(reading, { name: 'MalformedReview', message: new RegExp(`^${message}$`) }, JSON.stringify(request))
  }
})

t.test('a malformed review is refused with its mistake', async (t) => {
  const sent = review({ object })
  const request = sent['request'] as object
  const noBody = 'The request has no body: an AdmissionReview is expected.'
  const cases: readonly (readonly [Buffer | undefined, string | RegExp])[] = [
    [undefined, noBody],
    [Buffer.alloc(0), noBody],
    [Buffer.from('{'), /^The body is not JSON: ./],
    ...[[], 7, null, 'AdmissionReview'].map((body) => [bytesOf(body), 'The body is not an AdmissionReview.'] as const),
    [bytesOf({ ...sent, kind: 'Review' }), 'The body is not an AdmissionReview.'],
    [
      bytesOf({ ...sent, apiVersion: 'admission.k8s.io/v1beta1' }),
      'The apiVersion of the AdmissionReview is "admission.k8s.io/v1beta1": only admission.k8s.io/v1 is served.',
    ],
    ...[undefined, null, [], 'x'].map(
      (nothing) => [bytesOf({ ...sent, request: nothing }), 'The AdmissionReview has no request.'] as const,
    ),
    [bytesOf({ ...sent, request: { ...request, uid: '' } }), 'The request of the AdmissionReview has no uid.'],
    [bytesOf({ ...sent, request: { ...request, uid: 1 } }), 'The request of the AdmissionReview has no uid.'],
    [
      bytesOf({ ...sent, request: { ...request, operation: 'PATCH' } }),
      'The operation of the AdmissionReview is "PATCH": CREATE, UPDATE, DELETE or CONNECT is expected.',
    ],
    ...[undefined, { kind: 'Widget' }, { version: 'v1' }, { version: 1, kind: 'Widget' }].map(
      (kind) => [bytesOf({ ...sent, request: { ...request, kind } }), 'The request of the AdmissionReview has no kind.'] as const,
    ),
  ]
  for (const [body, message] of cases) {
    let thrown: unknown
    try {
      readReview(body)
    } catch (error) {
      thrown = error
    }
    t.equal((thrown as Error).name, 'MalformedReview')
    if (typeof message === 'string') t.equal((thrown as Error).message, message)
    else t.match((thrown as Error).message, message)
  }
})

t.test('the request is read from the fields before the objects, without parsing the objects', async (t) => {
  const { request } = review({ object })
  const before = { ...(request as object), object: undefined, oldObject: undefined, dryRun: undefined, options: undefined }
  const sent = (fields: object, rest: string): Buffer =>
    Buffer.from(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: fields }).slice(0, -2) + rest)
  const { dryRun, options, ...rest } = read({}).request
  t.strictSame([dryRun, options], [false, undefined])
  t.strictSame(peekRequest(sent(before, ',"object":{"metadata":{"na')), { ...rest, dryRun: false, options: undefined })
  t.equal(peekRequest(sent(before, ',"oldObject":null}}')), undefined, 'without an object')
  t.equal(peekRequest(sent({ ...before, uid: '' }, ',"object":null}}')), undefined, 'with an invalid review')
  t.equal(peekRequest(Buffer.from('[1,"object":')), undefined, 'with invalid JSON')
  const long = (length: number): Buffer => sent({ ...before, name: 'n'.repeat(length) }, ',"object":null}}')
  t.equal(peekRequest(long(60_000))?.name.length, 60_000)
  t.equal(peekRequest(long(66_000)), undefined, 'beyond the first 64 KiB')
})

const head = '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":'

t.test('a response is encoded as the API defines it', async (t) => {
  t.strictSame(encodeReview('a"b', { allowed: true }), { text: `${head}"a\\"b","allowed":true}}`, patch: undefined })
  const status = failure(403, 'Forbidden', 'no')
  t.strictSame(encodeReview('u', { allowed: false, status, warnings: ['w'], auditAnnotations: { a: 'b' } }, []), {
    text: `${head}"u","allowed":false,"status":${JSON.stringify(status)},"warnings":["w"],"auditAnnotations":{"a":"b"}}}`,
    patch: { operations: 0, bytes: 0 },
  })
  const patch = [{ op: 'add', path: '/é', value: 1n }] as const
  const json = '[{"op":"add","path":"/é","value":1}]'
  t.strictSame(encodeReview('u', { allowed: true, warnings: [] }, patch), {
    text: `${head}"u","allowed":true,"patchType":"JSONPatch","patch":"${Buffer.from(json).toString('base64')}"}}`,
    patch: { operations: 1, bytes: Buffer.byteLength(json) },
  })
})
