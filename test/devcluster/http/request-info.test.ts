/** Methods and paths as verbs on resources. */
import t from 'tap'
import { flag, parseRequestInfo } from '../../../src/devcluster/http/request-info.ts'

const cases: [request: string, expected: object][] = [
  ['GET /api/v1/pods', { isResource: true, verb: 'list', group: '', version: 'v1', resource: 'pods', namespace: '', name: '' }],
  ['GET /api/v1/namespaces/a/pods', { verb: 'list', resource: 'pods', namespace: 'a' }],
  ['GET /api/v1/namespaces/a/pods?watch=true', { verb: 'watch' }],
  ['GET /api/v1/namespaces/a/pods?watch=1', { verb: 'watch' }],
  ['GET /api/v1/namespaces/a/pods?watch=false', { verb: 'list' }],
  ['GET /api/v1/namespaces/a/pods?watch=0', { verb: 'list' }],
  ['GET /api/v1/namespaces/a/pods/x', { verb: 'get', name: 'x' }],
  ['GET /api/v1/namespaces/a/pods/x?watch=1', { verb: 'get', name: 'x' }],
  ['GET /api/v1/namespaces/a/pods/x/status', { verb: 'get', name: 'x', subresource: 'status' }],
  ['GET /api/v1/namespaces/a/pods/x/proxy/y/z', { subresource: 'proxy', rest: ['y', 'z'] }],
  ['POST /apis/g.io/v1/namespaces/a/foos', { verb: 'create', group: 'g.io', version: 'v1', resource: 'foos', namespace: 'a', name: '' }],
  ['PUT /apis/g.io/v1/namespaces/a/foos/x', { verb: 'update', name: 'x' }],
  ['PATCH /apis/g.io/v1/namespaces/a/foos/x', { verb: 'patch' }],
  ['DELETE /apis/g.io/v1/namespaces/a/foos/x', { verb: 'delete' }],
  ['DELETE /apis/g.io/v1/namespaces/a/foos', { verb: 'deletecollection' }],
  ['GET /api/v1/namespaces', { verb: 'list', resource: 'namespaces', namespace: '', name: '' }],
  ['GET /api/v1/namespaces/a', { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a' }],
  ['PUT /api/v1/namespaces/a/finalize', { verb: 'update', resource: 'namespaces', name: 'a', subresource: 'finalize' }],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx', { verb: 'list', name: 'x' }],
  ['GET /api/v1/pods?fieldSelector=metadata.name%21%3Dx', { verb: 'list', name: '' }],
  ['GET /api/v1/namespaces/a/pods/x%2Fy', { name: 'x/y' }],
  ['GET /api/v1', { isResource: false, verb: 'get', path: '/api/v1' }],
  ['GET /apis/g.io/v1/', { isResource: false }],
  ['POST /version', { isResource: false, verb: 'post' }],
]

t.test('reads verb, type, namespace, name and subresource', (t) => {
  for (const [request, expected] of cases) {
    const [method = '', url = ''] = request.split(' ')
    const [path = '', query = ''] = url.split('?')
    t.match(parseRequestInfo(method, path, new URLSearchParams(query)), expected, request)
  }
  t.end()
})

t.test('refuses malformed percent-encoding', (t) => {
  t.throws(() => parseRequestInfo('GET', '/api/v1/pods/%zz', new URLSearchParams()), URIError)
  t.end()
})

t.test('booleans of the query are true unless they are false, 0 or absent', (t) => {
  const values = ['a=', 'a=true', 'a=1', 'a=x', 'a=false', 'a=False', 'a=0', '']
  t.strictSame(
    values.map((query) => flag(new URLSearchParams(query), 'a')),
    [true, true, true, true, false, false, false, false],
  )
  t.end()
})
