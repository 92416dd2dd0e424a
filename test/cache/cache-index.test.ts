import t from 'tap'
import { configMap, pod } from '../../src/api/builtin.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { defineCacheIndex, indexProblems, isCacheIndex } from '../../src/cache/cache-index.ts'
import type { CacheReader } from '../../src/cache/cache.ts'

const page = defineKind({
  group: 'example.com',
  kind: 'Page',
  versions: [{ name: 'v1', spec: Type.Object({ theme: Type.String(), hosts: Type.Array(Type.String()) }) }],
})
const byTheme = defineCacheIndex(page, 'theme', ({ spec }) => spec.theme)

t.test('an index is typed by its resource type, and usable only for lists of it', async (t) => {
  const byNode = defineCacheIndex(pod, 'node', ({ spec }) => spec?.nodeName)
  defineCacheIndex(page, 'hosts', ({ spec }) => spec.hosts)
  // @ts-expect-error the spec of a page has no field nodeName
  defineCacheIndex(page, 'x', ({ spec }) => spec.nodeName as string)
  // @ts-expect-error an index key is a string
  defineCacheIndex(page, 'x', ({ spec }) => spec.hosts.length)
  const read = (cache: CacheReader): void => {
    const [first] = cache.list(page, { index: [byTheme, 'summer'] })
    first?.spec.hosts.at(0)
    cache.list(pod, { index: [byNode, 'node-1'], namespace: 'ns' })
    // @ts-expect-error the index is for pages, not for ConfigMaps
    cache.list(configMap, { index: [byTheme, 'summer'] })
  }
  t.type(read, 'function')
  t.ok(Object.isFrozen(byTheme))
})

t.test('an index on a type that is not watched is reported', async (t) => {
  t.strictSame(indexProblems([byTheme], [configMap, page], 'name it'), [])
  t.strictSame(indexProblems([byTheme], [configMap, { ...page, version: 'v2' }], 'name it'), [
    'indexes: "theme" is on pages.example.com, which is not watched: name it',
  ])
})

t.test('an index has the fields of its definition, and other values are rejected', async (t) => {
  const keysOf = (): string => 'x'
  t.strictSame({ ...defineCacheIndex(pod, 'all', keysOf) }, { type: pod, name: 'all', keysOf })
  t.strictSame(isCacheIndex(byTheme, 'indexes[0]'), [])
  for (const value of [undefined, 'theme', {}, { type: page }, { name: 'x', keysOf }, { type: 'pods', name: 'x', keysOf }])
    t.match(isCacheIndex(value as never, 'indexes[0]'), [/^indexes\[0\]: must be what defineCacheIndex returns/])
})

t.test('each index on another type is reported', async (t) => {
  const others = [defineCacheIndex(pod, 'a', () => 'x'), byTheme, defineCacheIndex(configMap, 'b', () => 'x')]
  t.strictSame(indexProblems(others, [page], 'name it'), [
    'indexes: "a" is on pods, which is not watched: name it',
    'indexes: "b" is on configmaps, which is not watched: name it',
  ])
})
