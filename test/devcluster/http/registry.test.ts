/** Tests of the HTTP layer together with the registry of the embedded API server. */
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { systemClock } from '../../../src/runtime/clock.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { ruleAuthorizer } from '../../../src/devcluster/access/authorizer.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { Registry } from '../../../src/devcluster/registry/registry.ts'
import { builtinResource } from '../../../src/devcluster/resources/builtin-resource.ts'
import { Catalog } from '../../../src/devcluster/resources/catalog.ts'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import { compileSchema } from '../../../src/schema/compile.ts'
import type { RequestOptions, TestResponse, TestServer } from '../../support/devcluster/http-server.ts'
import { admin, rows, startTestServer } from '../../support/devcluster/http-server.ts'

const foos = '/apis/a.example.com/v1/namespaces/default/foos'

const fooRow: ResourceInfo = {
  ...rows.find(({ kind, version }) => kind === 'Foo' && version === 'v1')!,
  schema: compileSchema({
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string', default: 'red' } } },
      status: { type: 'object', properties: { ready: { type: 'boolean' } } },
    },
  }),
}

async function start(
  t: Test,
): Promise<
  TestServer & { store: ObjectStore; write(method: string, path: string, body: unknown, options?: RequestOptions): Promise<TestResponse> }
> {
  const store = new ObjectStore()
  const catalog = new Catalog([fooRow, builtinResource({ kind: 'Namespace', plural: 'namespaces', namespaced: false })])
  const registry = new Registry({ store, catalog, admission: admitAll, authorizer: ruleAuthorizer(), clock: systemClock })
  const server = await startTestServer(t, { registry, catalog })
  const write = (method: string, path: string, body: unknown, options: RequestOptions = {}): Promise<TestResponse> =>
    server.send(path, { method, body: typeof body === 'string' ? body : JSON.stringify(body), ...options })
  await write('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  return { ...server, store, write }
}

function foo(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: 'a.example.com/v1', kind: 'Foo', metadata: { name }, spec }
}

t.test('an object is created, updated, patched, listed and deleted', async (t) => {
  const { send, write } = await start(t)
  t.match(await write('POST', foos, foo('a', { size: 1 })), {
    code: 201,
    json: { spec: { size: 1, color: 'red' }, metadata: { generation: 1 } },
  })
  t.match(await write('POST', foos, foo('a')), {
    code: 409,
    json: { reason: 'AlreadyExists', message: 'foos.a.example.com "a" already exists' },
  })
  const read = await send(`${foos}/a`)
  t.match(await write('PUT', `${foos}/a`, { ...read.json, spec: { size: 2 } }), { code: 200, json: { metadata: { generation: 2 } } })
  t.match(await write('PUT', `${foos}/a`, { ...read.json, spec: { size: 3 } }), { code: 409, json: { reason: 'Conflict' } })
  const merge = { contentType: 'application/merge-patch+json' }
  t.match(await write('PATCH', `${foos}/a/status`, { status: { ready: true }, spec: { size: 9 } }, merge), {
    code: 200,
    json: { spec: { size: 2 }, status: { ready: true } },
  })
  const apply = { contentType: 'application/apply-patch+yaml' }
  t.match(await write('PATCH', `${foos}/b?fieldManager=me`, foo('b', { size: 5 }), apply), { code: 201, json: { metadata: { name: 'b' } } })
  t.match(await write('PATCH', `${foos}/b?fieldManager=me`, foo('b', { size: 6 }), apply), { code: 200, json: { spec: { size: 6 } } })
  t.match(await send(foos), { json: { kind: 'FooList', items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] } })
  t.match(await send(`${foos}/a`, { method: 'DELETE' }), {
    code: 200,
    json: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'foos' } },
  })
  t.match(await send(`${foos}/a`), { code: 404 })
  t.match(await send(foos, { method: 'DELETE' }), { code: 200, json: { kind: 'FooList', items: [{ metadata: { name: 'b' } }] } })
})

t.test('unknown and duplicate fields are refused, warned about or ignored by fieldValidation', async (t) => {
  const { write } = await start(t)
  const body = '{"apiVersion":"a.example.com/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"size":1,"size":2,"other":3}}'
  const dryRun = 'dryRun=All&fieldValidation='
  t.match(await write('POST', `${foos}?${dryRun}Strict`, body), {
    code: 400,
    json: {
      message:
        'Foo in version "v1" cannot be handled as a Foo: strict decoding error: duplicate field "spec.size", unknown field "spec.other"',
    },
  })
  t.match(await write('POST', `${foos}?${dryRun}Warn`, body), {
    code: 201,
    headers: { warning: ['299 - "duplicate field \\"spec.size\\""', '299 - "unknown field \\"spec.other\\""'] },
  })
  const ignored = await write('POST', `${foos}?${dryRun}Ignore`, body)
  t.match(ignored, { code: 201, json: { spec: { size: 2 } } })
  t.equal(ignored.headers.warning, undefined)
})

t.test('an invalid selector of a list or a watch is refused with 400', async (t) => {
  const { send } = await start(t)
  for (const query of [
    'fieldSelector=data.x%3D1',
    'labelSelector=a+in',
    'watch=true&fieldSelector=data.x%3D1',
    'watch=true&labelSelector=a+in',
  ]) {
    t.match(await send(`${foos}?${query}`), { code: 400, json: { kind: 'Status', reason: 'BadRequest' } }, query)
  }
})

t.test('a watch sends changes, ends after its timeout, and gets 410 from a compacted revision', async (t) => {
  const { send, server, agent, write, store } = await start(t)
  const first = await write('POST', foos, foo('a'))
  const since = (first.json.metadata as JsonObject).resourceVersion as string
  const response = await request(`${server.url}${foos}?watch=true&resourceVersion=${since}&timeoutSeconds=1`, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${admin}` },
  })
  await write('PATCH', `${foos}/a`, { spec: { size: 4 } }, { contentType: 'application/merge-patch+json' })
  await send(`${foos}/a`, { method: 'DELETE' })
  const events = (await response.body.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
  t.match(events, [
    { type: 'MODIFIED', object: { spec: { size: 4 } } },
    { type: 'DELETED', object: { metadata: { name: 'a' } } },
  ])
  store.compact()
  t.match(await send(`${foos}?watch=true&resourceVersion=1`), {
    code: 200,
    json: { type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } },
  })
})
