import t from 'tap'
import type { ApiRequest } from '../../src/client/api-request.ts'
import type { Client } from '../../src/client/client.ts'
import { clientOver } from '../../src/client/client.ts'
import { collect } from '../support/client/collect.ts'

function setUp(chunks: readonly (string | Buffer)[]): { client: Client; requests: ApiRequest[]; closed: () => boolean } {
  const requests: ApiRequest[] = []
  let closed = false
  async function* stream(): AsyncGenerator<Buffer> {
    try {
      for (const chunk of chunks) yield Buffer.from(chunk)
    } finally {
      closed = true
    }
  }
  const client = clientOver({
    request: () => Promise.reject(new Error('no stream')),
    stream: async (request) => (requests.push(request), stream()),
    close: async () => undefined,
  })
  return { client, requests, closed: () => closed }
}
const key = { namespace: 'a', name: 'x' }

t.test('the lines of a log are complete, for any chunking', async (t) => {
  const text = Buffer.from('first\n\n  größer \nlast')
  for (const size of [1, 2, 3, 100]) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.subarray(index * size, (index + 1) * size))
    t.strictSame(await collect(setUp(chunks).client.logs(key)), ['first', '', '  größer ', 'last'], `${size} bytes`)
  }
  t.strictSame(await collect(setUp(['only\n']).client.logs(key)), ['only'])
  t.strictSame(await collect(setUp([]).client.logs(key)), [])
})

t.test('the options are query parameters, and the request accepts text', async (t) => {
  const { client, requests } = setUp([])
  const { signal } = new AbortController()
  const query = { container: 'c', previous: true, sinceSeconds: 5, tailLines: 10, limitBytes: 100, timestamps: true }
  await collect(client.logs(key, { ...query, signal, timeoutMs: 7 }))
  const { type: _, ...request } = requests[0]!
  t.strictSame(request, { method: 'GET', verb: 'get', path: '/api/v1/namespaces/a/pods/x/log', query, accept: '*/*', signal, timeoutMs: 7 })
})

t.test('logs that are followed have no time limit by default, since a silent container sends nothing', async (t) => {
  const { client, requests } = setUp([])
  await collect(client.logs(key, { follow: true }))
  await collect(client.logs(key, { follow: true, timeoutMs: 7 }))
  await collect(client.logs(key))
  t.strictSame(
    requests.map(({ timeoutMs }) => timeoutMs),
    [Infinity, 7, undefined],
  )
})

t.test('the connection is closed when the reader stops', async (t) => {
  const { client, closed } = setUp(['a\nb\n', 'c\n'])
  for await (const line of client.logs(key, { follow: true })) {
    t.equal(line, 'a')
    break
  }
  t.ok(closed())
})
