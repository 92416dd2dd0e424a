import t from 'tap'
import { apiVersionOf, groupKindOf, groupResourceOf, isSameType, parseApiVersion, resourceType } from '../../src/api/group-version-kind.ts'
import { formatKey, keyOf, parseKey } from '../../src/api/object.ts'

t.test('names of core types have no group', async (t) => {
  const deployment = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' }
  const pod = { group: '', version: 'v1', kind: 'Pod', plural: 'pods' }
  t.strictSame(
    [apiVersionOf(deployment), groupResourceOf(deployment), groupKindOf(deployment)],
    ['apps/v1', 'deployments.apps', 'Deployment.apps'],
  )
  t.strictSame([apiVersionOf(pod), groupResourceOf(pod), groupKindOf(pod)], ['v1', 'pods', 'Pod'])
})

t.test('an apiVersion is a group and a version, or a version alone', async (t) => {
  t.strictSame(parseApiVersion('v1'), { group: '', version: 'v1' })
  t.strictSame(parseApiVersion('apps/v1beta1'), { group: 'apps', version: 'v1beta1' })
  t.strictSame(parseApiVersion('a/b/c'), { group: 'a', version: 'b/c' })
  t.strictSame(parseApiVersion('/v1'), { group: '', version: 'v1' })
  t.strictSame(parseApiVersion(''), { group: '', version: '' })
})

t.test('a type is namespaced unless its declaration has another scope', async (t) => {
  const widget = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' }
  t.strictSame({ ...resourceType(widget) }, { ...widget, namespaced: true })
  t.strictSame({ ...resourceType({ ...widget, namespaced: false }) }, { ...widget, namespaced: false })
  t.ok(Object.isFrozen(resourceType(widget)))
})

t.test('types are the same if group, version and plural are', async (t) => {
  const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
  t.ok(isSameType(widget, resourceType({ ...widget, kind: 'Other', namespaced: false })))
  for (const other of [{ group: 'x' }, { version: 'v2' }, { plural: 'others' }])
    t.notOk(isSameType(widget, resourceType({ ...widget, ...other })))
})

t.test('the key of a namespaced object has its namespace', async (t) => {
  t.strictSame(keyOf({ metadata: { namespace: 'ns', name: 'a', other: 1 } as { namespace: string; name: string } }), {
    namespace: 'ns',
    name: 'a',
  })
  t.strictSame(keyOf({ metadata: { name: 'a' } }), { name: 'a' })
  t.strictSame(
    [formatKey({ namespace: 'ns', name: 'a' }), formatKey({ namespace: '', name: 'a' }), formatKey({ name: 'a' })],
    ['ns/a', 'a', 'a'],
  )
  t.strictSame(
    [parseKey('ns/a'), parseKey('a'), parseKey('ns/a/b')],
    [{ namespace: 'ns', name: 'a' }, { name: 'a' }, { namespace: 'ns', name: 'a/b' }],
  )
})
