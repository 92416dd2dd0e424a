/**
 * Tests of `isOwnState`. This function detects whether the object in the response to a write request also contains changes of other
 * clients.
 */
import t from 'tap'
import type { KubernetesObject } from '../../src/api/object.ts'
import { isOwnState } from '../../src/cache/own-state.ts'

type Fields = Record<string, unknown>

/** An object with a resourceVersion, `metadata` fields and other fields. */
function state(resourceVersion: string, { metadata = {}, ...fields }: Fields & { metadata?: Fields } = {}, uid = 'u'): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', uid, resourceVersion, ...metadata }, ...fields } as never
}

function check(content: unknown, before: KubernetesObject | undefined, after: KubernetesObject, managers: readonly string[] = []): boolean {
  return isOwnState({ content, before, after, managedFields: managers.map((manager) => ({ manager })) as never })
}

const containers = [{ name: 'web', image: 'nginx:1', imagePullPolicy: 'Always' }]
const sidecar = { name: 'proxy', image: 'envoy:1', imagePullPolicy: 'Always' }

t.test('a state that contains only the change of the request is own', async (t) => {
  for (const [what, content, before, after] of [
    ['a new field', { spec: { n: 2 } }, { spec: {} }, { spec: { n: 2 } }],
    ['a changed field', { spec: { n: 2 } }, { spec: { n: 1, m: 1 } }, { spec: { n: 2, m: 1 } }],
    ['a first field', { status: { n: 2 } }, {}, { status: { n: 2 } }],
    ['a removed field', { spec: { n: null } }, { spec: { n: 1 } }, { spec: {} }],
    ['a replaced list', { spec: { list: ['a'] } }, { spec: { list: ['a', 'b'] } }, { spec: { list: ['a'] } }],
    [
      'a list whose items get defaults',
      { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } },
      { spec: { containers } },
      { spec: { containers: [{ ...containers[0], image: 'nginx:2' }] } },
    ],
    [
      'fields that each write changes',
      { spec: { n: 2 } },
      { metadata: { generation: 1 } },
      { metadata: { generation: 2 }, spec: { n: 2 } },
    ],
    ['a patch without content that the server stores in another form', {}, { spec: { n: 1 } }, { spec: { n: 1 } }],
    ['a JSON patch', [{ op: 'replace', path: '/spec/a~1b', value: 2 }], { spec: { 'a/b': 1 } }, { spec: { 'a/b': 2 } }],
    ['a JSON patch that moves', [{ op: 'move', from: '/spec/a', path: '/spec/b' }], { spec: { a: {} } }, { spec: { b: {} } }],
    ['a JSON patch that removes', [{ op: 'remove', path: '/spec/a' }], { spec: { a: 1 } }, { spec: {} }],
    [
      'a deletion that finalizers delay',
      { metadata: { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 } },
      {},
      { metadata: { deletionTimestamp: 'now', deletionGracePeriodSeconds: 0, generation: 2 } },
    ],
  ] as const)
    t.equal(check(content, state('1', before), state('2', after)), true, what)
})

t.test('a state with another change is not own', async (t) => {
  for (const [what, content, before, after] of [
    ['of another field', { spec: { n: 2 } }, { spec: { n: 1 } }, { spec: { n: 2, m: 1 } }],
    ['of a label', { spec: { n: 2 } }, { spec: { n: 1 } }, { metadata: { labels: { a: 'b' } }, spec: { n: 2 } }],
    [
      'of another field, while the request changes nothing',
      { status: { n: 2 } },
      { status: { n: 2 } },
      { status: { n: 2 }, spec: { n: 3 } },
    ],
    ['that removes a field', { spec: { n: 2 } }, { spec: { n: 1, m: 1 } }, { spec: { n: 2 } }],
    [
      'of an item of a list that the request does not change',
      { spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
      { spec: { containers } },
      { spec: { containers: [...containers, sidecar] } },
    ],
    [
      'of a list whose items are in another order',
      { spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
      { spec: { containers: [sidecar, ...containers] } },
      { spec: { containers } },
    ],
    ['of a field that the request sets to its old value', { spec: { n: 1 } }, { spec: { n: 1 } }, { spec: { n: 2 } }],
    ['of a field that the request removes, although it is absent', { spec: { n: null } }, { spec: {} }, { spec: { n: 2 } }],
    [
      'of a list, while the JSON patch sets an item to its old value',
      [{ op: 'replace', path: '/spec/list/0', value: 'a' }],
      { spec: { list: ['a'] } },
      { spec: { list: ['a', 'b'] } },
    ],
    [
      'of a list, besides that of the JSON patch',
      [
        { op: 'test', path: '/spec/other', value: 1 },
        { op: 'add', path: '/spec/list/0', value: 'x' },
      ],
      { spec: { list: ['a'], other: 1 } },
      { spec: { list: ['x', 'a', 'b'], other: 1 } },
    ],
    ['while the content is not an object', 'text', { spec: { n: 1 } }, { spec: { n: 2 } }],
  ] as const)
    t.equal(check(content, state('1', before), state('2', after)), false, what)
})

t.test('the state before the request is not own', async (t) => {
  t.equal(check({ spec: { n: 1 } }, state('1', { spec: { n: 1 } }), state('1', { spec: { n: 1 } })), false)
})

t.test('a request with a resourceVersion has changed the object, unless the resourceVersion is the same', async (t) => {
  const content = { metadata: { resourceVersion: '1' }, spec: { n: 2 } }
  t.equal(check(content, undefined, state('2', { spec: { n: 2, m: 1 } })), true)
  t.equal(check(content, state('1'), state('1')), false)
})

t.test('an object that the cache did not have is not own when its only field manager has changed it after its creation', async (t) => {
  const after = state('2', { metadata: { creationTimestamp: '2026-01-01T00:00:05Z' } })
  const isOwn = (time: string): boolean =>
    isOwnState({ content: {}, before: undefined, after, managedFields: [{ manager: 'me', time }] as never })
  t.equal(isOwn('2026-01-01T00:00:05Z'), true)
  t.equal(isOwn('2026-01-01T00:00:04Z'), true, 'the API server sets it before the creation time')
  t.equal(isOwn('2026-01-01T00:00:08Z'), false)
})

t.test('an object that the cache did not have is own when one request has written it', async (t) => {
  for (const before of [undefined, state('1', {}, 'earlier')]) {
    t.equal(check({}, before, state('2'), ['me']), true)
    t.equal(check({}, before, state('2'), ['me', 'me']), false)
    t.equal(check({}, before, state('2')), true)
    t.equal(check({}, before, state('2'), ['me', 'other']), false)
  }
})
