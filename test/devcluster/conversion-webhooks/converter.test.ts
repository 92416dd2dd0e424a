import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { WebhookCaller } from '../../../src/devcluster/admission/caller.ts'
import { CallError } from '../../../src/devcluster/admission/review.ts'
import { convertedMetadata } from '../../../src/devcluster/conversion-webhooks/converted-metadata.ts'
import { webhookConverter } from '../../../src/devcluster/conversion-webhooks/converter.ts'
import { asDefinition } from '../../../src/devcluster/crd/definition.ts'
import { widgetDefinition } from '../../support/devcluster/definitions.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const object: JsonObject = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u' }, spec: { size: 1 } }
const { signal } = new AbortController()
const clientConfig = { url: 'https://example.com/convert' }
type Review = JsonObject & { apiVersion: string; request: { uid: string; desiredAPIVersion: string; objects: JsonObject[] } }

/** Returns a converter. Its webhook responds with the result of `answer`. */
function converter(
  answer: (review: Review) => JsonValue,
  conversionReviewVersions: string[] = ['v1'],
): { convert: (to?: string) => Promise<JsonObject>; calls: unknown[][] } {
  const calls: unknown[][] = []
  const caller = {
    call: (...call: unknown[]) => (calls.push(call), Promise.resolve().then(() => answer(call[1] as Review))),
  } as unknown as WebhookCaller
  const definition = asDefinition(
    widgetDefinition({ conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } } }),
  )
  const made = webhookConverter(definition, { caller, random: Math.random }, signal)!
  return { convert: (to = 'example.com/v2') => made.convert(object, to), calls }
}
const converted = ({ apiVersion, request }: Review, change: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind: 'ConversionReview',
  response: {
    uid: request.uid,
    result: { status: 'Success' },
    convertedObjects: [{ ...object, apiVersion: request.desiredAPIVersion, spec: { width: 1 } }],
    ...change,
  },
})

t.test('an object is converted with one ConversionReview', async (t) => {
  const { convert, calls } = converter((review) => converted(review))
  t.strictSame(await convert(), { ...object, apiVersion: 'example.com/v2', spec: { width: 1 } })
  const [config, review, how] = calls[0] as [unknown, Review, unknown]
  t.strictSame([config, how], [clientConfig, { timeoutSeconds: 30, signal }])
  t.match(review.request.uid, /^[0-9a-f-]{36}$/)
  t.strictSame(review, {
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { uid: review.request.uid, desiredAPIVersion: 'example.com/v2', objects: [object] },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  })
  t.equal(await convert('example.com/v1'), object, 'an object in the desired version is not sent')
  t.equal(calls.length, 1)
})

t.test('the first supported version of conversionReviewVersions is used, and v1beta1 is less strict', async (t) => {
  const old = converter((review) => ({ ...converted(review, { uid: 'other' }), kind: 'ConversionReview' }), ['v3', 'v1beta1', 'v1'])
  await old.convert()
  t.equal((old.calls[0]![1] as Review).apiVersion, 'apiextensions.k8s.io/v1beta1')
  t.match(await refusal(() => converter((review) => converted(review, { uid: 'other' })).convert()), {
    code: 500,
    message: /failed: expected response\.uid="[^"]+", got "other"$/,
  })
  const none = converter((review) => converted(review), ['v3'])
  t.match(await refusal(() => none.convert()), { code: 500, message: 'no supported conversion review versions' })
  t.strictSame(none.calls, [])
})

t.test('a failed conversion is reported with the type of the object', async (t) => {
  const expectRefusal = async (answer: (review: Review) => JsonValue, message: string): Promise<void> =>
    void t.strictSame(await refusal(() => converter(answer).convert()), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      code: 500,
    })
  const of = 'conversion webhook for example.com/v1, Kind=Widget'
  await expectRefusal(() => {
    throw new CallError('failed to call webhook: nobody is there')
  }, `${of} failed: nobody is there`)
  await expectRefusal((review) => ({ ...converted(review), response: null }), `${of} failed: no response provided`)
  await expectRefusal((review) => converted(review, { result: { status: 'Failure', message: 'no' } }), `${of} failed: no`)
  await expectRefusal(
    (review) => converted(review, { result: { status: 'Failure', message: '' } }),
    `${of} failed: response.result.status was 'Failure', not 'Success'`,
  )
  await expectRefusal((review) => converted(review, { convertedObjects: [] }), `${of} returned 0 objects, expected 1`)
  await expectRefusal((review) => converted(review, { convertedObjects: null }), `${of} returned 0 objects, expected 1`)
  await expectRefusal((review) => converted(review, { convertedObjects: [object, object] }), `${of} returned 2 objects, expected 1`)
  await expectRefusal((review) => converted(review, { convertedObjects: [null] }), 'unexpected end of JSON input')
  await expectRefusal((review) => converted(review, { result: {} }), `${of} failed: response.result.status was '', not 'Success'`)
  await expectRefusal((review) => converted(review, { result: null }), `${of} failed: response.result.status was '', not 'Success'`)
  await expectRefusal(() => null, `${of} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`)
  await expectRefusal(
    (review) => ({ ...converted(review), apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    `${of} failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion`,
  )
  await expectRefusal(
    (review) => ({ ...converted(review), kind: 'Other' }),
    `${of} failed: no kind "Other" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`,
  )
  await expectRefusal(
    (review) => converted(review, { convertedObjects: 'x' }),
    `${of} failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension`,
  )
  await expectRefusal(
    (review) => converted(review, { convertedObjects: ['x'] }),
    'json: cannot unmarshal string into Go value of type map[string]interface {}',
  )
  await expectRefusal(
    (review) => converted(review, { convertedObjects: [object] }),
    `${of} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
  )
  const returning = (change: JsonObject) => (review: Review) =>
    converted(review, { convertedObjects: [{ ...object, apiVersion: 'example.com/v2', ...change }] })
  await expectRefusal(
    returning({ kind: 'Other' }),
    `${of} returned invalid object at index 0: invalid kind (expected Widget, received Other)`,
  )
  await expectRefusal(
    (review) => converted(review, { convertedObjects: [{ kind: 'Widget', metadata: {} }] }),
    `${of} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received )`,
  )
  await expectRefusal(
    returning({ kind: '' }),
    'Object \'Kind\' is missing in \'{"apiVersion":"example.com/v2","kind":"","metadata":{"name":"a","uid":"u"},"spec":{"size":1}}\'',
  )
  await expectRefusal(returning({ metadata: { name: 'b', uid: 'u' } }), `${of} returned invalid object: must have the same name: a != b`)
  await expectRefusal(returning({ metadata: { name: 'a', uid: 'v' } }), `${of} returned invalid object: must have the same UID: u != v`)
  await expectRefusal(
    returning({ metadata: { name: 'a', uid: 'u', namespace: 'n' } }),
    `${of} returned invalid object: must have the same namespace:  != n`,
  )
  await expectRefusal(
    returning({ metadata: { name: 'a', uid: 'u', labels: 5 } }),
    `${of} returned invalid metadata: invalid metadata.labels of type int64 in converted object`,
  )
  const crash = converter(() => {
    throw new TypeError('a defect')
  })
  await t.rejects(crash.convert(), { name: 'TypeError', message: 'a defect' })
})

t.test('a v1beta1 response needs neither uid nor kind, but Success and a valid object', async (t) => {
  const answering = (change: JsonObject) => converter((review) => ({ response: converted(review, change).response! }), ['v1beta1'])
  t.strictSame(await answering({ uid: '' }).convert(), { ...object, apiVersion: 'example.com/v2', spec: { width: 1 } })
  const of = 'conversion webhook for example.com/v1, Kind=Widget'
  t.equal(
    (await refusal(() => answering({ result: { status: 'Failure' } }).convert())).message,
    `${of} failed: response.result.status was 'Failure', not 'Success'`,
  )
  t.equal((await refusal(() => answering({ convertedObjects: [] }).convert())).message, `${of} returned 0 objects, expected 1`)
})

t.test('a conversion without versions is refused, and each conversion has a uid of its own', async (t) => {
  const definition = asDefinition(widgetDefinition({ conversion: { strategy: 'Webhook' } as never }))
  const caller = { call: () => Promise.reject(new Error('called')) } as unknown as WebhookCaller
  const none = webhookConverter(definition, { caller, random: Math.random }, signal)!
  t.equal((await refusal(() => none.convert(object, 'example.com/v2'))).message, 'no supported conversion review versions')
  const { convert, calls } = converter((review) => converted(review))
  await convert()
  await convert()
  const [first, second] = calls.map(([, review]) => (review as Review).request.uid)
  t.not(first, second)
})

t.test('a converted object keeps its metadata, apart from labels and annotations', async (t) => {
  const metadata = { name: 'a', uid: 'u', labels: { c: 'd' }, resourceVersion: '7', finalizers: ['x'] }
  const { convert } = converter((review) =>
    converted(review, { convertedObjects: [{ ...object, apiVersion: 'example.com/v2', metadata }] }),
  )
  t.strictSame((await convert()).metadata, { name: 'a', uid: 'u', labels: { c: 'd' } })
})

t.test('the metadata of the original object is neither changed nor taken from the webhook', async (t) => {
  const original = { metadata: { name: 'a', resourceVersion: '5', labels: { a: 'b' }, annotations: { c: 'd' } } }
  const before = structuredClone(original)
  t.strictSame(convertedMetadata(original, { metadata: { resourceVersion: '6', finalizers: ['x'], annotations: { e: 'f' } } }), {
    metadata: { name: 'a', resourceVersion: '5', annotations: { e: 'f' } },
  })
  t.strictSame(original, before)
})

t.test('a definition without a conversion webhook has no converter', async (t) => {
  for (const conversion of [undefined, { strategy: 'None' }])
    t.equal(
      webhookConverter(
        asDefinition(widgetDefinition(conversion && { conversion })),
        { caller: undefined as never, random: Math.random },
        signal,
      ),
      undefined,
    )
})

t.test('only labels and annotations of converted metadata are used', async (t) => {
  const original = { metadata: { name: 'a', uid: 'u', labels: { a: 'b' }, annotations: { c: 'd' } } }
  const made = (metadata: JsonValue | undefined): unknown => convertedMetadata(original, { metadata } as JsonObject)
  t.strictSame(made({ name: 'other', labels: { x: 'y' }, annotations: null }), { metadata: { name: 'a', uid: 'u', labels: { x: 'y' } } })
  t.strictSame(made({}), { metadata: { name: 'a', uid: 'u' } })
  t.strictSame(made(undefined), { problem: 'missing metadata in converted object' })
  t.strictSame(made('x'), { problem: 'invalid metadata of type string in converted object' })
  t.strictSame(made({ annotations: { a: 5 } }), { problem: 'metadata.annotations[a] must be a string, but is int64 in converted object' })
  const note = (length: number): unknown => Object.keys(made({ annotations: { a: 'x'.repeat(length) } }) as object)
  t.strictSame(note(256 * 1024 - 1), ['metadata'])
  t.strictSame(note(256 * 1024), ['problem'])
  const large = (text: string) => made({ annotations: { ab: text, cd: '' } })
  t.strictSame(Object.keys(large('ä'.repeat(128 * 1024 - 2)) as object), ['metadata'], 'keys and values count in bytes')
  t.strictSame(Object.keys(large(`${'ä'.repeat(128 * 1024 - 2)}x`) as object), ['problem'])
  t.strictSame(made({ labels: { a: null } }), { problem: 'metadata.labels[a] must be a string, but is <nil> in converted object' })
  t.strictSame(made({ annotations: 'x' }), { problem: 'invalid metadata.annotations of type string in converted object' })
  t.strictSame(made(null), { problem: 'invalid metadata of type <nil> in converted object' })
  t.strictSame(made({ annotations: { a: 'x'.repeat(256 * 1024) } }), {
    problem: 'metadata.annotation: Too long: may not be more than 262144 bytes',
  })
  const odd = { metadata: { labels: { 'a b': 'c d' } } }
  t.strictSame(convertedMetadata(odd, odd), odd, 'unchanged metadata is not validated again')
  t.match(convertedMetadata(odd, { metadata: { labels: { 'a b': 'e f' } } }), {
    problem: /^\[metadata\.labels: Invalid value: "a b": .*, metadata\.labels: Invalid value: "e f": /,
  })
  t.match(convertedMetadata(odd, { metadata: { labels: { 'a b': 'c d', e: 'f' } } }), { problem: /"a b"/ })
  t.match(made({ labels: { 'Example.com/x': 'y' } }), {
    problem: /^metadata\.labels: Invalid value: "Example\.com\/x": prefix part a lowercase RFC 1123 subdomain must consist of lower case /,
  })
  t.match(made({ labels: { 'example.com/X': 'y' } }), { metadata: { labels: { 'example.com/X': 'y' } } })
  t.strictSame(convertedMetadata({}, { metadata: { annotations: { 'Upper/Case': 'x' } } }), {
    metadata: { annotations: { 'Upper/Case': 'x' } },
  })
})
