import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { collectionPath, formatQuery, objectPath, resourcePath } from '../../src/client/resource-path.ts'

const pod = resourceType({ group: '', version: 'v1', kind: 'Pod', plural: 'pods' })
const widget = resourceType({ group: 'example.com', version: 'v2', kind: 'Widget', plural: 'widgets' })
const zone = resourceType({ group: 'example.com', version: 'v2', kind: 'Zone', plural: 'zones', namespaced: false })

t.test('a path has the group, namespace, name and subresource', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    [resourcePath(pod), '/api/v1/pods'],
    [resourcePath(pod, { namespace: 'a', name: 'x', subresource: 'status' }), '/api/v1/namespaces/a/pods/x/status'],
    [resourcePath(widget), '/apis/example.com/v2/widgets'],
    [resourcePath(widget, { namespace: '' }), '/apis/example.com/v2/widgets'],
    [resourcePath(widget, { namespace: 'a' }), '/apis/example.com/v2/namespaces/a/widgets'],
    [resourcePath(widget, { namespace: 'a', name: 'x' }), '/apis/example.com/v2/namespaces/a/widgets/x'],
    [resourcePath(widget, { name: 'x' }), '/apis/example.com/v2/widgets/x'],
    [resourcePath(zone, { namespace: 'a', name: 'x' }), '/apis/example.com/v2/zones/x'],
    [objectPath(zone, { name: 'x' }), '/apis/example.com/v2/zones/x'],
    [objectPath(pod, { namespace: 'a', name: 'x' }, 'proxy/metrics'), '/api/v1/namespaces/a/pods/x/proxy/metrics'],
    [collectionPath(zone, undefined), '/apis/example.com/v2/zones'],
    [collectionPath(pod, 'a'), '/api/v1/namespaces/a/pods'],
    [resourcePath({ ...widget, group: 'a/b', version: 'v/2', plural: 'w?' }), '/apis/a%2Fb/v%2F2/w%3F'],
    [resourcePath({ ...pod, version: 'v/1' }), '/api/v%2F1/pods'],
    [objectPath(pod, { namespace: 'ä', name: 'system:a b' }), '/api/v1/namespaces/%C3%A4/pods/system%3Aa%20b'],
  ]
  for (const [path, expected] of cases) t.equal(path, expected)
})

t.test('segments that would change the path are refused', async (t) => {
  for (const bad of ['', '.', '..', 'a/b', 'a%2fb', '\ud800']) {
    const message = (what: string) => ({
      code: 'PRO_INPUT',
      message: `${JSON.stringify(bad)} cannot be ${what}: it must not be empty, ".", ".." or contain "/" or "%".`,
    })
    t.throws(() => resourcePath(widget, { name: bad }), message('the name of a Widget'))
    if (bad !== '') t.throws(() => resourcePath(widget, { namespace: bad }), message('the namespace of a Widget'))
  }
  const number = 7 as unknown as string
  t.throws(() => resourcePath(widget, { name: number }), { code: 'PRO_INPUT', message: 'The name of a Widget must be a string, found 7.' })
  for (const subresource of ['', '..', 'a//b', 'a/../b', 'a%'])
    t.throws(() => objectPath(zone, { name: 'x' }, subresource), { code: 'PRO_INPUT', message: /cannot be a subresource: / })
  t.equal(objectPath(zone, { name: '...' }), '/apis/example.com/v2/zones/...')
})

t.test('an object of a namespaced type requires a namespace', async (t) => {
  const error = {
    code: 'PRO_INPUT',
    message: 'Widget is a namespaced type: set metadata.namespace, or the namespace of the key.',
  }
  for (const namespace of [undefined, '']) {
    t.throws(() => objectPath(widget, { namespace, name: 'x' }), error)
    t.throws(() => collectionPath(widget, namespace), error)
  }
})

t.test('a query has the defined values in order', async (t) => {
  t.equal(formatQuery(), '')
  t.equal(formatQuery({ a: undefined }), '')
  t.equal(formatQuery({ b: 0, a: false, c: undefined, d: '', e: 'x=1&y z' }), '?b=0&a=false&d=&e=x%3D1%26y+z')
})
