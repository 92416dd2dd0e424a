/** `listInPages`: iterates over the objects of a list that is requested page by page. */
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
 * Yields the objects of a list that is requested page by page. The function suits types with many objects, because at most one page is in
 * memory. When the caller stops early, no more pages are requested.
 *
 * All pages have the state at the time of the first page. The API server stores this state for about five minutes. When the continue token
 * has expired, one request lists all objects, as in client-go's pager. Then the objects that have not been yielded yet are yielded in their
 * current state.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when options are invalid or unknown. The message contains all of these options.
 * @throws {ProreusError} `PRO_API` when the list has no end: two pages have the same continue token, two pages begin with the same object,
 *   or more than 100 consecutive pages are empty.
 * @throws the errors of `client.list`.
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
      // The keys of the last page are not stored, because no later page can contain the same objects.
      if (following !== undefined) yielded.add(key)
      yield object
    }
    next = following
  } while (next !== undefined)
}

/**
 * Requests the page for the continue token `next`, or all objects when `next` has expired. A request with a continue token has no
 * `resourceVersion`, because the token contains the resourceVersion.
 */
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
    // A list without a limit is complete, so a continue token in its response is dropped. If such a token were used and had expired, all
    // objects would be listed again, possibly without end.
    const { continue: _token, ...rest } = metadata
    return { ...list, metadata: rest }
  }
}
