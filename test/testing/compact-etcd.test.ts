import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { compactEtcd } from '../../src/testing/compact-etcd.ts'

t.test('an etcd that refuses is told with what it said, and asked nothing more', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.statusCode = asked.length === 2 ? 500 : 200
    response.end(asked.length === 2 ? 'no space' : '{"header":{"revision":"3"}}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  await t.rejects(compactEtcd(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), {
    code: 'PRO_API_UNREACHABLE',
    message: 'etcd did not take the request to compact: no space',
  })
  t.strictSame(asked, ['POST /v3/kv/range', 'POST /v3/kv/put'])
  server.closeAllConnections()
})
