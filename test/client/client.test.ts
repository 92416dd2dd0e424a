import t from 'tap'
import { node, pod, serviceAccount } from '../../src/api/builtin.ts'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { deepFreeze } from '../../src/api/json.ts'
import { failure } from '../../src/api/status.ts'
import type { Client } from '../../src/client/client.ts'
import { clientOver, createClient } from '../../src/client/client.ts'
import type { RequestReport, Transport } from '../../src/client/transport.ts'
import type { ApiRequest } from '../../src/client/api-request.ts'
import { startTestServer } from '../support/client/server.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const key = { namespace: 'a', name: 'x' }
const spec = { spec: { size: 1 } } as object

function fake(answer: unknown = { kind: 'Widget' }): { client: Client; requests: ApiRequest[] } {
  const requests: ApiRequest[] = []
  const transport: Transport = {
    request: async (request) => (requests.push(request), { statusCode: 200, headers: {}, body: answer }),
    stream: async (request) => (requests.push(request), stream(String(answer))),
    close: async () => undefined,
  }
  return { client: clientOver(transport), requests }
}

async function* stream(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 7) yield Buffer.from(text.slice(at, at + 7))
}

interface Case {
  readonly name: string
  readonly call: (client: Client) => Promise<unknown>
  readonly method: string
  readonly path: string
  readonly verb?: string
  readonly query?: object
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
}
const manager = { fieldManager: 'proreus' }
const full = { apiVersion: 'example.com/v1', kind: 'Widget' }
const cases: Case[] = [
  { name: 'get', call: (c) => c.get(widget, key), method: 'GET', verb: 'get', path: '/apis/example.com/v1/namespaces/a/widgets/x' },
  { name: 'get of the core group', call: (c) => c.get(pod, key), method: 'GET', verb: 'get', path: '/api/v1/namespaces/a/pods/x' },
  {
    name: 'get without a namespace',
    call: (c) => c.get(node, { namespace: 'ignored', name: 'n' }),
    method: 'GET',
    verb: 'get',
    path: '/api/v1/nodes/n',
  },
  { name: 'list of all', call: (c) => c.list(widget), method: 'GET', verb: 'list', path: '/apis/example.com/v1/widgets', query: {} },
  {
    name: 'list of all by an empty namespace',
    call: (c) => c.list(widget, { namespace: '' }),
    method: 'GET',
    verb: 'list',
    path: '/apis/example.com/v1/widgets',
    query: {},
  },
  {
    name: 'list with options',
    call: (c) =>
      c.list(widget, {
        namespace: 'a',
        labelSelector: { matchLabels: { a: 'b' } },
        fieldSelector: 'metadata.name=x',
        limit: 2,
        continue: 't',
        resourceVersion: '0',
        resourceVersionMatch: 'NotOlderThan',
      }),
    method: 'GET',
    verb: 'list',
    path: '/apis/example.com/v1/namespaces/a/widgets',
    query: {
      labelSelector: 'a=b',
      fieldSelector: 'metadata.name=x',
      limit: 2,
      continue: 't',
      resourceVersion: '0',
      resourceVersionMatch: 'NotOlderThan',
    },
  },
  {
    name: 'create',
    call: (c) => c.create(widget, { metadata: key, ...spec }, { dryRun: true, fieldValidation: 'Strict' }),
    method: 'POST',
    verb: 'create',
    path: '/apis/example.com/v1/namespaces/a/widgets',
    query: { ...manager, dryRun: 'All', fieldValidation: 'Strict' },
    body: { ...full, metadata: key, ...spec },
  },
  {
    name: 'create with a generated name',
    call: (c) => c.create(widget, { metadata: { namespace: 'a', generateName: 'x-' } }),
    method: 'POST',
    verb: 'create',
    path: '/apis/example.com/v1/namespaces/a/widgets',
    query: manager,
    body: { ...full, metadata: { namespace: 'a', generateName: 'x-' } },
  },
  {
    name: 'update of a frozen object',
    call: (c) =>
      c.update(widget, deepFreeze({ apiVersion: 'example.com/v2', metadata: { ...key, resourceVersion: '5' }, ...spec }), {
        fieldManager: 'me',
      }),
    method: 'PUT',
    verb: 'update',
    path: '/apis/example.com/v1/namespaces/a/widgets/x',
    query: { fieldManager: 'me' },
    body: { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { ...key, resourceVersion: '5' }, ...spec },
  },
  {
    name: 'patch',
    call: (c) => c.patch(widget, key, spec),
    method: 'PATCH',
    verb: 'patch',
    path: '/apis/example.com/v1/namespaces/a/widgets/x',
    query: manager,
    body: spec,
    contentType: 'application/merge-patch+json',
  },
  {
    name: 'JSON patch of a subresource',
    call: (c) => c.patch(widget, key, [{ op: 'remove', path: '/a' }], { type: 'json', subresource: 'scale' }),
    method: 'PATCH',
    verb: 'patch',
    path: '/apis/example.com/v1/namespaces/a/widgets/x/scale',
    query: manager,
    body: [{ op: 'remove', path: '/a' }],
    contentType: 'application/json-patch+json',
  },
  {
    name: 'strategic merge patch',
    call: (c) => c.patch(pod, key, {}, { type: 'strategic' }),
    method: 'PATCH',
    verb: 'patch',
    path: '/api/v1/namespaces/a/pods/x',
    query: manager,
    body: {},
    contentType: 'application/strategic-merge-patch+json',
  },
  {
    name: 'apply',
    call: (c) => c.apply(widget, { metadata: key, ...spec }),
    method: 'PATCH',
    verb: 'apply',
    path: '/apis/example.com/v1/namespaces/a/widgets/x',
    query: { ...manager, force: true },
    body: { ...full, metadata: key, ...spec },
    contentType: 'application/apply-patch+yaml',
  },
  {
    name: 'apply of a status without force',
    call: (c) => c.apply(widget, { metadata: key }, { force: false, subresource: 'status', fieldManager: 'me' }),
    method: 'PATCH',
    verb: 'apply',
    path: '/apis/example.com/v1/namespaces/a/widgets/x/status',
    query: { fieldManager: 'me', force: false },
    body: { ...full, metadata: key },
    contentType: 'application/apply-patch+yaml',
  },
  {
    name: 'updateStatus',
    call: (c) => c.updateStatus(widget, { metadata: key }, { fieldValidation: 'Ignore' }),
    method: 'PUT',
    verb: 'update',
    path: '/apis/example.com/v1/namespaces/a/widgets/x/status',
    query: { ...manager, fieldValidation: 'Ignore' },
    body: { ...full, metadata: key },
  },
  {
    name: 'patchStatus',
    call: (c) => c.patchStatus(widget, key, { status: { phase: 'Ready' } }, { dryRun: true }),
    method: 'PATCH',
    verb: 'patch',
    path: '/apis/example.com/v1/namespaces/a/widgets/x/status',
    query: { ...manager, dryRun: 'All' },
    body: { status: { phase: 'Ready' } },
    contentType: 'application/merge-patch+json',
  },
  {
    name: 'delete',
    call: (c) =>
      c.delete(widget, key, { propagationPolicy: 'Foreground', gracePeriodSeconds: 0, preconditions: { uid: 'u' }, dryRun: true }),
    method: 'DELETE',
    verb: 'delete',
    path: '/apis/example.com/v1/namespaces/a/widgets/x',
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      dryRun: ['All'],
    },
  },
  {
    name: 'delete without options',
    call: (c) => c.delete(node, { name: 'n' }),
    method: 'DELETE',
    verb: 'delete',
    path: '/api/v1/nodes/n',
    body: { apiVersion: 'v1', kind: 'DeleteOptions' },
  },
  {
    name: 'patch with options other than dryRun',
    call: (c) => c.patch(widget, key, spec, { type: 'merge', dryRun: false, fieldManager: 'me', fieldValidation: 'Warn' }),
    method: 'PATCH',
    verb: 'patch',
    path: '/apis/example.com/v1/namespaces/a/widgets/x',
    query: { fieldManager: 'me', fieldValidation: 'Warn' },
    body: spec,
    contentType: 'application/merge-patch+json',
  },
  {
    name: 'create of an object with an apiVersion and a kind of its own',
    call: (c) => c.create(node, { apiVersion: 'v2', kind: 'Other', metadata: { name: 'n' } } as object as { metadata: object }),
    method: 'POST',
    verb: 'create',
    path: '/api/v1/nodes',
    query: manager,
    body: { apiVersion: 'v2', kind: 'Other', metadata: { name: 'n' } },
  },
  ...subresourceCases(),
  {
    name: 'deleteCollection',
    call: (c) =>
      c.deleteCollection(widget, {
        namespace: 'a',
        labelSelector: { matchLabels: { a: 'b' } },
        fieldSelector: 'metadata.name=x',
        propagationPolicy: 'Foreground',
        gracePeriodSeconds: 0,
        preconditions: { resourceVersion: '7' },
        dryRun: true,
      }),
    method: 'DELETE',
    verb: 'deletecollection',
    path: '/apis/example.com/v1/namespaces/a/widgets',
    query: { labelSelector: 'a=b', fieldSelector: 'metadata.name=x' },
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      preconditions: { resourceVersion: '7' },
      dryRun: ['All'],
    },
  },
  { name: 'raw', call: (c) => c.raw('/readyz'), method: 'GET', path: '/readyz' },
  { name: 'raw with a body', call: (c) => c.raw('/x', { method: 'POST', body: { a: 1 } }), method: 'POST', path: '/x', body: { a: 1 } },
  {
    name: 'raw of another kind',
    call: (c) => c.raw('/x', { method: 'PATCH', body: [], contentType: 'application/json-patch+json', accept: 'text/plain' }),
    method: 'PATCH',
    path: '/x',
    body: [],
    contentType: 'application/json-patch+json',
    accept: 'text/plain',
  },
]

/** Cases of the verbs for subresources. Each type of patch has a case for `status`, for `scale` and for another subresource. */
function subresourceCases(): Case[] {
  const path = '/apis/example.com/v1/namespaces/a/widgets/x'
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale' }
  const metadata = key
  const target = { kind: 'Node', name: 'n' }
  const create = { method: 'POST', verb: 'create', query: manager }
  const update = { method: 'PUT', verb: 'update', query: manager }
  const patch = { method: 'PATCH', verb: 'patch', query: manager }
  const apply = { method: 'PATCH', verb: 'apply', query: { ...manager, force: true }, contentType: 'application/apply-patch+yaml' }
  const operations = [{ op: 'remove', path: '/a' }] as const
  const patches = (['status', 'scale', 'other'] as const).flatMap((subresource): Case[] => [
    {
      ...patch,
      name: `merge patch of ${subresource}`,
      call: (c) => c.patch(widget, key, { spec: { replicas: 3 } }, { subresource }),
      path: `${path}/${subresource}`,
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas: 3 } },
    },
    {
      ...patch,
      name: `JSON patch of ${subresource}`,
      call: (c) => c.patch(widget, key, operations, { subresource, type: 'json' }),
      path: `${path}/${subresource}`,
      contentType: 'application/json-patch+json',
      body: operations,
    },
    {
      ...patch,
      name: `strategic patch of ${subresource}`,
      call: (c) => c.patch(widget, key, { spec: { replicas: 3 } }, { subresource, type: 'strategic' }),
      path: `${path}/${subresource}`,
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { replicas: 3 } },
    },
  ])
  return [
    ...patches,
    {
      name: 'get of a scale',
      call: (c) => c.get(widget, key, { subresource: 'scale' }),
      method: 'GET',
      verb: 'get',
      path: `${path}/scale`,
    },
    {
      ...update,
      name: 'update of a scale',
      call: (c) => c.update(widget, { metadata, spec: { replicas: 3 } }, { subresource: 'scale' }),
      path: `${path}/scale`,
      body: { ...scale, metadata, spec: { replicas: 3 } },
    },
    {
      ...apply,
      name: 'apply of a scale',
      call: (c) => c.apply(widget, { metadata, spec: { replicas: 3 } }, { subresource: 'scale' }),
      path: `${path}/scale`,
      body: { ...scale, metadata, spec: { replicas: 3 } },
    },
    {
      ...apply,
      name: 'apply of a status',
      call: (c) => c.apply(widget, { metadata }, { subresource: 'status' }),
      path: `${path}/status`,
      body: { ...full, metadata },
    },
    {
      ...create,
      name: 'eviction',
      call: (c) => c.create(pod, { metadata, deleteOptions: { gracePeriodSeconds: 0 } }, { subresource: 'eviction' }),
      path: '/api/v1/namespaces/a/pods/x/eviction',
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { gracePeriodSeconds: 0 } },
    },
    {
      ...create,
      name: 'binding',
      call: (c) => c.create(pod, { metadata, target }, { subresource: 'binding' }),
      path: '/api/v1/namespaces/a/pods/x/binding',
      body: { apiVersion: 'v1', kind: 'Binding', metadata, target },
    },
    {
      ...create,
      name: 'token',
      call: (c) => c.create(serviceAccount, { metadata, spec: { audiences: ['a'] } }, { subresource: 'token' }),
      path: '/api/v1/namespaces/a/serviceaccounts/x/token',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec: { audiences: ['a'] } },
    },
    {
      ...create,
      name: 'create of another subresource',
      call: (c) => c.create(widget, { kind: 'Other', apiVersion: 'v2', metadata, more: 1 }, { subresource: 'other' }),
      path: `${path}/other`,
      body: { kind: 'Other', apiVersion: 'v2', metadata, more: 1 },
    },
  ]
}

for (const { name, call, method, path, ...expected } of cases) {
  t.test(name, async (t) => {
    const { client, requests } = fake()
    await call(client)
    t.equal(requests.length, 1)
    const { body: text, type: _, ...request } = requests[0]!
    t.strictSame(
      { ...JSON.parse(JSON.stringify(request)), ...(text === undefined ? {} : { body: JSON.parse(text) }) },
      { method, path, ...expected },
    )
  })
}

t.test('each request for objects of a type has the type', async (t) => {
  for (const { name, call, path } of cases) {
    const { client, requests } = fake()
    await call(client)
    const { type } = requests[0]!
    if (path.startsWith('/api')) t.equal(path.includes(`/${type?.plural}`), true, name)
    else t.equal(type, undefined, name)
  }
})

t.test('the size limit of a list reaches the transport', async (t) => {
  const { client, requests } = fake({ items: [] })
  await client.list(widget, { maxResponseBytes: 1000 })
  await client.list(widget)
  t.strictSame(
    requests.map(({ maxResponseBytes }) => maxResponseBytes),
    [1000, undefined],
  )
})

t.test('names cannot break out of their path segment', async (t) => {
  const { client, requests } = fake()
  for (const name of ['', '.', '..', '../nodes', 'a/b', 'a%2fb']) {
    await t.rejects(
      client.delete(widget, { namespace: 'a', name }),
      { code: 'PRO_INPUT', message: /cannot be the name of a Widget/ },
      JSON.stringify(name),
    )
    await t.rejects(client.update(widget, { metadata: { namespace: 'a', name } }), { code: 'PRO_INPUT' })
    if (name !== '')
      await t.rejects(client.list(widget, { namespace: name }), { code: 'PRO_INPUT', message: /cannot be the namespace of a Widget/ })
  }
  await t.rejects(client.update(widget, { metadata: { namespace: 'a' } }), { code: 'PRO_INPUT' })
  t.equal(requests.length, 0)
  await client.get(widget, { namespace: 'a', name: 'x?watch=1#y z' })
  t.equal(requests[0]?.path, '/apis/example.com/v1/namespaces/a/widgets/x%3Fwatch%3D1%23y%20z')
})

t.test('a verb on one object sends nothing when the name is missing', async (t) => {
  const { client, requests } = fake()
  const dryRun = { dryRun: true } as const
  const verbs: Record<string, (key: never) => Promise<unknown>> = {
    get: (key) => client.get(widget, key),
    'get of a subresource': (key) => client.get(widget, key, { subresource: 'scale' }),
    delete: (key) => client.delete(widget, key),
    'dry run of a delete': (key) => client.delete(widget, key, dryRun),
    'delete of a cluster-scoped object': (key) => client.delete(node, key),
    patch: (key) => client.patch(widget, key, {}),
    patchStatus: (key) => client.patchStatus(widget, key, { status: {} }),
    logs: (key) => client.logs(key)[Symbol.asyncIterator]().next(),
    update: (metadata) => client.update(widget, { metadata }),
    updateStatus: (metadata) => client.updateStatus(widget, { metadata }),
    apply: (metadata) => client.apply(widget, { metadata }),
    eviction: (metadata) => client.create(pod, { metadata }, { subresource: 'eviction' }),
    token: (metadata) => client.create(serviceAccount, { metadata, spec: { audiences: [] } }, { subresource: 'token' }),
  }
  const namespace = 'a'
  for (const [name, call] of Object.entries(verbs)) {
    for (const bad of [{ namespace }, { namespace, name: undefined }, { namespace, name: null }, { namespace, generateName: 'x-' }])
      await t.rejects(
        call(bad as never),
        { code: 'PRO_INPUT', message: /^The name of a \w+ is (undefined|null): set metadata\.name, or/ },
        name,
      )
    for (const bad of [7, {}, 7n, Symbol('x')])
      await t.rejects(
        call({ namespace, name: bad } as never),
        { code: 'PRO_INPUT', message: /^The name of a \w+ must be a string, / },
        name,
      )
    for (const bad of ['', '\ud800', '..'])
      await t.rejects(call({ namespace, name: bad } as never), { code: 'PRO_INPUT', message: /cannot be the name of/ }, name)
    for (const bad of [undefined, null, 'x'])
      await t.rejects(call(bad as never), { code: 'PRO_INPUT', message: /^The (key|metadata) of a \w+ must be an object/ }, name)
  }
  for (const bad of [7, {}])
    await t.rejects(client.create(widget, { metadata: { namespace, name: bad as never } }), {
      code: 'PRO_INPUT',
      message: /^The name of a Widget must be a string, found /,
    })
  await t.rejects(client.create(widget, {} as never), {
    code: 'PRO_INPUT',
    message: 'The metadata of a Widget must be an object, found undefined.',
  })
  t.strictSame(requests, [])
  await client.create(widget, { metadata: { namespace, generateName: 'x-' } })
  t.equal(requests.length, 1)
})

t.test('each verb passes on its signal', async (t) => {
  const { client, requests } = fake(JSON.stringify({ type: 'ADDED', object: {} }) + '\n')
  const objects = fake()
  const { signal } = new AbortController()
  const object = { metadata: key }
  await objects.client.get(widget, key, { signal })
  await objects.client.list(widget, { signal })
  await objects.client.create(widget, object, { signal })
  await objects.client.update(widget, object, { signal })
  await objects.client.patch(widget, key, {}, { signal })
  await objects.client.apply(widget, object, { signal })
  await objects.client.updateStatus(widget, object, { signal })
  await objects.client.patchStatus(widget, key, { status: {} }, { signal })
  await objects.client.delete(widget, key, { signal })
  await objects.client.deleteCollection(widget, { namespace: 'a', signal })
  await objects.client.raw('/x', { signal })
  for await (const _ of client.logs(key, { signal })) break
  for await (const _ of client.watch(widget, { signal })) break
  const requested = [...objects.requests, ...requests]
  t.equal(requested.length, 13)
  for (const { method, verb, path, signal: expected } of requested) t.equal(expected, signal, `${method} ${verb} ${path}`)
})

t.test('writes have the field manager of the client, unless a call has its own', async (t) => {
  const managers: unknown[] = []
  const transport = {
    request: async ({ query }: ApiRequest) => (managers.push(query?.fieldManager), { statusCode: 200, headers: {}, body: {} }),
  } as unknown as Transport
  const client = clientOver(transport, { fieldManager: 'hello' })
  await client.create(widget, { metadata: key })
  await client.create(widget, { metadata: key }, { fieldManager: 'me' })
  t.strictSame(managers, ['hello', 'me'])
})

t.test('createClient takes the options of the transport, and closes it', async (t) => {
  const server = await startTestServer(() => ({ body: {} }))
  t.teardown(() => server.close())
  const reports: unknown[] = []
  const options = { fieldManager: 'hello', userAgent: 'me', onRequest: ({ verb, code }: RequestReport) => void reports.push([verb, code]) }
  const client = createClient(server.connection, options)
  await client.apply(widget, { metadata: key })
  await client.close()
  await t.rejects(client.raw('/x'), { code: 'PRO_ABORTED' })
  t.strictSame(
    server.requests.map(({ url, headers }) => [url, headers['user-agent']]),
    [['/apis/example.com/v1/namespaces/a/widgets/x?fieldManager=hello&force=true', 'me']],
  )
  t.strictSame(reports, [['apply', 200]])
  const plain = createClient(server.connection)
  await plain.create(widget, { metadata: key })
  await plain.close()
  t.equal(server.requests[1]?.url, '/apis/example.com/v1/namespaces/a/widgets?fieldManager=proreus')
})

t.test('namespaced types require a namespace', async (t) => {
  const { client } = fake()
  await t.rejects(client.create(widget, { metadata: { name: 'x' } }, { subresource: 'scale' }), { code: 'PRO_INPUT' })
  await t.rejects(client.deleteCollection(widget, {}), { code: 'PRO_INPUT' })
  const message = 'Widget is a namespaced type: set metadata.namespace, or the namespace of the key.'
  await t.rejects(client.get(widget, { name: 'x' }), { code: 'PRO_INPUT', message })
  await t.rejects(client.create(widget, { metadata: { name: 'x' } }), { code: 'PRO_INPUT', message })
})

t.test('items of lists have their apiVersion and kind', async (t) => {
  const { client } = fake({ kind: 'PodList', metadata: {}, items: [{ metadata: { name: 'x' } }] })
  const { items } = await client.list(pod)
  t.strictSame(items, [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } }])
  t.strictSame((await fake({ kind: 'PodList', metadata: {}, items: null }).client.list(pod)).items, [])
  const own = { apiVersion: 'v2', kind: 'Other', metadata: { name: 'y' } }
  t.strictSame(await fake({ kind: 'PodList', metadata: { continue: 'c' }, items: [own] }).client.list(pod), {
    kind: 'PodList',
    metadata: { continue: 'c' },
    items: [own],
  })
})

t.test('keys such as __proto__ are data', async (t) => {
  const { client, requests } = fake()
  await client.create(widget, JSON.parse('{"metadata":{"namespace":"a","name":"x"},"__proto__":{"b":1}}') as { metadata: object })
  t.match(requests[0]?.body, '"__proto__":{"b":1}')
})

t.test('an answer that is not an object is refused', async (t) => {
  await t.rejects(fake('<html>').client.get(widget, key), { code: 'PRO_API', message: /^GET \/apis.* is not a Kubernetes object/ })
  t.equal(await fake('<html>').client.raw('/x'), '<html>')
})

t.test('watch yields events, and throws on an ERROR event', async (t) => {
  const added = { type: 'ADDED', object: { kind: 'Widget', metadata: { name: 'x' } } }
  const { client, requests } = fake(`${JSON.stringify(added)}\n`)
  const seen: unknown[] = []
  for await (const event of client.watch(widget, {
    namespace: 'a',
    resourceVersion: '5',
    allowWatchBookmarks: true,
    timeoutSeconds: 300,
    labelSelector: { matchLabels: { a: 'b' } },
    onOpen: () => seen.push('open'),
  }))
    seen.push(event)
  t.strictSame(seen, ['open', added])
  t.strictSame(requests, [
    {
      type: widget,
      method: 'GET',
      verb: 'watch',
      path: '/apis/example.com/v1/namespaces/a/widgets',
      query: { watch: true, resourceVersion: '5', allowWatchBookmarks: true, timeoutSeconds: 300, labelSelector: 'a=b' },
      signal: undefined,
    },
  ])
  const failing = fake(`${JSON.stringify({ type: 'ERROR', object: failure(410, 'Expired', 'old') })}\n`).client
  const thrown: unknown[] = []
  try {
    for await (const _ of failing.watch(widget, {})) t.fail('no event')
  } catch (error) {
    thrown.push(error)
  }
  t.match(thrown, [{ statusCode: 410, request: { method: 'GET', path: '/apis/example.com/v1/widgets' } }])
})
