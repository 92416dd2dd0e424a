import t from 'tap'
import { resourceType } from '../../src/api/group-version-kind.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { ListOptions } from '../../src/client/client.ts'
import { clientOver } from '../../src/client/client.ts'
import { collect } from '../support/client/collect.ts'
import { listInPages } from '../../src/client/list-in-pages.ts'

const widget = resourceType({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })
const expired = new ApiError(failure(410, 'Expired', 'The provided continue parameter is too old'))

type Page = readonly [uids: string, next?: string] | Error

/** Returns a client whose list requests return the pages in the order of `pages`. `lists` contains the options of each list request. */
function setUp(pages: readonly Page[]): { client: ReturnType<typeof clientOver>; lists: ListOptions[] } {
  const lists: ListOptions[] = []
  const client = clientOver({
    request: async ({ query }) => {
      const page = pages[lists.push(query as ListOptions) - 1]!
      if (page instanceof Error) throw page
      const [uids, next] = page
      const items = [...uids].map((name) => ({ metadata: { namespace: 'ns', name } }))
      return { statusCode: 200, headers: {}, body: { metadata: { ...(next !== undefined && { continue: next }) }, items } }
    },
    stream: () => Promise.reject(new Error('no request')),
    close: async () => undefined,
  })
  return { client, lists }
}
const names = async (objects: AsyncIterable<{ metadata: { name: string } }>): Promise<string> =>
  (await collect(objects)).map(({ metadata }) => metadata.name).join('')

t.test('all pages are read, with the selection of the caller', async (t) => {
  const { client, lists } = setUp([['ab', 'one'], ['', 'two'], ['c']])
  const options = { namespace: 'ns', fieldSelector: 'metadata.name=x', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' } as const
  t.equal(await names(listInPages(client, widget, { ...options, pageSize: 2 })), 'abc')
  t.strictSame(lists, [
    { fieldSelector: 'metadata.name=x', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan', limit: 2 },
    { fieldSelector: 'metadata.name=x', limit: 2, continue: 'one' },
    { fieldSelector: 'metadata.name=x', limit: 2, continue: 'two' },
  ])
})

t.test('a page has 500 objects by default, and an empty continue token ends the list', async (t) => {
  const { client, lists } = setUp([['a', '']])
  t.equal(await names(listInPages(client, widget)), 'a')
  t.strictSame(lists, [{ limit: 500 }])
})

t.test('a page is requested only when it is needed', async (t) => {
  const { client, lists } = setUp([['ab', 'one'], ['c']])
  for await (const { metadata } of listInPages(client, widget)) if (metadata.name === 'b') break
  t.equal(lists.length, 1)
})

t.test('when the next page has expired, the rest comes from a full list', async (t) => {
  const { client, lists } = setUp([['ab', 'one'], ['c', 'two'], expired, ['bcde']])
  t.equal(await names(listInPages(client, widget, { resourceVersion: '7' })), 'abcde')
  t.strictSame(lists[3], { resourceVersion: '7' })
})

t.test('a list that has no end is an error', async (t) => {
  const endless = { code: 'PRO_API', message: /has no end/ }
  const repeated = setUp([
    ['a', 'one'],
    ['b', 'two'],
    ['c', 'one'],
  ])
  await t.rejects(names(listInPages(repeated.client, widget)), endless)
  t.equal(repeated.lists.length, 3)
  const again = setUp([
    ['ab', 'one'],
    ['cd', 'two'],
    ['ab', 'three'],
  ])
  await t.rejects(names(listInPages(again.client, widget)), { code: 'PRO_API', message: /two of its pages begin with the same object/ })
  t.equal(again.lists.length, 3)
  const pagesWithGap = (empty: number): Page[] => [
    ...Array.from({ length: empty }, (_, index): Page => ['', `token ${index}`]),
    ['a', 'other'],
    ...Array.from({ length: 100 }, (_, index): Page => ['', `later ${index}`]),
    ['b'],
  ]
  t.equal(await names(listInPages(setUp(pagesWithGap(100)).client, widget)), 'ab')
  await t.rejects(names(listInPages(setUp(pagesWithGap(101)).client, widget)), endless)
})

t.test('the full list after an expired page is the last request', async (t) => {
  const { client, lists } = setUp([['a', 'one'], expired, ['abc', 'two']])
  t.equal(await names(listInPages(client, widget)), 'abc')
  t.equal(lists.length, 3)
})

t.test('other errors are thrown, and so is an expired first page', async (t) => {
  await t.rejects(names(listInPages(setUp([expired]).client, widget)), expired)
  const forbidden = new ApiError(failure(403, 'Forbidden', 'no'))
  await t.rejects(names(listInPages(setUp([['a', 'one'], forbidden]).client, widget)), forbidden)
  await t.rejects(names(listInPages(setUp([['a', 'one'], expired, expired]).client, widget)), expired)
})
