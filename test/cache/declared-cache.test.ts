import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import type { CacheReader } from '../../src/cache/cache.ts'
import { DeclaredCache } from '../../src/cache/declared-cache.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const node = resourceType({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })

t.test('only declared types can be read', async (t) => {
  const calls: unknown[] = []
  const inner = {
    get: (...args: unknown[]) => (calls.push(['get', ...args]), 'one'),
    list: (...args: unknown[]) => (calls.push(['list', ...args]), ['one', 'two']),
  } as unknown as CacheReader
  const cache = new DeclaredCache(inner, [widget], (type) => `declare ${type}`)
  const key = { namespace: 'a', name: 'b' }
  const again = resourceType({ ...widget })
  const options = { namespace: 'a' }
  t.equal(cache.get(widget, key), 'one')
  t.strictSame(cache.list(again, options), ['one', 'two'])
  cache.list(widget)
  t.strictSame(calls, [
    ['get', widget, key],
    ['list', again, options],
    ['list', widget, undefined],
  ])
  for (const [type, name] of [
    [node, 'nodes'],
    [{ ...widget, version: 'v2' }, 'widgets.example.com'],
    [{ ...widget, group: 'example.org' }, 'widgets.example.org'],
  ] as const) {
    t.throws(() => cache.get(type, key), { code: 'PRO_INPUT', message: `declare ${name}` })
    t.throws(() => cache.list(type), { code: 'PRO_INPUT', message: `declare ${name}` })
  }
  t.equal(calls.length, 3)
})
