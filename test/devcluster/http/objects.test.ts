/** Tests of the HTTP API for objects: forms of responses, options of writes, media types. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import type { RequestContext } from '../../../src/devcluster/apimachinery/request-context.ts'
import { foo, startTestServer } from '../../support/devcluster/http-server.ts'

const foos = '/apis/a.example.com/v1/namespaces/default/foos'
const pods = '/api/v1/namespaces/default/pods'
const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
const body = JSON.stringify({ apiVersion: 'a.example.com/v1', kind: 'Foo', metadata: { name: 'a' } })

t.test('a list has kind, metadata and items, and its query reaches the registry', async (t) => {
  let seen: unknown
  const { send } = await startTestServer(t, {
    registry: {
      list: (_info, options) => {
        seen = options
        return { items: [foo('a'), foo('b')], metadata: { resourceVersion: '7', continue: 'abc', remainingItemCount: 3 } }
      },
    },
  })
  const query = 'limit=2&continue=xyz&resourceVersion=5&resourceVersionMatch=Exact&labelSelector=a%3Db&fieldSelector=c%3Dd'
  const { code, json } = await send(`${foos}?${query}`)
  t.equal(code, 200)
  t.strictSame(json, {
    kind: 'FooList',
    apiVersion: 'a.example.com/v1',
    metadata: { resourceVersion: '7', continue: 'abc', remainingItemCount: 3 },
    items: [foo('a'), foo('b')],
  })
  t.strictSame(seen, {
    namespace: 'default',
    limit: 2,
    continue: 'xyz',
    resourceVersion: '5',
    resourceVersionMatch: 'Exact',
    labelSelector: 'a=b',
    fieldSelector: 'c=d',
  })
  await send('/apis/a.example.com/v1/foos')
  t.strictSame(seen, {}, 'a request without a namespace lists all of them')
  t.match(await send(`${foos}?limit=x`), { code: 400 })
})

t.test('a table has the columns of the type, with Name and Age by default', async (t) => {
  const { send } = await startTestServer(t, {
    registry: {
      get: () => foo('a', { size: 3 }, '9'),
      list: () => ({ items: [foo('a', { size: 3 })], metadata: { resourceVersion: '7' } }),
    },
  })
  const { json } = await send(foos, { accept: asTable })
  t.strictSame(json, {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [
      { name: 'Name', type: 'string', format: 'name', description: 'Name must be unique within a namespace.', priority: 0 },
      { name: 'Size', type: 'integer', format: '', description: 'How many.', priority: 1 },
    ],
    rows: [{ cells: ['a', 3], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: foo('a').metadata! } }],
  })
  const rowsOf = async (path: string): Promise<JsonValue> => (await send(path, { accept: asTable })).json.rows as JsonValue
  t.strictSame(await rowsOf(`${foos}?includeObject=None`), [{ cells: ['a', 3], object: null }])
  t.strictSame(await rowsOf(`${foos}?includeObject=Object`), [{ cells: ['a', 3], object: foo('a', { size: 3 }) }])
  t.match(await send(`${foos}?includeObject=Some`, { accept: asTable }), { code: 400 })
  t.match(await send(`${foos}/a`, { accept: asTable }), {
    json: { kind: 'Table', metadata: { resourceVersion: '9' }, rows: [{ cells: ['a', 3] }] },
  })
  t.match(
    await send(pods, { accept: asTable }),
    { json: { columnDefinitions: [{ name: 'Name' }, { name: 'Age' }] } },
    'a type without columns has Name and Age',
  )
  t.match(await send(foos, { accept: 'text/xml' }), {
    code: 406,
    json: { reason: 'NotAcceptable', message: /^only the following media types/ },
  })
  t.match(await send(pods, { accept: 'text/xml' }), { code: 406, json: { message: /^406: Not Acceptable\n/ } })
})

t.test('objects can be read as PartialObjectMetadata and as YAML', async (t) => {
  const { send } = await startTestServer(t, {
    registry: { get: () => foo('a', { size: 3 }), list: () => ({ items: [foo('a')], metadata: { resourceVersion: '7' } }) },
  })
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: foo('a').metadata! }
  t.strictSame((await send(`${foos}/a`, { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' })).json, partial)
  t.strictSame((await send(foos, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' })).json, {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '7' },
    items: [partial],
  })
  const yaml = await send(`${foos}/a`, { accept: 'application/yaml' })
  t.match(yaml, { headers: { 'content-type': 'application/yaml' }, text: /^apiVersion: a.example.com\/v1\nkind: Foo\n/ })
  t.match(await send(`${foos}/a?pretty=true`), { text: /^\{\n {2}"apiVersion"/ })
})

t.test('a request for a subresource reaches the registry with its name', async (t) => {
  const seen: string[] = []
  const { send } = await startTestServer(t, {
    registry: {
      get: (_info, _key, subresource) => {
        seen.push(subresource ?? '')
        return foo('a')
      },
      patch: (_info, _key, _patch, _context, subresource) => {
        seen.push(subresource ?? '')
        return Promise.resolve({ object: foo('a'), created: false })
      },
    },
  })
  await send(`${foos}/a/status`)
  await send(`${foos}/a/scale`)
  await send(`${foos}/a/status`, { method: 'PATCH', body: '{}', contentType: 'application/merge-patch+json' })
  t.strictSame(seen, ['status', 'scale', 'status'])
  t.match(await send(`${foos}/a/scale`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }), { code: 200, json: { kind: 'Table' } })
})

t.test('options of a write reach the registry, and its warnings the client', async (t) => {
  const contexts: RequestContext[] = []
  const { send } = await startTestServer(t, {
    registry: {
      create: (_info, _namespace, decoded, context) => {
        contexts.push(context)
        context.warn('unknown field "spec.x"')
        context.warn('unknown field "spec.x"')
        context.warn('späte "Warnung"')
        context.warn('with a control\tcharacter, which no header can have')
        return Promise.resolve(decoded.object)
      },
    },
  })
  const first = await send(foos, { method: 'POST', body, headers: { 'user-agent': 'kubectl/v1.36 (linux)' } })
  t.equal(first.code, 201)
  t.strictSame(first.headers.warning, ['299 - "unknown field \\"spec.x\\""', Buffer.from('299 - "späte \\"Warnung\\""').toString('latin1')])
  await send(`${foos}?dryRun=All&fieldManager=me&fieldValidation=Strict`, { method: 'POST', body })
  t.match(contexts[0], {
    dryRun: false,
    userAgent: 'kubectl/v1.36 (linux)',
    fieldValidation: 'Warn',
    user: { username: 'admin' },
    options: { kind: 'CreateOptions' },
  })
  t.match(contexts[1], {
    dryRun: true,
    fieldManager: 'me',
    fieldValidation: 'Strict',
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'], fieldManager: 'me', fieldValidation: 'Strict' },
  })
  const refused: [query: string, message: string][] = [
    ['dryRun=Some', 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"'],
    [
      'fieldValidation=Soft',
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Soft": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [`fieldManager=${'x'.repeat(129)}`, 'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes'],
  ]
  for (const [query, message] of refused)
    t.match(await send(`${foos}?${query}`, { method: 'POST', body }), { code: 422, json: { message } }, query)
})

t.test('a deprecated version warns on every request', async (t) => {
  const { send } = await startTestServer(t)
  t.match(await send('/apis/a.example.com/v1beta1/foos'), { headers: { warning: '299 - "a.example.com/v1beta1 Foo is deprecated"' } })
})

t.test('a body that is not an object is refused', async (t) => {
  const { send } = await startTestServer(t)
  const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  const noObject = (what: string): string =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type ${typeMeta.replaceAll('\\\\', '\\')}`
  const noText = (what: string, field: string): string =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go struct field .${field} of type string`
  const bodies: [text: string, problem: string, shown: string][] = [
    ['[]', noObject('array'), '5b5d'],
    ['null', "Object 'Kind' is missing in 'null'", '6e756c6c'],
    ['"x"', noObject('string'), '227822'],
    ['', "couldn't get version/kind; json parse error: unexpected end of JSON input", '<empty>'],
    ['{"kind":1}', noText('number', 'kind'), '{"kind":1}'],
    ['{"kind":"Foo","apiVersion":{}}', noText('object', 'apiVersion'), '{"kind":"Foo","apiVersion":{}}'],
    ['{"kind":"Foo","apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c', '{"kind":"Foo","apiVersion":"a/ ...'],
    ['{"apiVersion":"v1"}', `Object 'Kind' is missing in '{"apiVersion":"v1"}'`, '{"apiVersion":"v1"}'],
    ['{"kind":""}', `Object 'Kind' is missing in '{"kind":""}'`, '{"kind":""}'],
  ]
  for (const [text, problem, shown] of bodies) {
    const { code, json } = await send(foos, { method: 'POST', body: text })
    t.equal(code, 400, text)
    t.equal(json.message, `the object provided is unrecognized (must be of type Foo): ${problem} (${shown})`)
  }
  t.match(await send(pods, { method: 'POST', body: 'null' }), { code: 201, json: {} }, 'null is an object without fields')
  t.match(await send(pods, { method: 'POST', body: '{"apiVersion":"a/b","kind":null,"metadata":1}' }), { code: 201 })
  t.match(
    await send(foos, { method: 'POST', body: Buffer.from('6b38730001', 'hex'), contentType: 'application/vnd.kubernetes.protobuf' }),
    {
      code: 415,
      json: { reason: 'UnsupportedMediaType', message: /accepted media types include: application\/json, application\/yaml$/ },
    },
  )
  const scale = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'
  t.match(await send(`${foos}/a/scale`, { method: 'PUT', body: '[]' }), { code: 400, json: { message: scale } })
  t.match(await send(`${foos}/a/scale`, { method: 'PUT', body: 'x', contentType: 'text/plain' }), { code: 415 })
  t.match(await send(`${foos}/a/status`, { method: 'PUT', body: '[]' }), { code: 400, json: { message: /must be of type Foo/ } })
})

t.test('duplicate keys reach the registry with their paths', async (t) => {
  let seen: readonly string[] = []
  const { send } = await startTestServer(t, {
    registry: {
      put: (_info, _key, decoded) => {
        seen = decoded.duplicates
        return Promise.resolve({ object: decoded.object, created: false })
      },
    },
  })
  await send(`${foos}/a`, { method: 'PUT', body: '{"kind":"Foo","spec":{"a":1,"a":2}}' })
  t.strictSame(seen, ['spec.a'])
})

t.test('the media type selects the type of the patch', async (t) => {
  const { send } = await startTestServer(t)
  const patch = async (path: string, contentType: string, text: string, query = ''): Promise<JsonObject & { code: number }> => {
    const { code, json } = await send(`${path}/a?${query}`, { method: 'PATCH', body: text, contentType })
    return { code, ...json }
  }
  t.match(await patch(foos, 'application/json-patch+json', '[]'), { code: 200, patched: 'json' })
  t.match(await patch(foos, 'application/merge-patch+json', '{}'), { code: 200, patched: 'merge' })
  t.match(await patch(pods, 'application/strategic-merge-patch+json', '{}'), { code: 200, patched: 'strategic' })
  t.match(await patch(foos, 'application/apply-patch+yaml', 'a: 1', 'fieldManager=me&force=true'), { code: 200, patched: 'apply' })
  const unknown =
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, '
  t.match(await patch(foos, 'application/strategic-merge-patch+json', '{}'), {
    code: 415,
    message: `${unknown}application/apply-patch+yaml`,
  })
  t.match(await patch(foos, 'application/json', '{}'), { code: 415, message: `${unknown}application/apply-patch+yaml` })
  t.match(await patch(pods, 'text/plain', '{}'), { code: 415, message: '415: Unsupported Media Type' })
  t.match(await patch(foos, 'application/json-patch+json', '{}'), { code: 400 })
  t.match(await patch(foos, 'application/merge-patch+json', '{'), {
    code: 400,
    message: 'error decoding patch: unexpected end of JSON input',
  })
  t.match(await patch(foos, 'application/apply-patch+yaml', '{}'), {
    code: 422,
    message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  })
  t.match(await patch(foos, 'application/merge-patch+json', '{}', 'force=true'), {
    code: 422,
    message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  })
  const operations = (length: number): string => JSON.stringify(Array.from({ length }, () => ({})))
  t.match(await patch(foos, 'application/json-patch+json', operations(10_000)), { code: 200 })
  t.match(await patch(foos, 'application/json-patch+json', operations(10_001)), {
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
  })
})

t.test('a malformed patch is refused', async (t) => {
  const { send } = await startTestServer(t)
  const patches: [path: string, type: string, text: string, message: string][] = [
    [foos, 'json-patch+json', '{}', 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [foos, 'merge-patch+json', '[]', 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [foos, 'merge-patch+json', 'null', 'Invalid JSON Patch'],
    [pods, 'strategic-merge-patch+json', '"x"', 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [pods, 'strategic-merge-patch+json', '{', 'unexpected end of JSON input'],
    [foos, 'apply-patch+yaml', '[]', 'an apply patch must be an object of the kind Foo in a.example.com/v1'],
  ]
  for (const [path, type, text, message] of patches)
    t.match(
      await send(`${path}/a?${type.startsWith('apply') ? 'fieldManager=me' : ''}`, {
        method: 'PATCH',
        body: text,
        contentType: `application/${type}`,
      }),
      { code: 400, json: { message } },
      `${type} ${text}`,
    )
  t.match(await send(`${foos}/a?fieldManager=me`, { method: 'PATCH', body: 'a: b: c', contentType: 'application/apply-patch+yaml' }), {
    code: 400,
    json: { message: /^error decoding YAML: error converting YAML to JSON: yaml: / },
  })
})

t.test('the key, the body and the options of a patch, a PUT and a POST reach the registry', async (t) => {
  const seen: unknown[] = []
  const { send } = await startTestServer(t, {
    registry: {
      patch: (info, key, patch, { options, dryRun }, subresource) => {
        seen.push({ type: info.plural, key, patch, options, dryRun, subresource })
        return Promise.resolve({ object: foo('a'), created: patch.type === 'apply' })
      },
      put: (info, key, { object, duplicates }, { options }, subresource) => {
        seen.push({ type: info.plural, key, object, duplicates, options, subresource })
        return Promise.resolve({ object: foo('a'), created: key.name === 'new' })
      },
      create: (info, namespace, { object }, { options }, name, subresource) => {
        seen.push({ type: info.plural, namespace, object, options, name, subresource })
        return Promise.resolve(object)
      },
    },
  })
  const patch = (path: string, type: string, body: string) => send(path, { method: 'PATCH', body, contentType: `application/${type}` })
  const kind = (name: string, more = {}) => ({ kind: name, apiVersion: 'meta.k8s.io/v1', ...more })
  t.equal((await patch(`${foos}/a?dryRun=All`, 'json-patch+json', 'null')).code, 200)
  t.equal((await patch(`${foos}/a/status`, 'merge-patch+json', '{"a":{"b":1,"b":2}}')).code, 200)
  t.equal((await patch(`${foos}/a?fieldManager=me`, 'apply-patch+yaml', '')).code, 201)
  t.equal((await patch(`${foos}/a?fieldManager=me&force=1`, 'apply-patch+yaml', '{"a":9007199254740993}')).code, 201)
  t.equal((await send('/api/v1/namespaces/x', { method: 'PUT', body: '{"a":9007199254740993}' })).code, 200)
  t.equal((await send(`${foos}/new`, { method: 'PUT', body: '{"kind":"Foo","a":9007199254740993}' })).code, 201)
  t.equal((await send('/api/v1/namespaces', { method: 'POST', body: '{}' })).code, 201)
  const key = { namespace: 'default', name: 'a' }
  const common = { type: 'foos', key, dryRun: false, subresource: '' }
  t.strictSame(
    JSON.parse(
      JSON.stringify(seen, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value === undefined ? 'none' : value)),
    ),
    JSON.parse(
      JSON.stringify(
        [
          {
            ...common,
            patch: { type: 'json', body: [], duplicates: [] },
            options: kind('PatchOptions', { dryRun: ['All'] }),
            dryRun: true,
          },
          {
            ...common,
            patch: { type: 'merge', body: { a: { b: 2 } }, duplicates: ['a.b'] },
            options: kind('PatchOptions'),
            subresource: 'status',
          },
          {
            ...common,
            patch: { type: 'apply', body: {}, duplicates: [], force: false },
            options: kind('PatchOptions', { fieldManager: 'me' }),
          },
          {
            ...common,
            patch: { type: 'apply', body: { a: '9007199254740993n' }, duplicates: [], force: true },
            options: kind('PatchOptions', { fieldManager: 'me', force: true }),
          },
          {
            type: 'namespaces',
            key: { name: 'x' },
            object: { a: 9007199254740992 },
            duplicates: [],
            options: kind('UpdateOptions'),
            subresource: '',
          },
          {
            type: 'foos',
            key: { namespace: 'default', name: 'new' },
            object: { kind: 'Foo', a: '9007199254740993n' },
            duplicates: [],
            options: kind('UpdateOptions'),
            subresource: '',
          },
          { type: 'namespaces', namespace: undefined, object: {}, options: kind('CreateOptions'), name: undefined, subresource: '' },
        ],
        (_, value: unknown) => (value === undefined ? 'none' : value),
      ),
    ),
  )
})

t.test('a read with a resourceVersion waits until the store has reached it', async (t) => {
  const waited: unknown[] = []
  const { send } = await startTestServer(t, {
    registry: {
      get: () => foo('a'),
      waitFor: (revision, signal) => {
        waited.push([revision, signal.aborted])
        return Promise.resolve()
      },
    },
  })
  await send(`${foos}/a`)
  await send(`${foos}/a?resourceVersion=7`)
  await send(foos)
  await send(`${foos}?resourceVersion=7`)
  await send(foos, { method: 'DELETE' })
  t.strictSame(waited, [
    ['', false],
    ['7', false],
    [undefined, false],
    ['7', false],
    [undefined, false],
  ])
  t.match(await send(`${foos}?resourceVersion=x`), {
    code: 400,
    json: { message: 'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax' },
  })
})

t.test('DeleteOptions are read from the body, or from the query when the body is empty', async (t) => {
  const seen: unknown[] = []
  const { send } = await startTestServer(t, {
    registry: {
      delete: (_info, _key, options, { dryRun }) => {
        seen.push({ options, dryRun })
        return Promise.resolve({ object: foo('a'), accepted: true })
      },
    },
  })
  await send(`${foos}/a`, { method: 'DELETE' })
  await send(`${foos}/a?propagationPolicy=Orphan&gracePeriodSeconds=5&dryRun=All`, { method: 'DELETE' })
  await send(`${foos}/a?propagationPolicy=Orphan`, {
    method: 'DELETE',
    body: '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","dryRun":["All"]}',
  })
  t.strictSame(seen, [
    { options: {}, dryRun: false },
    { options: { propagationPolicy: 'Orphan', gracePeriodSeconds: 5, dryRun: ['All'] }, dryRun: true },
    { options: { propagationPolicy: 'Background', dryRun: ['All'] }, dryRun: true },
  ])
  t.match(await send(`${foos}/a`, { method: 'DELETE', body: '{"propagationPolicy":"Never"}' }), {
    code: 422,
    json: { message: /propagationPolicy: Unsupported value: "Never"/ },
  })
  t.match(await send(`${foos}/a`, { method: 'DELETE', body: '[]' }), { code: 400 })
  t.match(await send(foos, { method: 'DELETE' }), { code: 200, json: { kind: 'FooList' } })
})

t.test('the selectors and options of a DELETE of a collection reach the registry', async (t) => {
  const seen: unknown[] = []
  const { send } = await startTestServer(t, {
    registry: {
      deleteCollection: (info, selection, options, { dryRun }) => {
        seen.push([info.plural, selection, options, dryRun])
        return Promise.resolve({ items: [foo('a')], metadata: { resourceVersion: '7' } })
      },
    },
  })
  const query = 'labelSelector=a%3Db&timeoutSeconds=5&sendInitialEvents=true&dryRun=All'
  t.match(await send(`${foos}?${query}`, { method: 'DELETE' }), { code: 200, json: { items: [{ metadata: { name: 'a' } }] } })
  const selection = { namespace: 'default', labelSelector: 'a=b', timeoutSeconds: 5, sendInitialEvents: true }
  t.strictSame(seen, [['foos', selection, { dryRun: ['All'] }, true]])
})
