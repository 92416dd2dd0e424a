/** Tests of the metrics of requests: their labels, and the number of their series. */
import t from 'tap'
import { RequestMetrics } from '../../../src/devcluster/http/request-metrics.ts'
import { parseRequestInfo } from '../../../src/devcluster/http/request-info.ts'
import { rowOf } from '../../support/devcluster/http-server.ts'

const foos = rowOf({
  group: 'a.example.com',
  version: 'v1',
  kind: 'Foo',
  plural: 'foos',
  subresources: { status: { kind: 'Foo', verbs: ['get'] } },
})
const plain = { isDryRun: false, isApply: false }
const collection = '/apis/a.example.com/v1/namespaces/n/foos'

t.test('a request is counted with the labels of kube-apiserver', async (t) => {
  const metrics = new RequestMetrics(() => new Map([['foos.a.example.com', 3]]))
  const send = (method: string, path: string, options: Partial<typeof plain> = {}, query = ''): void =>
    metrics.started(parseRequestInfo(method, path, new URLSearchParams(query)), foos, { ...plain, ...options }).end(200, 0.03)
  send('GET', collection)
  send('GET', '/apis/a.example.com/v1/foos')
  send('POST', collection, { isDryRun: true })
  send('PUT', `${collection}/a/status`)
  send('PATCH', `${collection}/a`, { isApply: true })
  send('DELETE', collection)
  send('GET', `${collection}/a/nothing`)
  const text = await metrics.text()
  const counted = [...text.matchAll(/^apiserver_request_total\{(.*)\} 1$/gm)].map(([, labels]) =>
    ['verb', 'dry_run', 'subresource', 'scope'].map((label) => new RegExp(`\\b${label}="([^"]*)"`).exec(labels!)![1]).join(' '),
  )
  t.strictSame(counted, [
    'LIST   namespace',
    'LIST   cluster',
    'POST All  resource',
    'PUT  status resource',
    'APPLY   resource',
    'DELETECOLLECTION   namespace',
    'GET   resource',
  ])
  t.match(text, /^apiserver_storage_objects\{resource="foos\.a\.example\.com"\} 3$/m)
  t.match(text, /^apiserver_request_duration_seconds_bucket\{le="0\.025",verb="PUT".*\} 0$/m)
  t.match(text, /^apiserver_request_duration_seconds_bucket\{le="0\.05",verb="PUT".*\} 1$/m)
})

t.test('the number of objects of a type is removed with the type', async (t) => {
  let counts = new Map([['foos.a.example.com', 3]])
  const metrics = new RequestMetrics(() => counts)
  t.match(await metrics.text(), /^apiserver_storage_objects\{.*\} 3$/m)
  counts = new Map()
  t.notMatch(await metrics.text(), /^apiserver_storage_objects\{/m)
})

t.test('a watch is a long-running request without a duration', async (t) => {
  const metrics = new RequestMetrics(() => new Map())
  const watch = metrics.started(parseRequestInfo('GET', collection, new URLSearchParams('watch=1')), foos, plain)
  const running = metrics.started(parseRequestInfo('GET', collection, new URLSearchParams()), foos, plain)
  const during = await metrics.text()
  t.match(during, /^apiserver_longrunning_requests\{verb="WATCH",.*\} 1$/m)
  t.match(during, /^apiserver_current_inflight_requests\{request_kind="readOnly"\} 1$/m)
  watch.end(200, 60)
  running.end(200, 0)
  const after = await metrics.text()
  t.match(after, /^apiserver_longrunning_requests\{verb="WATCH",.*\} 0$/m)
  t.match(after, /^apiserver_request_total\{verb="WATCH",.*\} 1$/m)
  t.notMatch(after, /^apiserver_request_duration_seconds_count\{verb="WATCH"/m)
})

t.test('requests for unknown types and paths share their series', async (t) => {
  const metrics = new RequestMetrics(() => new Map())
  for (let index = 0; index < 100; index += 1) {
    for (const path of [`/apis/g${index}.example.com/v1/things/${index}`, `/nothing/${index}`])
      metrics.started(parseRequestInfo('GET', path, new URLSearchParams()), undefined, plain).end(404, 0)
  }
  t.equal([...(await metrics.text()).matchAll(/^apiserver_request_total\{/gm)].length, 1)
})
