/**
 * Tests of the subresources `binding`, `eviction`, `token` and `scale`, and of the validation of their request bodies. The kind of such a
 * body differs from the kind of the object, e.g. an `Eviction` for a Pod.
 */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-subresources'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const core = `/api/v1/namespaces/${namespace}`
const containers = [{ name: 'main', image: 'nginx' }]

await until('the account is there', async () => {
  const { status } = await api('POST', `${core}/serviceaccounts`, { body: { metadata: { name: 'it' } } })
  return status === 201 || status === 409
})
t.equal((await api('POST', `${core}/pods`, { body: { metadata: { name: 'it' }, spec: { containers } } })).status, 201)

interface Subresource {
  readonly path: string
  readonly kind: string
  /** The Go package of the body's type, which occurs in error messages. */
  readonly goPackage: string
  readonly good: JsonObject & { readonly apiVersion: string }
}

const it = { name: 'it' }
const subresources: readonly Subresource[] = [
  {
    path: 'pods/it/binding',
    kind: 'Binding',
    goPackage: 'core',
    good: { apiVersion: 'v1', kind: 'Binding', metadata: it, target: { kind: 'Node', name: 'n' } },
  },
  { path: 'pods/it/eviction', kind: 'Eviction', goPackage: 'policy', good: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: it } },
  {
    path: 'serviceaccounts/it/token',
    kind: 'TokenRequest',
    goPackage: 'authentication',
    good: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: it, spec: { audiences: ['a'] } },
  },
]

const post = (path: string, body: unknown, query = '', contentType?: string) =>
  api('POST', `${core}/${path}?dryRun=All${query}`, { body, ...(contentType === undefined ? {} : { contentType }) })
const registered = (kind: string, version: string): string =>
  `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`

t.test('a body of the wrong kind is refused before any other check', async (t) => {
  for (const { path, kind, goPackage, good } of subresources) {
    const refused = (text: string, found = kind, version = 'v1'): string =>
      `${found} in version "${version}" cannot be handled as a ${kind}: ${text}`
    const otherKinds: readonly (readonly [JsonObject, string])[] = [
      ...['Pod', 'ConfigMap', 'PodList', 'Status', 'DeleteOptions', 'CreateOptions', 'List'].map((other): [JsonObject, string] => [
        { apiVersion: 'v1', kind: other, metadata: it },
        refused(`converting (v1.${other}) to (${goPackage}.${kind}): unknown conversion`, other),
      ]),
      [{ ...good, kind: 'Nope' }, refused(registered('Nope', good.apiVersion), 'Nope')],
      [{ ...good, apiVersion: 'v9' }, refused(registered(kind, 'v9'), kind, 'v9')],
      [{ ...good, apiVersion: 'example.com/v1' }, refused(registered(kind, 'example.com/v1'))],
      [{ ...good, metadata: 'it' }, refused(`json: cannot unmarshal string into Go struct field ${kind}.metadata of type v1.ObjectMeta`)],
      [
        { ...good, metadata: { name: 5 } },
        refused('json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string'),
      ],
      [
        { ...good, metadata: { ...it, namespace: 'default' } },
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
    ]
    for (const [body, message] of otherKinds) {
      t.match((await post(path, body)).body, { code: 400, reason: 'BadRequest', message }, `${path}: ${message}`)
    }
    const nowhere = path.replace('/it/', '/nowhere/')
    t.match((await post(nowhere, { ...good, kind: 'Nope' })).body, { code: 400 }, 'also for a missing object')
  }
})

t.test('an undecodable body is refused with the message of the decoder', async (t) => {
  for (const { path, kind, good } of subresources) {
    const unread = (text: string): string => `the object provided is unrecognized (must be of type ${kind}): ${text}`
    const parse = "couldn't get version/kind; json parse error: "
    const cases: readonly (readonly [unknown, string])[] = [
      ['{', unread(`${parse}unexpected end of JSON input ({)`)],
      ['abc', unread(`${parse}invalid character 'a' looking for beginning of value (616263)`)],
      [
        { kind: 5, apiVersion: good.apiVersion, metadata: it },
        unread(`${parse}json: cannot unmarshal number into Go struct field .kind of type string`),
      ],
      [
        { kind, apiVersion: [], metadata: it },
        unread(`${parse}json: cannot unmarshal array into Go struct field .apiVersion of type string`),
      ],
      [{ ...good, apiVersion: 'a/b/c' }, unread('unexpected GroupVersion string: a/b/c')],
    ]
    for (const [body, message] of cases) {
      const answer = await post(path, body)
      t.equal(answer.status, 400, path)
      t.ok(String(answer.body.message).startsWith(message), `${String(answer.body.message)} begins with ${message}`)
    }
    const yaml = await post(path, 'kind: Nope\n', '', 'application/yaml')
    t.match(yaml.body, { code: 400, message: registered('Nope', good.apiVersion) })
  }
})

t.test('unknown and duplicate fields cause warnings, or are refused', async (t) => {
  for (const { path, kind, good } of subresources) {
    const twice = JSON.stringify(good).replace('{', `{"kind":"${kind}",`)
    for (const [body, text] of [
      [{ ...good, more: 1 }, 'unknown field "more"'],
      [twice, 'duplicate field "kind"'],
    ] as const) {
      const told = await post(path, body)
      t.equal(told.status, 201, path)
      t.strictSame(told.warnings, [text], path)
      t.strictSame((await post(path, body, '&fieldValidation=Ignore')).warnings, [], path)
      const message = `${kind} in version "v1" cannot be handled as a ${kind}: strict decoding error: ${text}`
      t.match((await post(path, body, '&fieldValidation=Strict')).body, { code: 400, message }, path)
    }
  }
})

t.test('invalid fields of a binding, an eviction or a TokenRequest are refused', async (t) => {
  const [binding, eviction, token] = subresources.map(
    ({ path, good }) =>
      (fields: JsonObject) =>
        post(path, { ...good, ...fields }),
  )
  const cases: readonly (readonly [Promise<{ readonly body: JsonObject }>, number, string])[] = [
    [binding!({ target: 'n' }), 400, 'cannot unmarshal string into Go struct field Binding.target of type v1.ObjectReference'],
    [binding!({ target: {} }), 500, 'target.name: Required value'],
    [binding!({ target: { kind: 'Pod', name: 'n' } }), 500, 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
    [
      binding!({ target: { kind: 'Pod' } }),
      500,
      '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
    ],
    [binding!({ metadata: { name: 'other' } }), 400, 'name in URL does not match name in Binding object'],
    [eviction!({ deleteOptions: 1 }), 400, 'cannot unmarshal number into Go struct field Eviction.deleteOptions of type v1.DeleteOptions'],
    [
      eviction!({ deleteOptions: { gracePeriodSeconds: 'a' } }),
      400,
      'cannot unmarshal string into Go struct field DeleteOptions.deleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      eviction!({ apiVersion: 'policy/v1beta1', metadata: 'it' }),
      400,
      'Eviction in version "v1beta1" cannot be handled as a Eviction: json: cannot unmarshal string',
    ],
    [
      token!({ spec: { audiences: 'a' } }),
      400,
      'cannot unmarshal string into Go struct field TokenRequestSpec.spec.audiences of type []string',
    ],
    [
      token!({ metadata: { name: 'other' } }),
      422,
      'metadata.name: Invalid value: "other": must match the service account name if specified',
    ],
  ]
  for (const [answer, code, message] of cases) t.match((await answer).body, { code, message }, message)
  t.match((await eviction!({ apiVersion: 'policy/v1beta1' })).body, { status: 'Success' }, 'an Eviction of policy/v1beta1')
})

t.test('an eviction is a dry run by its body or its query', async (t) => {
  t.equal((await api('POST', `${core}/pods`, { body: { metadata: { name: 'stays' }, spec: { containers } } })).status, 201)
  const path = `${core}/pods/stays/eviction`
  const evict = (deleteOptions: JsonObject, query = '', name = 'stays') =>
    api('POST', path + query, { body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions } })
  const all = { dryRun: ['All'] }
  for (const [deleteOptions, query] of [
    [all, ''],
    [{}, '?dryRun=All'],
    [{ dryRun: [] as string[] }, '?dryRun=All'],
    [all, '?dryRun=All'],
  ] as const) {
    const { status, body } = await evict({ ...deleteOptions }, query)
    t.strictSame([status, body.status], [201, 'Success'], JSON.stringify([deleteOptions, query]))
    const left = await api('GET', `${core}/pods/stays`)
    t.equal(left.status, 200, 'the Pod still exists')
    t.notOk(Object.hasOwn(left.body.metadata as JsonObject, 'deletionTimestamp'))
  }
  t.match((await evict({ dryRun: ['Some'] }, '?dryRun=All')).body, {
    code: 500,
    message: 'Non-matching dry-run options in request and content: [All] and [Some]',
  })
  t.match((await evict({ dryRun: ['Some'] })).body, {
    code: 422,
    message: 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  })
  t.match((await evict({ ignoreStoreReadErrorWithClusterBreakingPotential: true })).body, {
    code: 422,
    message: /deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can not be set for pod eviction/,
  })
  const nowhere = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'other' } }
  t.equal((await api('POST', `${core}/pods/nowhere/eviction`, { body: nowhere })).status, 400, 'the name is checked first')
  t.equal((await evict({})).status, 201)
  t.equal((await api('GET', `${core}/pods/stays`)).status, 404, 'an eviction that is not a dry run deletes the Pod')
})

t.test('a dry run on a subresource or of a deleted collection changes nothing', async (t) => {
  const accounts = `${core}/serviceaccounts`
  for (const name of ['pod', 'bound']) {
    const labels = { dry: 'yes' }
    const { status } = await api('POST', `${core}/pods`, { body: { metadata: { name: `dry-${name}`, labels }, spec: { containers } } })
    t.equal(status, 201)
  }
  const before = (await api('GET', `${core}/pods/dry-pod`)).body
  const target = { kind: 'Node', name: 'n' }
  const bound = await api('POST', `${core}/pods/dry-bound/binding?dryRun=All`, { body: { metadata: { name: 'dry-bound' }, target } })
  t.equal(bound.status, 201)
  const status = await api('PATCH', `${core}/pods/dry-pod/status?dryRun=All`, {
    body: { status: { message: 'dry' } },
    contentType: 'application/merge-patch+json',
  })
  t.match(status.body, { status: { message: 'dry' } })
  const token = await api('POST', `${accounts}/it/token?dryRun=All`, { body: { spec: {} } })
  t.equal(token.status, 201)
  for (const [query, body] of [
    ['', { dryRun: ['All'] }],
    ['&dryRun=All', undefined],
  ] as const) {
    const answer = await api('DELETE', `${core}/pods?labelSelector=dry%3Dyes${query}`, { body })
    t.equal((answer.body.items as unknown[]).length, 2)
  }
  t.strictSame((await api('GET', `${core}/pods/dry-pod`)).body, before)
  t.notOk(Object.hasOwn((await api('GET', `${core}/pods/dry-bound`)).body.spec as JsonObject, 'nodeName'))
})

t.test('a Scale is validated like other subresources', async (t) => {
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'it', namespace }, spec: { replicas: 2 } }
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
  const created = await api('POST', deployments, { body: { metadata: it, spec: { selector: { matchLabels: { a: 'b' } }, template } } })
  t.equal(created.status, 201)
  await api('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition })
  const widgets = `/apis/subresources.example.com/v1/namespaces/${namespace}/widgets`
  const widget = { apiVersion: 'subresources.example.com/v1', kind: 'Widget', metadata: it, spec: { replicas: 1 } }
  await until('Widgets are served', async () => (await api('POST', widgets, { body: widget })).status === 201)
  const more = { ...scale, more: 1, spec: { replicas: 2, much: 2 } }
  for (const path of [deployments, widgets]) {
    const url = `${path}/it/scale?dryRun=All`
    const told = await api('PUT', url, { body: more })
    t.match(told.body, { kind: 'Scale', spec: { replicas: 2 } })
    t.strictSame(told.warnings, ['unknown field "spec.much"', 'unknown field "more"'])
    t.equal((await api('PUT', url, { body: { metadata: scale.metadata, spec: scale.spec } })).status, 200, 'without a kind')
    const silent = [400, 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"']
    const strict = await api('PUT', `${url}&fieldValidation=Strict`, { body: more })
    const wrong = await api('PUT', url, { body: { ...scale, apiVersion: 'apps/v1', kind: 'Deployment' } })
    const badSpec = await api('PUT', url, { body: { ...scale, spec: 'a' } })
    if (path === widgets) {
      for (const body of ['{', '[]', { ...scale, apiVersion: 'a/b/c' }, { ...scale, kind: 5 }])
        t.match((await api('PUT', url, { body })).body, { code: 400, message: silent[1] })
    }
    const messages = [strict, wrong, badSpec].map(({ status, body }) => [status, body.message])
    const refused = (text: string, found = 'Scale'): unknown[] => [400, `${found} in version "v1" cannot be handled as a Scale: ${text}`]
    t.strictSame(
      messages,
      path === widgets
        ? [silent, silent, silent]
        : [
            refused('strict decoding error: unknown field "spec.much", unknown field "more"'),
            refused('converting (v1.Deployment) to (autoscaling.Scale): unknown conversion', 'Deployment'),
            refused('json: cannot unmarshal string into Go struct field Scale.spec of type v1.ScaleSpec'),
          ],
    )
  }
})

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.subresources.example.com' },
  spec: {
    group: 'subresources.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
      },
    ],
  },
}

t.test('a connection to a Pod without a node is refused, and its log is empty', async (t) => {
  for (const subresource of ['attach', 'exec', 'portforward']) {
    for (const method of ['GET', 'POST']) {
      const connect = (name: string) => api(method, `${core}/pods/${name}/${subresource}?command=ls&ports=80&timeout=x`)
      const unscheduled = { code: 400, reason: 'BadRequest', message: 'pod it does not have a host assigned' }
      t.match((await connect('it')).body, unscheduled, `${method} ${subresource}`)
      t.match((await connect('nowhere')).body, { code: 404, message: 'pods "nowhere" not found' }, `${method} ${subresource}`)
    }
  }
  t.match(await api('GET', `${core}/pods/it/log?timeout=x`), { status: 204, text: '' })
})
