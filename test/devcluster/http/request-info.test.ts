/** Tests of the verb and the resource that the API server derives from a request's method and path. */
import t from 'tap'
import type { RequestInfo } from '../../../src/devcluster/http/request-info.ts'
import { flag, parseRequestInfo } from '../../../src/devcluster/http/request-info.ts'

const nothing = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '', rest: [] as string[] }
const inA = { ...nothing, namespace: 'a' }
const x = { ...inA, name: 'x' }
const foos = { ...inA, group: 'g.io', resource: 'foos' }
const namespaces = { ...nothing, resource: 'namespaces' }
const a = { ...namespaces, namespace: 'a', name: 'a' }
const elsewhere = { ...nothing, version: '', resource: '' }

/** Requests as `METHOD PATH`, each with the expected verb and attributes. */
const cases: [request: string, verb: string, expected: typeof nothing][] = [
  ['GET /api/v1/pods', 'list', nothing],
  ['GET /api/v1/namespaces/a/pods', 'list', inA],
  ['GET //api/v1/namespaces//a/pods/', 'list', inA],
  ['GET /api/v1/namespaces/a/pods?watch=true', 'watch', inA],
  ['GET /api/v1/namespaces/a/pods?watch=1', 'watch', inA],
  ['GET /api/v1/namespaces/a/pods?watch=false', 'list', inA],
  ['GET /api/v1/namespaces/a/pods?watch=0', 'list', inA],
  ['POST /api/v1/namespaces/a/pods?watch=1', 'create', inA],
  ['DELETE /api/v1/namespaces/a/pods?watch=1', 'deletecollection', inA],
  ['GET /api/v1/namespaces/a/pods/x', 'get', x],
  ['GET /api/v1/namespaces/a/pods/x?watch=1', 'get', x],
  ['GET /api/v1/namespaces/a/pods/x/status', 'get', { ...x, subresource: 'status' }],
  ['GET /api/v1/namespaces/a/pods/x/proxy/y/z', 'get', { ...x, subresource: 'proxy', rest: ['y', 'z'] }],
  ['POST /apis/g.io/v1/namespaces/a/foos', 'create', foos],
  ['PUT /apis/g.io/v1/namespaces/a/foos/x', 'update', { ...foos, name: 'x' }],
  ['PATCH /apis/g.io/v1/namespaces/a/foos/x', 'patch', { ...foos, name: 'x' }],
  ['DELETE /apis/g.io/v1/namespaces/a/foos/x', 'delete', { ...foos, name: 'x' }],
  ['DELETE /apis/g.io/v1/namespaces/a/foos', 'deletecollection', foos],
  ['OPTIONS /apis/g.io/v1/namespaces/a/foos', 'options', foos],
  ['GET /api/v1/namespaces', 'list', namespaces],
  ['GET /api/v1/namespaces/a', 'get', a],
  ['PUT /api/v1/namespaces/a/finalize', 'update', { ...a, subresource: 'finalize' }],
  ['PATCH /api/v1/namespaces/a/status', 'patch', { ...a, subresource: 'status' }],
  ['GET /api/v1/watch/pods', 'watch', nothing],
  ['GET /api/v1/watch/namespaces/a/pods', 'watch', inA],
  ['GET /api/v1/watch/namespaces/a/pods/x', 'watch', x],
  ['GET /apis/g.io/v1/watch/namespaces/a/foos', 'watch', foos],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx', 'list', { ...nothing, name: 'x' }],
  ['GET /api/v1/pods?watch=1&fieldSelector=metadata.name%3D%3Dx', 'watch', { ...nothing, name: 'x' }],
  ['DELETE /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx', 'deletecollection', inA],
  ['POST /api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx', 'create', inA],
  ['GET /api/v1/pods?fieldSelector=a%3Db,metadata.name%3Dx,c%3Dd', 'list', { ...nothing, name: 'x' }],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx,metadata.name%3Da', 'list', { ...nothing, name: 'a' }],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx%5C,y', 'list', { ...nothing, name: 'x,y' }],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx,malformed', 'list', nothing],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx%5Cy', 'list', nothing],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3D..', 'list', nothing],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3Dx/y', 'list', nothing],
  ['GET /api/v1/pods?fieldSelector=metadata.name%21%3Dx', 'list', nothing],
  ['GET /api/v1/pods?fieldSelector=spec.metadata.name%3Dx', 'list', nothing],
  ['GET /api/v1/nodes/x', 'get', { ...nothing, resource: 'nodes', name: 'x' }],
  ['PUT /api/v1/nodes/x/status', 'update', { ...nothing, resource: 'nodes', name: 'x', subresource: 'status' }],
  ['POST /api/v1/watch/pods', 'create', nothing],
  ['PUT /api/v1/watch/namespaces/a/pods/x', 'update', x],
  ['GET /api/v1/watch', 'list', { ...nothing, resource: 'watch' }],
  ['GET /api/v1/watch/namespaces/a', 'watch', a],
  ['GET /api/v1/namespaces/a/status/y', 'get', { ...inA, resource: 'status', name: 'y' }],
  ['GET /api/v1/namespaces/a/finalize/y', 'get', { ...inA, resource: 'finalize', name: 'y' }],
  ['GET /api/v1/namespaces/a/namespaces/b', 'get', { ...namespaces, namespace: 'a', name: 'b' }],
  ['GET /api', 'get', elsewhere],
  ['GET /apis/g.io', 'get', elsewhere],
  ['HEAD /api/v1/pods', 'head', nothing],
  ['GET /api/v1/pods?fieldSelector=metadata.name%3D', 'list', nothing],
  ['GET /api/v1/pods?fieldSelector=metadata.names%3Dx', 'list', nothing],
  ['GET /api/v1/namespaces/a/pods/x%2Fy', 'get', { ...x, name: 'x/y' }],
  ['GET /api/v1', 'get', elsewhere],
  ['GET /apis/g.io/v1/', 'get', elsewhere],
  ['POST /version', 'post', elsewhere],
  ['GET /', 'get', elsewhere],
]

t.test('a request is parsed into verb, type, namespace, name and subresource', (t) => {
  for (const [request, verb, expected] of cases) {
    const [method = '', url = ''] = request.split(' ')
    const [path = '', query = ''] = url.split('?')
    const { isWatch: _isWatch, ...info } = parseRequestInfo(method, path, new URLSearchParams(query)) as RequestInfo & { isWatch?: boolean }
    t.strictSame(info, { path, isResource: expected !== elsewhere, verb, ...expected }, request)
  }
  t.end()
})

t.test('malformed percent-encoding is refused', (t) => {
  t.throws(() => parseRequestInfo('GET', '/api/v1/pods/%zz', new URLSearchParams()), URIError)
  t.end()
})

t.test('a boolean in the query is true unless it is false, 0 or absent', (t) => {
  const values = ['a=', 'a=true', 'a=1', 'a=x', 'a=false', 'a=False', 'a=0', '']
  t.strictSame(
    values.map((query) => flag(new URLSearchParams(query), 'a')),
    [true, true, true, true, false, false, false, false],
  )
  t.end()
})
