/** LIST: in pages, each at the revision of the first, or at a revision that was asked for. */
import { forbidden, invalid } from '../../api/field-error.ts'
import type { JsonObject } from '../../api/json.ts'
import type { ResourceInfo } from '../resources/resource-info.ts'
import type { ContinueToken } from '../storage/continue-token.ts'
import { decodeContinueToken, encodeContinueToken } from '../storage/continue-token.ts'
import { firstAtOrAfter } from '../storage/sorted-keys.ts'
import type { Environment } from './environment.ts'
import { selectionOf } from './selection.ts'
import { badRequest, bareError, expired, invalidObject, tooLargeResourceVersion } from './status-error.ts'

export interface ListOptions {
  /** Undefined or empty: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly limit?: number | undefined
  readonly continue?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
}

export interface ListResult {
  readonly items: readonly JsonObject[]
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number }
}

const listOptions = { group: 'meta.k8s.io', kind: 'ListOptions' }
const continueTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
  'objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

export function listObjects({ store, representation }: Environment, info: ResourceInfo, options: ListOptions): ListResult {
  const selection = selectionOf(info, options)
  const { start, revision } = startOf(store, options)
  const snapshot = store.snapshot(info.storageKey, options.namespace, revision)
  const prefix = options.namespace ? `${options.namespace}/` : ''
  const limit = options.limit !== undefined && options.limit > 0 ? options.limit : Infinity
  const items: JsonObject[] = []
  let index = start === '' ? 0 : firstAtOrAfter(snapshot.keys, prefix + start)
  for (; index < snapshot.keys.length; index += 1) {
    const object = representation.present(info, snapshot.get(snapshot.keys[index]!)!)
    if (!selection.matches(object)) continue
    // With a selector there is a next page only if it has something on it.
    if (items.length === limit) break
    items.push(object)
  }
  const remaining = snapshot.keys.length - index
  const resourceVersion = String(snapshot.revision)
  if (remaining === 0) return { items, metadata: { resourceVersion } }
  const next = encodeContinueToken({ revision: snapshot.revision, start: snapshot.keys[index]!.slice(prefix.length) })
  return { items, metadata: { resourceVersion, continue: next, ...(selection.everything ? { remainingItemCount: remaining } : {}) } }
}

/** Where a list begins, and at which revision; undefined: now. */
function startOf(store: Environment['store'], options: ListOptions): { start: string; revision: number | undefined } {
  const asked = parseResourceVersion(options.resourceVersion)
  const match = options.resourceVersionMatch ?? ''
  validateMatch(options, asked, match)
  if (options.continue) {
    const token = readToken(options.continue)
    if (token.revision < 0) return { start: token.start, revision: undefined }
    if (token.revision < store.compactedRevision) throw expired(continueTooOld, encodeContinueToken({ revision: -1, start: token.start }))
    return { start: token.start, revision: token.revision }
  }
  if (asked === undefined || asked === 0) return { start: '', revision: undefined }
  if (asked > store.revision) throw tooLargeResourceVersion(asked, store.revision)
  // Without a match, a limit has always meant the exact revision.
  const exact = match === 'Exact' || (match === '' && options.limit !== undefined && options.limit > 0)
  if (!exact) return { start: '', revision: undefined }
  if (asked < store.compactedRevision) throw expired(`The resourceVersion for the provided list is too old.`)
  return { start: '', revision: asked }
}

function validateMatch(options: ListOptions, asked: number | undefined, match: string): void {
  const refuse = (detail: string): Error => invalidObject(listOptions, '', [forbidden('resourceVersionMatch', detail)])
  if (options.continue && asked !== undefined && asked !== 0)
    throw badRequest('specifying resource version is not allowed when using continue')
  if (match === '') return
  if (options.continue) throw refuse('resourceVersionMatch is forbidden when continue is provided')
  if (asked === undefined) throw refuse('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const error = invalid('resourceVersionMatch', match, '')
    throw invalidObject(listOptions, '', [
      {
        ...error,
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`,
      },
    ])
  }
  if (match === 'Exact' && asked === 0) throw refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
}

function readToken(text: string): ContinueToken {
  try {
    return decodeContinueToken(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`invalid continue token: ${error.message}`)
    throw error
  }
}

/** A resourceVersion parameter as a number; undefined when it is not given. */
export function parseResourceVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d+$/.test(text))
    throw bareError(`resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`)
  return Number(text)
}
