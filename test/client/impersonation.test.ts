import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import { clientAs } from '../../src/client/client-as.ts'
import { createClient } from '../../src/client/client.ts'
import { impersonationHeaders } from '../../src/client/impersonation.ts'
import { createTransport } from '../../src/client/transport.ts'
import { startTestServer } from '../support/client/server.ts'

t.test('the headers are those of client-go', async (t) => {
  t.strictSame(impersonationHeaders({ user: 'jane' }), { 'Impersonate-User': 'jane' })
  t.strictSame(
    impersonationHeaders({ user: 'jane', groups: ['a', 'b'], uid: '42', extra: { scopes: ['x', 'y'], 'example.com/(a)%ü': ['z'] } }),
    {
      'Impersonate-User': 'jane',
      'Impersonate-Uid': '42',
      'Impersonate-Group': ['a', 'b'],
      'Impersonate-Extra-scopes': ['x', 'y'],
      'Impersonate-Extra-example.com%2F%28a%29%25%C3%BC': ['z'],
    },
  )
  t.strictSame(impersonationHeaders({ user: 'jane', groups: [], uid: '', extra: {} }), { 'Impersonate-User': 'jane' })
})

t.test('an empty user and control characters are refused', async (t) => {
  t.throws(() => impersonationHeaders({ user: '', groups: ['a'] }), { code: 'PRO_INPUT', message: /^The user to impersonate is empty/ })
  for (const value of ['a\r\nb: c', '\0', '\x7f']) {
    for (const impersonation of [
      { user: value },
      { user: 'a', groups: [value] },
      { user: 'a', uid: value },
      { user: 'a', extra: { b: [value] } },
    ])
      t.throws(
        () => impersonationHeaders(impersonation),
        { code: 'PRO_INPUT', message: /control characters/ },
        JSON.stringify(impersonation),
      )
  }
})

t.test('every request of a client has the headers, instead of those of its kubeconfig', async (t) => {
  const server = await startTestServer((_request, response) => {
    if (!server.requests.at(-1)!.url.includes('watch=')) return { body: {} }
    response.writeHead(200, { 'content-type': 'application/json' }).end()
    return undefined
  })
  t.teardown(() => server.close())
  const headers = { 'Impersonate-User': 'other', 'Impersonate-Group': ['admins'], 'Impersonate-Extra-a': ['b'], 'x-other': 'kept' }
  const impersonate = { user: 'jürgen', groups: ['a', 'b'] }
  const client = createClient({ ...server.connection, headers }, { impersonate })
  const transport = createTransport({ ...server.connection, headers })
  const shared = clientAs(transport, { name: 'hello' }, { impersonate })
  t.teardown(async () => (await client.close(), await transport.close()))
  for (const each of [client, shared]) {
    await each.get(configMap, { namespace: 'ns', name: 'x' })
    await each.create(configMap, { metadata: { namespace: 'ns', name: 'x' } })
    await each.raw('/version')
    await each.deleteCollection(configMap, { namespace: 'ns' })
    for await (const line of each.logs({ namespace: 'ns', name: 'x' })) t.equal(line, '{}')
    for await (const _ of each.watch(configMap, {})) t.fail('no event')
  }
  t.equal(server.requests.length, 12)
  for (const { headers } of server.requests) {
    t.equal(Buffer.from(String(headers['impersonate-user']), 'latin1').toString(), 'jürgen')
    t.match(headers, { 'impersonate-group': 'a, b', 'x-other': 'kept' })
    t.notOk('impersonate-extra-a' in headers)
  }
  await clientAs(transport, { name: 'hello' }).get(configMap, { namespace: 'ns', name: 'x' })
  t.match(server.requests.at(-1)!.headers, { 'impersonate-user': 'other', 'impersonate-group': 'admins' })
})
