import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { compactEtcd } from '../../src/testing/compact-etcd.ts'

t.test('an error of etcd is thrown with its message, without further requests', async (t) => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.statusCode = requests.length === 2 ? 500 : 200
    response.end(requests.length === 2 ? 'no space' : '{"header":{"revision":"3"}}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  await t.rejects(compactEtcd(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), {
    code: 'PRO_API_UNREACHABLE',
    message: 'etcd did not take the request to compact: no space',
  })
  t.strictSame(requests, ['POST /v3/kv/range', 'POST /v3/kv/put'])
  server.closeAllConnections()
})

t.test('the current revision is published in the key of kube-apiserver, and the states before it are removed', async (t) => {
  const requests: [string, unknown][] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      requests.push([`${request.method} ${request.url}`, JSON.parse(Buffer.concat(chunks).toString())])
      response.end('{"header":{"revision":"3"}}')
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close())
  await compactEtcd(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const key = Buffer.from('compact_rev_key').toString('base64')
  t.strictSame(requests, [
    ['POST /v3/kv/range', { key }],
    ['POST /v3/kv/put', { key, value: Buffer.from('3').toString('base64') }],
    ['POST /v3/kv/compaction', { revision: '3' }],
  ])
  server.closeAllConnections()
})
