/**
 * Handles LIST requests. All pages of a list are read at the revision of the first page. If the store no longer has this revision, the
 * client can continue the list at the current revision.
 */
import type { FieldError } from '../../../api/field-error.ts'
import { forbidden, notSupported } from '../../../api/field-error.ts'
import { messageOf } from '../../../api/errors.ts'
import type { JsonObject } from '../../../api/json.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { ContinueToken } from '../../storage/continue-token.ts'
import { decodeContinueToken, encodeContinueToken } from '../../storage/continue-token.ts'
import type { Snapshot } from '../../storage/object-store.ts'
import { firstAtOrAfter } from '../../storage/sorted-keys.ts'
import type { Environment } from '../environment.ts'
import { selectionOf } from '../selection.ts'
import { badRequest, expired, invalidObject, invalidResourceVersion } from '../../apimachinery/status-error.ts'

export interface ListOptions {
  /** The namespace of the listed objects. An undefined or empty value selects the objects of all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly limit?: number | undefined
  readonly continue?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
  /** This option is valid only for a watch. A list with this option is rejected. */
  readonly sendInitialEvents?: boolean | undefined
}

export interface ListResult {
  readonly items: readonly JsonObject[]
  /** `resourceVersion` is undefined for a type whose objects are computed instead of stored, e.g. ComponentStatus. */
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number }
}

const listOptions = { group: 'meta.k8s.io', kind: 'ListOptions' }
const continueTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - ' +
  'objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** The first key of a page, and the snapshot from which the page is read. */
interface ListStart {
  readonly start: string
  readonly snapshot: Snapshot
}

function beginList({ store }: Environment, info: ResourceInfo, options: ListOptions): ListStart {
  const { start, revision } = startOf(store, options)
  return { start, snapshot: store.snapshot(info.storageKey, options.namespace, revision) }
}

/**
 * Lists a type that may have a conversion webhook. The webhook converts all objects in the snapshot, including the objects of other pages.
 * kube-apiserver also converts all objects, because its watch cache contains converted objects.
 */
export async function listConverted(environment: Environment, info: ResourceInfo, options: ListOptions): Promise<ListResult> {
  // An invalid selector is reported before any other error.
  const selection = selectionOf(info, options)
  if (info.computed !== undefined) return { items: info.computed.filter((object) => selection.matches(object)), metadata: {} }
  const from = beginList(environment, info, options)
  if (info.converter === undefined) return listObjects(environment, info, options, from)
  const { keys, get, revision } = from.snapshot
  // `get` reads the object from the store at the time of the call, and other requests can change the store during the conversion.
  // Therefore, all objects are read before the conversion, and the list is made from these objects.
  const objects = new Map(keys.map((key) => [key, get(key)!]))
  await environment.representation.prepare(info, [...objects.values()])
  const snapshot = { revision, keys: [...objects.keys()], get: (key: string) => objects.get(key) }
  return listObjects(environment, info, options, { ...from, snapshot })
}

export function listObjects(
  environment: Environment,
  info: ResourceInfo,
  options: ListOptions,
  from: ListStart = beginList(environment, info, options),
): ListResult {
  const { representation } = environment
  const selection = selectionOf(info, options)
  const { start, snapshot } = from
  const prefix = options.namespace ? `${options.namespace}/` : ''
  // kube-apiserver serves a list with resourceVersion 0 from its watch cache, and ignores the limit of such a list.
  const limit = options.limit !== undefined && options.limit > 0 && options.resourceVersion !== '0' ? options.limit : Infinity
  const items: JsonObject[] = []
  let lastKey = ''
  let index = start === '' ? 0 : firstAtOrAfter(snapshot.keys, prefix + start)
  for (; index < snapshot.keys.length; index += 1) {
    const object = representation.present(info, snapshot.get(snapshot.keys[index]!)!)
    if (!selection.everything && !selection.matches(object)) continue
    // If the page is full, this matching object belongs to the next page.
    if (items.length === limit) break
    items.push(object)
    lastKey = snapshot.keys[index]!
  }
  const remaining = snapshot.keys.length - index
  const resourceVersion = String(snapshot.revision)
  if (remaining === 0) return { items, metadata: { resourceVersion } }
  // The next page starts at the smallest possible key after the last key of this page. If the client continues the list at a newer
  // revision, the next page can therefore begin with an object that did not exist at the revision of this page.
  const next = encodeContinueToken({ revision: snapshot.revision, start: `${lastKey.slice(prefix.length)}\0` })
  return { items, metadata: { resourceVersion, continue: next, ...(selection.everything ? { remainingItemCount: remaining } : {}) } }
}

/**
 * Returns the first key of a page, and the revision of the list. If the revision is undefined, the list is read at the current revision.
 * The caller must first wait until the store has reached the requested revision.
 */
function startOf(store: Environment['store'], options: ListOptions): { start: string; revision: number | undefined } {
  const match = options.resourceVersionMatch ?? ''
  refuseListOptions(listErrors(options, match))
  const requested = requestedRevision(options)
  if (options.continue) {
    const token = readToken(options.continue)
    if (requested !== undefined && requested !== 0) throw badRequest('specifying resource version is not allowed when using continue')
    if (token.revision < 0) return { start: token.start, revision: undefined }
    if (token.revision < store.compactedRevision) throw expired(continueTooOld, encodeContinueToken({ revision: -1, start: token.start }))
    return { start: token.start, revision: token.revision }
  }
  if (requested === undefined || requested === 0) return { start: '', revision: undefined }
  // If `resourceVersionMatch` is missing, a list with a limit is read exactly at its resourceVersion
  // (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
  const exact = match === 'Exact' || (match === '' && options.limit !== undefined && options.limit > 0)
  if (!exact) return { start: '', revision: undefined }
  if (requested < store.compactedRevision) throw expired(`The resourceVersion for the provided list is too old.`)
  return { start: '', revision: requested }
}

/**
 * Returns the parameter `resourceVersion` of a list as a number, or undefined if the parameter is missing or empty. Throws 400 if the
 * parameter is not a number.
 */
export function requestedRevision({ resourceVersion }: ListOptions): number | undefined {
  try {
    return parseResourceVersion(resourceVersion)
  } catch (error) {
    throw badRequest(`invalid resource version: ${messageOf(error)}`)
  }
}

function listErrors(options: ListOptions, match: string): FieldError[] {
  const refuse = (detail: string): FieldError => forbidden('resourceVersionMatch', detail)
  const errors: FieldError[] = []
  if (match !== '') {
    if (!options.resourceVersion) errors.push(refuse('resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (options.continue) errors.push(refuse('resourceVersionMatch is forbidden when continue is provided'))
    if (match !== 'Exact' && match !== 'NotOlderThan')
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && options.resourceVersion === '0')
      errors.push(refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (options.sendInitialEvents !== undefined) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return errors
}

/**
 * Throws 422 if `errors` is not empty. `errors` contains the errors in the options of a list or watch
 * (k8s.io/apimachinery/pkg/apis/meta/internalversion/validation: ValidateListOptions).
 */
export function refuseListOptions(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(listOptions, '', errors)
}

function readToken(text: string): ContinueToken {
  try {
    return decodeContinueToken(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`invalid continue token: ${error.message}`)
    throw error
  }
}

/**
 * Returns the parameter `resourceVersion` as a number, or undefined if the parameter is missing or empty. Throws 500 if the parameter is
 * not a number.
 */
export function parseResourceVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d+$/.test(text)) throw invalidResourceVersion(text)
  return Number(text)
}
