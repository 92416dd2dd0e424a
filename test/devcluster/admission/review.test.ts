/** Tests of AdmissionReviews: the creation of requests, and the decoding of responses. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject } from '../../../src/api/json.ts'
import type { AdmissionAttributes } from '../../../src/devcluster/admission/admission.ts'
import { hooksOf } from '../../../src/devcluster/admission/hook.ts'
import { inNamespace, readPatched } from '../../../src/devcluster/admission/patched-object.ts'
import { knownStatus, reviewProblem } from '../../../src/devcluster/admission/response-shape.ts'
import { describeKind, reviewTypeProblem } from '../../../src/devcluster/admission/check-response-type.ts'
import { CallError, readResponse, requestOf, reviewRequest } from '../../../src/devcluster/admission/review.ts'
import { mappedServices } from '../../../src/devcluster/admission/service-resolver.ts'
import { fromVersion, versionsOf } from '../../../src/devcluster/admission/versioned-write.ts'
import { badRequest } from '../../../src/devcluster/apimachinery/status-error.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { attributesOf, contextOf, custom, infoOf, namespaces, nodes, pods } from '../../support/devcluster/admission.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const requested = (attributes: AdmissionAttributes, info = attributes.info) =>
  requestOf({ attributes, info, object: attributes.object, oldObject: attributes.oldObject })

t.test('a webhook gets the defaults of kube-apiserver', (t) => {
  const [hook] = hooksOf([{ metadata: { name: 'c' }, webhooks: [{ name: 'w', clientConfig: { url: 'u' } }] }])
  t.strictSame(hook, {
    key: 'c/w/0',
    name: 'w',
    clientConfig: { url: 'u' },
    rules: [],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: [],
    objectSelector: [],
    matchConditions: [],
    sideEffects: undefined,
    timeoutSeconds: 10,
    admissionReviewVersions: [],
    reinvocationPolicy: 'Never',
  })
  const given = {
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: 'Cluster' }],
    failurePolicy: 'Ignore',
    matchPolicy: 'Exact',
    sideEffects: 'None',
    timeoutSeconds: 3,
    admissionReviewVersions: ['v1'],
    reinvocationPolicy: 'IfNeeded',
  }
  const selectors = {
    namespaceSelector: { matchLabels: { a: 'b' } },
    objectSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] },
  }
  const hooks = hooksOf([
    {
      metadata: { name: 'c' },
      webhooks: [
        { name: 'v', clientConfig: {} },
        { name: 'w', clientConfig: {}, ...given, ...selectors },
      ],
    },
    { metadata: { name: 'd' } },
  ] as never)
  t.equal(hooks.length, 2)
  t.match(hooks[1], { key: 'c/w/1', ...given })
  t.strictSame(hooks[1]?.namespaceSelector, [{ key: 'a', operator: 'In', values: ['b'] }])
  t.match(hooks[1]?.objectSelector, [{ key: 'k', operator: 'Exists' }])
  t.end()
})

t.test('a review uses the first supported version of admissionReviewVersions', (t) => {
  const attributes = attributesOf(pods)
  const review = (...admissionReviewVersions: string[]) => {
    const [hook] = hooksOf([{ metadata: { name: 'c' }, webhooks: [{ name: 'w', clientConfig: {}, admissionReviewVersions }] }])
    return reviewRequest(hook!, { attributes, info: pods, object: attributes.object, oldObject: undefined }, Math.random)
  }
  t.match(review('v9', 'v1beta1', 'v1'), {
    apiVersion: 'admission.k8s.io/v1beta1',
    body: { apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview' },
  })
  const { uid, apiVersion, body } = review('v1')
  t.equal(apiVersion, 'admission.k8s.io/v1')
  t.match(body.request, { uid, object: { kind: 'Pod' } })
  t.equal((body.request as JsonObject).oldObject, null)
  for (const versions of [['v9'], ['v2', 'v1alpha1'], []]) {
    try {
      review(...versions)
      t.fail(versions.join())
    } catch (error) {
      t.ok(error instanceof CallError)
      t.equal(
        (error as CallError).message,
        'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      )
    }
  }
  t.end()
})

t.test('a request has the name, namespace and subresource of the write, where they are set', (t) => {
  const kind = { group: '', version: 'v1', kind: 'Namespace' }
  const resource = { group: '', version: 'v1', resource: 'namespaces' }
  t.strictSame(requested(attributesOf(namespaces, { name: 'x', operation: 'DELETE', oldObject: { a: 1 } })), {
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name: 'x',
    namespace: 'x',
    operation: 'DELETE',
    userInfo: { username: 'jane', groups: ['devs'] },
    object: attributesOf(namespaces).object,
    oldObject: { a: 1 },
    dryRun: false,
    options: null,
  })
  const anonymous = requested(attributesOf(nodes, { name: '' }))
  t.notOk('name' in anonymous)
  t.notOk('namespace' in anonymous)
  const scale = infoOf('apps', 'v1', 'Deployment', 'deployments', {
    subresources: { scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['update'] } },
  })
  t.match(requested(attributesOf(scale, { subresource: 'scale' })), {
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    requestKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    subResource: 'scale',
    requestSubResource: 'scale',
  })
  t.end()
})

t.test('a patch that creates has CreateOptions, and one that updates has UpdateOptions', (t) => {
  const optionsOf = (options: JsonObject | undefined, operation: AdmissionAttributes['operation'] = 'UPDATE') =>
    requested(attributesOf(pods, { operation, context: contextOf(options === undefined ? {} : { options }) })).options
  const patch = { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1', force: true, fieldManager: 'me' }
  const rest = { apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' }
  t.strictSame(optionsOf(patch), { ...rest, kind: 'UpdateOptions' })
  t.strictSame(optionsOf(patch, 'CREATE'), { ...rest, kind: 'CreateOptions' })
  t.strictSame(optionsOf({ ...rest, kind: 'DeleteOptions' }, 'DELETE'), { ...rest, kind: 'DeleteOptions' })
  t.equal(optionsOf(undefined), null)
  t.end()
})

const request = (version = 'v1') => ({ uid: 'u', apiVersion: `admission.k8s.io/${version}`, body: {} })
const answer = (response: JsonValue, version = 'v1'): JsonObject => ({
  apiVersion: `admission.k8s.io/${version}`,
  kind: 'AdmissionReview',
  response,
})
const patch = Buffer.from('[]').toString('base64')

t.test('a response is decoded as by kube-apiserver', (t) => {
  const read = (response: JsonObject, mutating = true, version = 'v1') =>
    readResponse(answer({ uid: 'u', ...response }, version), request(version), mutating)
  const nothing = { allowed: false, status: undefined, warnings: [], patch: undefined, patchType: 'JSONPatch' }
  t.strictSame(read({}), nothing)
  t.strictSame(read({ allowed: true, warnings: ['a', 'b'] }), { ...nothing, allowed: true, warnings: ['a', 'b'] })
  t.strictSame(read({ allowed: true, patch, patchType: 'X' }), { ...nothing, allowed: true, patch: '[]', patchType: 'X' })
  t.strictSame(read({ patch: '' }, false), nothing)
  t.strictSame(read({ status: { code: 403, message: 'no', reason: '', bogus: 1 } }).status, { message: 'no', code: 403 })
  // The v1beta1 API does not require `patchType` with a patch.
  const beta = { ...nothing, patch: '[]' }
  t.strictSame(read({ uid: 'other', patch }, true, 'v1beta1'), beta)
  t.strictSame(read({ patch, patchType: 'X' }, true, 'v1beta1'), beta)
  t.strictSame(read({ patch, patchType: 'JSONPatch' }, false, 'v1beta1'), nothing)
  t.strictSame(readResponse({ response: {} }, request('v1beta1'), true), nothing, 'a v1beta1 response needs no kind')
  t.end()
})

t.test('an invalid response is refused with the message of kube-apiserver', (t) => {
  const problem = (given: JsonValue, mutating = true): string => {
    try {
      readResponse(given, request(), mutating)
      return 'fine'
    } catch (error) {
      if (error instanceof CallError) return error.message
      throw error
    }
  }
  const of = (response: JsonObject, mutating = true): string => problem(answer({ uid: 'u', ...response }), mutating)
  const invalid = 'received invalid webhook response:'
  t.equal(problem(null), `${invalid} webhook response was absent`)
  t.equal(problem('x'), `${invalid} webhook response was absent`)
  t.equal(problem(answer(null)), `${invalid} webhook response was absent`)
  t.equal(problem(answer({})), `${invalid} expected response.uid="u", got ""`)
  t.equal(of({ uid: 'x"' }), `${invalid} expected response.uid="u", got "x\\""`)
  t.equal(
    problem({ response: { uid: 'u' } }),
    `${invalid} expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`,
  )
  t.equal(
    problem({ apiVersion: 'admission.k8s.io/v1', response: { uid: 'u' } }),
    `${invalid} expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=`,
  )
  t.equal(
    problem({ ...answer({ uid: 'u' }), apiVersion: 'admission.k8s.io/v1beta1' }),
    'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
  )
  t.equal(
    of({ allowed: 'yes' }),
    'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
  )
  const wrong: [field: string, response: JsonObject][] = [
    ['AdmissionResponse.response.uid', { uid: 1 }],
    ['AdmissionResponse.response.patchType', { patchType: 1 }],
    ['AdmissionResponse.response.warnings', { warnings: 'x' }],
    ['AdmissionResponse.response.warnings', { warnings: [1] }],
    ['AdmissionResponse.response.auditAnnotations', { auditAnnotations: { a: 1 } }],
    ['AdmissionResponse.response.status', { status: 'x' }],
    ['Status.response.status.code', { status: { code: 'x' } }],
    ['Status.response.status.message', { status: { message: 1 } }],
    ['Status.response.status.reason', { status: { reason: 1 } }],
    ['Status.response.status.status', { status: { status: 1 } }],
    ['ListMeta.response.status.metadata.remainingItemCount', { status: { metadata: { remainingItemCount: 'x' } } }],
    ['ListMeta.response.status.metadata.continue', { status: { metadata: { continue: 1 } } }],
    ['StatusDetails.response.status.details.retryAfterSeconds', { status: { details: { retryAfterSeconds: 'x' } } }],
    ['StatusDetails.response.status.details.name', { status: { details: { name: 1 } } }],
    ['StatusDetails.response.status.details.causes', { status: { details: { causes: 'x' } } }],
    ['StatusCause.response.status.details.causes.field', { status: { details: { causes: [{ field: 1 }] } } }],
    ['StatusCause.response.status.details.causes.message', { status: { details: { causes: [{ message: 1 }] } } }],
  ]
  for (const [field, response] of wrong) {
    const text = of({ ...response })
    t.ok(text.startsWith('failed to call webhook: json: cannot unmarshal '), text)
    t.ok(text.includes(` into Go struct field ${field} of type `), `${field}: ${text}`)
  }
  t.equal(of({ patch: 'a', patchType: 'JSONPatch' }), 'failed to call webhook: illegal base64 data at input byte 0')
  t.equal(of({ patch, patchType: '' }), `${invalid} webhook returned invalid response.patchType of ""`)
  t.equal(of({ patch }), `${invalid} webhook returned response.patch but not response.patchType`)
  t.equal(of({ patchType: 'JSONPatch' }), `${invalid} webhook returned response.patchType but not response.patch`)
  t.equal(of({ patch, patchType: 'JSONPatch' }), 'fine')
  t.equal(of({ patchType: 'JSONPatch' }, false), `${invalid} validating webhook may not return response.patchType`)
  t.equal(of({ patch }, false), `${invalid} validating webhook may not return response.patch`)
  t.end()
})

t.test('every known field of a review is decoded with its Go type, and other fields are ignored', (t) => {
  const fields: readonly (readonly [path: string, holder: string, goTypes: Readonly<Record<string, string>>])[] = [
    ['', 'AdmissionReview', { kind: 'string', apiVersion: 'string', response: 'v1.AdmissionResponse' }],
    [
      'response',
      'AdmissionResponse',
      {
        uid: 'string',
        allowed: 'bool',
        status: 'v1.Status',
        patchType: 'string',
        auditAnnotations: 'map[string]string',
        warnings: '[]string',
      },
    ],
    [
      'response.status',
      'Status',
      {
        kind: 'string',
        apiVersion: 'string',
        metadata: 'v1.ListMeta',
        status: 'string',
        message: 'string',
        reason: 'string',
        details: 'v1.StatusDetails',
        code: 'int32',
      },
    ],
    [
      'response.status.metadata',
      'ListMeta',
      { selfLink: 'string', resourceVersion: 'string', continue: 'string', remainingItemCount: 'int64' },
    ],
    [
      'response.status.details',
      'StatusDetails',
      { name: 'string', group: 'string', kind: 'string', uid: 'string', causes: '[]v1.StatusCause', retryAfterSeconds: 'int32' },
    ],
    ['response.status.details.causes', 'StatusCause', { reason: 'string', message: 'string', field: 'string' }],
  ]
  const within = (path: readonly string[], value: JsonValue): JsonValue =>
    path.reduceRight<JsonValue>((inner, name) => ({ [name]: name === 'causes' && isObject(inner) ? [inner] : inner }), value)
  for (const [path, holder, goTypes] of fields) {
    const names = path === '' ? [] : path.split('.')
    for (const [field, goType] of Object.entries(goTypes)) {
      const [value, what] = /^(?:string|bool|int)/.test(goType) ? [[], 'array'] : ['x', 'string']
      t.equal(
        reviewProblem(within([...names, field], value as JsonValue) as JsonObject),
        `json: cannot unmarshal ${what} into Go struct field ${[holder, ...names, field].join('.')} of type ${goType}`,
      )
      t.equal(reviewProblem(within([...names, field], null) as JsonObject), undefined)
    }
    t.equal(reviewProblem(within([...names, 'other'], []) as JsonObject), undefined, `another field in ${holder}`)
  }
  t.equal(reviewProblem({ request: 5, response: { patch: 5, auditAnnotations: { a: 'b' }, warnings: ['x'] } }), undefined)
  t.end()
})

t.test('a Status is reduced to known fields that are not empty', (t) => {
  const causes = [{ reason: 'R', message: 'm', field: 'f', bogus: 1 }, null]
  t.strictSame(
    knownStatus({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: { resourceVersion: '1', selfLink: 's', continue: 'c', remainingItemCount: 2, name: 'x' },
      status: 'Failure',
      message: '',
      reason: null,
      code: 0,
      details: { name: 'n', group: 'g', kind: 'k', uid: 'u', causes, retryAfterSeconds: 3, bogus: 1 },
      bogus: 1,
    } as never),
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: { selfLink: 's', resourceVersion: '1', continue: 'c', remainingItemCount: 2 },
      status: 'Failure',
      details: {
        name: 'n',
        group: 'g',
        kind: 'k',
        uid: 'u',
        causes: [{ reason: 'R', message: 'm', field: 'f' }, {}],
        retryAfterSeconds: 3,
      },
    },
  )
  t.strictSame(knownStatus({ details: { causes: [] }, metadata: 'x' }), { metadata: 'x', details: {} })
  t.end()
})

t.test('a response of another type is refused with the message of kube-apiserver', (t) => {
  const expected = { kind: 'ConversionReview', apiVersion: 'g.io/v1', knownVersions: ['v1', 'v1beta1'] }
  const problem = (apiVersion: JsonValue, kind: JsonValue): string | undefined => reviewTypeProblem({ apiVersion, kind }, expected)
  for (const [apiVersion, kind] of [
    ['g.io/v1', 'ConversionReview'],
    ['', 'X'],
    ['v1', ''],
    [1, 'X'],
    ['v1', null],
  ] as const)
    t.equal(problem(apiVersion, kind), undefined)
  t.equal(problem('g.io/v1beta1', 'ConversionReview'), 'converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion')
  t.equal(problem('v1', 'Status'), 'converting (v1.Status) to (v1.ConversionReview): unknown conversion')
  for (const [apiVersion, kind] of [
    ['g.io/v2', 'ConversionReview'],
    ['g.io/v1', 'Other'],
    ['x/v1', 'Status'],
    ['v1', 'ConversionReview'],
  ])
    t.equal(
      problem(apiVersion!, kind!),
      `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    )
  t.equal(describeKind({ apiVersion: 'g/v1', kind: 'K' }), 'g/v1, Kind=K')
  t.equal(describeKind({ apiVersion: 'v1', kind: 1 }), 'v1, Kind=')
  t.equal(describeKind({}), '/, Kind=')
  t.end()
})

const builtinPods = builtinResources.find(({ plural }) => plural === 'pods')!

t.test('a patched object is decoded into its type again', async (t) => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [] } }
  t.match(readPatched(builtinPods, { metadata: { name: 'a', bogus: 1 }, bogus: 1 }), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
  })
  t.notOk('bogus' in readPatched(builtinPods, { ...pod, bogus: 1 }))
  t.strictSame(readPatched(pods, { spec: 1 }), { spec: 1, apiVersion: 'v1', kind: 'Pod' })
  const problem = async (info: ResourceInfo, object: JsonObject): Promise<string> => {
    const { code, message } = await refusal(() => readPatched(info, object))
    return `${code} ${message}`
  }
  const internal = '500 Internal error occurred:'
  const noKind = (version: string, kind: string): string =>
    `${internal} no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`
  t.equal(await problem(builtinPods, { ...pod, kind: 'Bod' }), noKind('v1', 'Bod'))
  t.equal(await problem(builtinPods, { ...pod, apiVersion: 'v2' }), noKind('v2', 'Pod'))
  t.match(
    await problem(builtinPods, { ...pod, spec: 1 }),
    /^500 Internal error occurred: json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec$/,
  )
  const thing = { apiVersion: 'other/v9', kind: 'Thing', metadata: { name: 'a', bogus: 1 }, spec: { bogus: 1 } }
  t.strictSame(readPatched(custom.v1, thing), { ...thing, apiVersion: 'example.com/v1', metadata: { name: 'a' } })
  t.strictSame(readPatched(custom.v1, { kind: 'Thing', metadata: 1 }), { kind: 'Thing', metadata: 1, apiVersion: 'example.com/v1' })
  t.equal(await problem(custom.v1, { spec: 1 }), `${internal} Object 'Kind' is missing in '{"spec":1}'`)
  t.equal(
    await problem(custom.v1, { ...thing, kind: 'Other' }),
    '422 Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Thing',
  )
  for (const metadata of [undefined, 5, {}, { name: 5 }])
    t.equal(
      await problem(custom.v1, { kind: 'Other', ...(metadata !== undefined && { metadata }) }),
      '422 Other.example.com "" is invalid: kind: Invalid value: "Other": must be Thing',
    )
})

t.test('an object gets the namespace of the request, and another one is refused', async (t) => {
  const object = { metadata: { name: 'a' } }
  t.strictSame(inNamespace(object, 'ns'), { metadata: { name: 'a', namespace: 'ns' } })
  t.equal(inNamespace(object, undefined), object)
  const there = { metadata: { namespace: 'ns' } }
  t.equal(inNamespace(there, 'ns'), there)
  t.strictSame(inNamespace({ metadata: 1 }, 'ns'), { metadata: { namespace: 'ns' } })
  t.match(await refusal(() => inNamespace(there, 'other')), {
    code: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  })
})

t.test('a write is converted once into each version that rules match', async (t) => {
  const asked: string[] = []
  const converter = {
    convert: (object: JsonObject, apiVersion: string) => {
      asked.push(apiVersion)
      return Promise.resolve({ ...object, apiVersion, converted: true })
    },
  }
  const [v1, v2] = [custom.v1, custom.v2].map((info) => ({ ...info, converter })) as unknown as [ResourceInfo, ResourceInfo]
  const attributes = attributesOf(v1, {
    operation: 'UPDATE',
    oldObject: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'old' } },
  })
  const inVersion = versionsOf(attributes)
  const write = await inVersion(v2)
  t.match(write, {
    attributes,
    info: v2,
    object: { apiVersion: 'example.com/v2', converted: true },
    oldObject: { metadata: { name: 'old' }, converted: true },
  })
  t.equal(await inVersion(v2), write)
  t.strictSame(asked, ['example.com/v2', 'example.com/v2'])
  t.equal((await inVersion(v1)).object, attributes.object)
  const redefault = (object: JsonObject): JsonObject => ({ ...object, defaulted: true })
  const patched = { apiVersion: 'example.com/v2', kind: 'Thing' }
  t.strictSame(await fromVersion(patched, write, redefault), { apiVersion: 'example.com/v1', kind: 'Thing', converted: true })
  t.strictSame(await fromVersion(patched, await inVersion(v1), redefault), { ...patched, defaulted: true })
  const simple = await versionsOf(attributesOf(custom.v1))(custom.v2)
  t.strictSame(await fromVersion(patched, simple, redefault), { apiVersion: 'example.com/v1', kind: 'Thing', defaulted: true })
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale' }
  t.equal((await versionsOf(attributesOf(custom.v1, { object: scale }))(custom.v2)).object, scale, 'a Scale is not converted')
  const failing = { ...custom.v1, converter: { convert: () => Promise.reject(badRequest('no')) } } as unknown as ResourceInfo
  await t.rejects(versionsOf(attributesOf(failing))(custom.v2), { message: 'Internal error occurred: no', status: { code: 500 } } as never)
  const broken = { ...custom.v1, converter: { convert: () => Promise.reject(new TypeError('boom')) } } as unknown as ResourceInfo
  await t.rejects(versionsOf(attributesOf(broken))(custom.v2), new TypeError('boom'))
})

t.test('a webhook receives a built-in object without empty lists, and no object where there is none', async (t) => {
  const info = { ...builtinPods, strategy: { distinguishesEmptyLists: true } }
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [], volumes: [] }, status: {} }
  const sent = await versionsOf(attributesOf(info, { object }))(info)
  t.strictSame(sent.object, { ...object, spec: { containers: [] } })
  t.equal(sent.oldObject, undefined)
  t.equal((await versionsOf(attributesOf(builtinPods, { object }))(builtinPods)).object, object, 'other types have no empty lists')
})

t.test('a mapped Service resolves to its address, and another one is a failed call', (t) => {
  const services = { 'a/b': 'https://1', 'a/b:8443': 'https://2', 'a/c': 'https://3' }
  const { resolve } = mappedServices(
    () => services,
    ({ name, namespace, port }) => name === 'known' && namespace === 'a' && port === 443,
  )
  const at = (name: string, port = 443, namespace = 'a'): string => resolve({ namespace, name, port })
  t.strictSame([at('b'), at('b', 8443), at('b', 9), at('c')], ['https://1', 'https://2', 'https://1', 'https://3'])
  t.throws(() => at('known'), { name: 'CallError', message: 'no endpoints available for service "known"' })
  t.throws(() => at('b', 443, 'x'), { name: 'CallError', message: 'service "b" not found' })
  t.throws(() => mappedServices(() => ({})).resolve({ namespace: 'a', name: 'toString', port: 1 }), {
    message: 'no endpoints available for service "toString"',
  })
  const all = mappedServices(
    () => services,
    () => true,
    ({ name }) => `https://endpoint-of-${name}`,
  )
  const resolved = ['b', 'd'].map((name) => all.resolve({ namespace: 'a', name, port: 443 }))
  t.strictSame(resolved, ['https://1', 'https://endpoint-of-d'], 'the mapped address comes before the endpoints')
  t.end()
})
