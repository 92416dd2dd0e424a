/** `listInPages`: iterates over the objects of a list, which the API server sends page by page. */
import type { ObjectOf, ResourceType } from '../api/group-version-kind.ts'
import type { ObjectList } from '../api/object.ts'
import { formatKey } from '../api/object.ts'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isWholeNumber, refuseOptions } from '../api/option-checks.ts'
import { isExpired } from './api-error.ts'
import type { Client } from './client.ts'
import { ContinueTokens } from './continue-tokens.ts'
import { selectionChecks } from './option-checks.ts'
import type { SelectionOptions } from './options.ts'

export interface PageOptions extends SelectionOptions {
  /** Maximum number of objects in one response. Default 500, as in client-go's pager. */
  readonly pageSize?: number
}

const checkPages = hasOptions({ ...selectionChecks, pageSize: isWholeNumber(1) } satisfies Record<keyof PageOptions, OptionCheck>)

/**
 * Yields the objects of a list. At most one page is in memory, so this suits types with many objects, and a caller that stops early saves
 * the further requests. All pages show the state at the time of the first one.
 *
 * The API server forgets that state after five minutes or so. When the next page has then expired, the rest is read with one list of
 * everything, as client-go's pager does. No object is yielded twice, and an object that was created or changed meanwhile may be missing or
 * newer than its predecessors.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` with all invalid and unknown options; `PRO_API` when the list has no end: a continue token is
 *   repeated, or more than 100 consecutive pages are empty; otherwise as `client.list` rejects.
 *
 * @example
 *
 * for await (const pod of listInPages(client, core.pod, { labelSelector })) count(pod)
 */
export async function* listInPages<R extends ResourceType>(
  client: Pick<Client, 'list'>,
  type: R,
  pageOptions: PageOptions = {},
): AsyncGenerator<ObjectOf<R>, void, undefined> {
  refuseOptions('listInPages', checkPages(pageOptions, ''))
  const { pageSize = 500, ...options } = pageOptions
  const yielded = new Set<string>()
  const tokens = new ContinueTokens()
  let next: string | undefined
  do {
    const page: ObjectList<ObjectOf<R>> = await nextPage(client, type, options, pageSize, next)
    const following = tokens.next(page)
    for (const object of page.items) {
      const key = formatKey(object.metadata)
      if (yielded.has(key)) continue
      // The objects of the last page need not be remembered.
      if (following !== undefined) yielded.add(key)
      yield object
    }
    next = following
  } while (next !== undefined)
}

/** Lists the page after `next`, or all objects when `next` has expired. A continue token contains the resourceVersion of the list. */
async function nextPage<R extends ResourceType>(
  client: Pick<Client, 'list'>,
  type: R,
  options: SelectionOptions,
  limit: number,
  next: string | undefined,
): Promise<ObjectList<ObjectOf<R>>> {
  if (next === undefined) return client.list(type, { ...options, limit })
  const { resourceVersion: _version, resourceVersionMatch: _match, ...selection } = options
  try {
    return await client.list(type, { ...selection, limit, continue: next })
  } catch (error) {
    if (!isExpired(error)) throw error
    const { metadata, ...list } = await client.list(type, options)
    // A list without a limit has no further pages. If the server sent a token nevertheless, that token could expire, too, and so on.
    const { continue: _token, ...rest } = metadata
    return { ...list, metadata: rest }
  }
}
