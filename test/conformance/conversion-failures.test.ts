/** Tests of a conversion webhook that fails or returns an invalid response. Requests that need no conversion must still succeed. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { ConversionAnswer } from '../support/conformance/conversion.ts'
import { conversionServer, converted, convertThing, defineThings } from '../support/conformance/conversion.ts'
import { raw, respondReview } from '../support/conformance/reviews.ts'
import { listMetadataOf, metadataOf } from '../support/conformance/objects.ts'
import { until } from '../../src/testing/until.ts'
import { watchesOf } from '../support/conformance/watch-events.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-conversion-failures'
const group = 'failing.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const watch = watchesOf(t, controlPlane.connection)
const server = await conversionServer(t, convertThing)
await defineThings(t, api, group, server.conversion)

const pathOf = (version: string, name = ''): string =>
  `/apis/${group}/${version}/namespaces/${namespace}/things${name === '' ? '' : `/${name}`}`

const thing = (version: string, name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/${version}`,
  kind: 'Thing',
  metadata: { name, ...metadata },
  spec,
})

function create(version: string, name: string, spec: JsonObject): Promise<RawAnswer> {
  return api('POST', pathOf(version), { body: thing(version, name, spec) })
}

function failure(message: string): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 }
}

const of = (version: string): string => `conversion webhook for ${group}/${version}, Kind=Thing`

/** Returns a function that converts each object correctly, and then applies `change` to the result. */
function each(change: (object: JsonObject) => JsonObject): ConversionAnswer {
  return ({ objects, desiredAPIVersion }) => converted(objects.map((object) => change(convertThing(object, desiredAPIVersion))))
}

function metadata(change: JsonObject): ConversionAnswer {
  return each((object) => {
    const changed = { ...metadataOf(object), ...change }
    return { ...object, metadata: Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== absent)) }
  })
}
/** A field with this value is removed from the metadata. */
const absent = '(absent)'
const without = (field: string): ConversionAnswer => each(({ [field]: _gone, ...object }) => object)

function envelope(more: JsonObject): ConversionAnswer {
  return ({ uid }, response) => {
    respondReview(response, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: { uid, ...converted([]) },
      ...more,
    })
    return undefined
  }
}

const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Invalid responses of the webhook. Each has a string or a pattern. A string is the part of the error message after the webhook's name. A
 * pattern matches the whole message.
 */
const refusals: Readonly<Record<string, { answer: ConversionAnswer; says: string | RegExp }>> = {
  'a failure with words': { answer: () => ({ result: { status: 'Failure', message: 'own words' } }), says: 'failed: own words' },
  'a failure without words': {
    answer: () => ({ result: { status: 'Failure', reason: 'Gone', code: 410 } }),
    says: "failed: response.result.status was 'Failure', not 'Success'",
  },
  'no result': { answer: () => ({ convertedObjects: [] }), says: "failed: response.result.status was '', not 'Success'" },
  'no objects': { answer: () => converted([]), says: 'returned 0 objects, expected 1' },
  'too many objects': {
    answer: ({ objects, desiredAPIVersion }) =>
      converted([...objects, ...objects].map((object) => convertThing(object, desiredAPIVersion))),
    says: 'returned 2 objects, expected 1',
  },
  'the uid of another review': {
    answer: () => ({ ...converted([]), uid: 'x' }),
    says: /^failed: expected response\.uid="[^"]+", got "x"$/,
  },
  'no uid': { answer: () => ({ ...converted([]), uid: '' }), says: /^failed: expected response\.uid="[^"]+", got ""$/ },
  'the same version': {
    answer: ({ objects }) => converted(objects),
    says: `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received ${group}/v1)`,
  },
  'another version': {
    answer: each((object) => ({ ...object, apiVersion: `${group}/v3` })),
    says: `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received ${group}/v3)`,
  },
  'no version': {
    answer: without('apiVersion'),
    says: `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received )`,
  },
  'another kind': {
    answer: each((object) => ({ ...object, kind: 'Other' })),
    says: 'returned invalid object at index 0: invalid kind (expected Thing, received Other)',
  },
  'another name': { answer: metadata({ name: 'other' }), says: 'returned invalid object: must have the same name: a != other' },
  'no name': { answer: metadata({ name: absent }), says: 'returned invalid object: must have the same name: a != ' },
  'another namespace': {
    answer: metadata({ namespace: 'other' }),
    says: `returned invalid object: must have the same namespace: ${namespace} != other`,
  },
  'another uid': { answer: metadata({ uid: 'x' }), says: /^returned invalid object: must have the same UID: [0-9a-f-]{36} != x$/ },
  'no metadata': { answer: without('metadata'), says: 'returned invalid object: must have the same name: a != ' },
  'labels that are a list': {
    answer: metadata({ labels: [] }),
    says: 'returned invalid metadata: invalid metadata.labels of type []interface {} in converted object',
  },
  'a label that is a number': {
    answer: metadata({ labels: { a: 1 } }),
    says: 'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
  },
  'a bad label': {
    answer: metadata({ labels: { 'a b': 'c' } }),
    says: `returned invalid metadata: metadata.labels: Invalid value: "a b": ${qualified}`,
  },
  'a label with capitals in its prefix': {
    answer: metadata({ labels: { 'Example.com/x': 'y' } }),
    says: `returned invalid metadata: metadata.labels: Invalid value: "Example.com/x": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  },
  'a bad annotation': {
    answer: metadata({ annotations: { 'a b': 'c' } }),
    says: `returned invalid metadata: metadata.annotation: Invalid value: "a b": ${qualified}`,
  },
  'a 404': { answer: raw(404, 'x') as never, says: 'failed: the server could not find the requested resource' },
  'a 500': { answer: raw(500, 'boom') as never, says: 'failed: an error on the server ("boom") has prevented the request from succeeding' },
  text: {
    answer: raw(200, 'garbage', { 'content-type': 'application/json' }) as never,
    says: `failed: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta}`,
  },
  'nothing at all': {
    answer: raw(200, '', { 'content-type': 'application/json' }) as never,
    says: 'failed: 0-length response with status code: 200 and content type: application/json',
  },
  'a review of another group': {
    answer: envelope({ apiVersion: 'v2' }),
    says: 'failed: no kind "ConversionReview" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"',
  },
  'an older review': {
    answer: envelope({ apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    says: 'failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
  },
  'a Status': {
    answer: envelope({ apiVersion: 'v1', kind: 'Status' }),
    says: 'failed: converting (v1.Status) to (v1.ConversionReview): unknown conversion',
  },
  'a review that does not say so': {
    answer: envelope({ apiVersion: '', kind: '' }),
    says: 'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
  },
  'no response': { answer: envelope({ response: null }), says: 'failed: no response provided' },
  'a status that is a number': {
    answer: envelope({ response: { result: { status: 1 } } }),
    says: 'failed: json: cannot unmarshal number into Go struct field Status.response.result.status of type string',
  },
  'objects that are no list': {
    answer: envelope({ response: { convertedObjects: {} } }),
    says: 'failed: json: cannot unmarshal object into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension',
  },
}

/** Responses with objects that cannot be decoded. The error messages about these responses do not contain the webhook's name. */
const unreadable: Readonly<Record<string, { answer: ConversionAnswer; says: string | RegExp }>> = {
  'text for an object': {
    answer: () => converted(['x' as never]),
    says: 'json: cannot unmarshal string into Go value of type map[string]interface {}',
  },
  'null for an object': { answer: () => converted([null as never]), says: 'unexpected end of JSON input' },
  'no kind': { answer: without('kind'), says: /^Object 'Kind' is missing in '\{.*\}'$/ },
}

t.test('an invalid response of the conversion webhook is refused', async (t) => {
  await create('v1', 'a', { size: 3 })
  for (const [what, { answer, says }] of Object.entries({ ...refusals, ...unreadable })) {
    server.answer(answer)
    const { body } = await api('GET', pathOf('v2', 'a'))
    const { message, ...rest } = body
    const { message: _message, ...wanted } = failure('')
    t.strictSame(rest, wanted, what)
    const told = what in unreadable ? String(message) : String(message).replace(`${of('v1')} `, '')
    if (typeof says === 'string') t.equal(told, says, what)
    else t.match(told, says, what)
    server.reset()
  }
})

t.test('a conversion webhook can change labels, annotations and fields of the schema only', async (t) => {
  const before = metadataOf((await api('GET', pathOf('v1', 'a'))).body)
  server.answer(
    metadata({ generation: 77, finalizers: ['example.com/x'], creationTimestamp: absent, labels: { a: 'b' }, annotations: { c: 'd' } }),
  )
  const shown = metadataOf((await api('GET', pathOf('v2', 'a'))).body)
  t.strictSame(shown, { ...before, labels: { a: 'b' }, annotations: { c: 'd' } })
  const specs: [JsonObject, JsonObject][] = [
    [{ replicas: 1, foo: 1 }, { replicas: 1 }],
    [{ replicas: 'many' }, { replicas: 'many' }],
    [{ replicas: null, note: null }, {}],
  ]
  for (const [given, wanted] of specs) {
    server.answer(each((object) => ({ ...object, spec: given, other: 2 })))
    const { body } = await api('GET', pathOf('v2', 'a'))
    t.strictSame([body.spec, body.other], [wanted, undefined])
  }
  server.reset()
})

t.test('a write with a failed conversion is refused and changes nothing', async (t) => {
  await create('v1', 'kept', { size: 3 })
  await until('it is listed', async () => ((await api('GET', pathOf('v2'))).body.items as JsonObject[]).length > 1)
  const before = (await api('GET', pathOf('v1', 'kept'))).body
  const { resourceVersion } = metadataOf(before)
  const inV2 = pathOf('v2', 'kept')
  const contentType = 'application/merge-patch+json'
  const requests: [string, () => Promise<RawAnswer>, string][] = [
    ['POST', () => create('v2', 'new', { replicas: 3 }), 'v2'],
    ['PATCH', () => api('PATCH', inV2, { contentType, body: { spec: { note: 'x' } } }), 'v2'],
    ['PATCH of the status', () => api('PATCH', `${inV2}/status`, { contentType, body: { status: { phase: 'x' } } }), 'v2'],
    ['PUT', () => api('PUT', inV2, { body: thing('v2', 'kept', { replicas: 4 }, { resourceVersion: resourceVersion! }) }), 'v2'],
    ['DELETE', () => api('DELETE', inV2), 'v1'],
    ['GET', () => api('GET', inV2), 'v1'],
    ['GET of the scale', () => api('GET', `${inV2}/scale`), 'v1'],
  ]
  server.answer(() => ({ result: { status: 'Failure', message: 'own words' } }))
  for (const [what, request, version] of requests) t.strictSame((await request()).body, failure(`${of(version)} failed: own words`), what)
  t.strictSame((await api('GET', pathOf('v1', 'kept'))).body, before, 'the stored version needs no conversion')
  t.equal((await api('GET', pathOf('v1', 'new'))).status, 404)
  t.equal((await create('v1', 'stored', { size: 1 })).status, 201)
  server.reset()
})

t.test('one object that cannot be converted fails a list and blocks watches', async (t) => {
  const names = (body: JsonObject): string[] => ((body.items ?? []) as JsonObject[]).map((item) => String(metadataOf(item).name))
  const since = String(listMetadataOf(await api('GET', pathOf('v2'))).resourceVersion)
  const watching = await watch(`${pathOf('v2')}?resourceVersion=${since}`)
  server.answer(({ objects, desiredAPIVersion }) =>
    metadataOf(objects[0]!).name === 'broken'
      ? { result: { status: 'Failure', message: 'it is broken' } }
      : converted(objects.map((object) => convertThing(object, desiredAPIVersion))),
  )
  await create('v1', 'broken', { size: 1 })
  await create('v1', 'whole', { size: 2 })
  const message = `${of('v1')} failed: it is broken`
  t.strictSame((await api('GET', pathOf('v2'))).body, failure(message))
  t.strictSame((await api('GET', pathOf('v2', 'broken'))).body, failure(message))
  t.match((await api('GET', pathOf('v2', 'whole'))).body, { spec: { replicas: 2 } })
  t.ok(names((await api('GET', pathOf('v1'))).body).includes('broken'))
  t.strictSame(watching.events, [], 'later events wait')
  server.reset()
  await until('all are listed', async () => {
    const found = names((await api('GET', pathOf('v2'))).body)
    return found.includes('broken') && found.includes('whole')
  })
  const since2 = await watch(pathOf('v2'))
  const all = names((await api('GET', pathOf('v1'))).body)
  t.strictSame((await since2.take(all.length)).map(({ object }) => metadataOf(object).name).toSorted(), all.toSorted())
})
