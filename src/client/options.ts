/** The options of the client's verbs. */
import type { LabelSelector } from '../api/label-selector.ts'

/** Options of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Time limit of one attempt in milliseconds. It replaces `timeoutMs` of the client. For a watch and for logs, the limit applies until the
   * response headers arrive. `Infinity` disables the limit.
   */
  readonly timeoutMs?: number | undefined
}

export interface GetOptions extends RequestOptions {
  /** Reads a subresource of the object, e.g. `scale`. */
  readonly subresource?: string
}

export interface WriteOptions extends RequestOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface CreateOptions extends WriteOptions {
  /**
   * The name of a subresource, e.g. `eviction`. If set, the request writes to this subresource instead of the object itself. The
   * subresource belongs to the object whose name and namespace are in the `metadata` of the request body.
   */
  readonly subresource?: string
}

export type UpdateOptions = CreateOptions

/** Selects objects of a type. */
export interface SelectionOptions extends RequestOptions {
  /** The namespace of the objects; all namespaces when absent or empty. */
  readonly namespace?: string | undefined
  readonly labelSelector?: LabelSelector
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface ListOptions extends SelectionOptions {
  readonly limit?: number
  readonly continue?: string
  /**
   * Maximum size of the response in bytes. It replaces `maxResponseBytes` of the client. If a response is longer, the rest is not read, and
   * the request rejects with `PRO_API`.
   */
  readonly maxResponseBytes?: number
}

export interface WatchOptions extends Omit<ListOptions, 'maxResponseBytes'> {
  readonly allowWatchBookmarks?: boolean
  readonly timeoutSeconds?: number
  /** Called when the server has accepted the watch, before the first event. */
  readonly onOpen?: () => void
}

export interface PatchOptions extends WriteOptions {
  /** The type of the patch. Default `merge`. Custom resources do not support `strategic`. */
  readonly type?: 'merge' | 'json' | 'strategic'
  readonly subresource?: string
}

export interface ApplyOptions extends WriteOptions {
  /**
   * Decides what happens when another field manager owns a field of the request. With `true`, the default, the request's field manager
   * becomes the owner. With `false`, the request fails with a conflict.
   */
  readonly force?: boolean
  readonly subresource?: string
}

export interface DeleteOptions extends RequestOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
}

export interface DeleteCollectionOptions extends SelectionOptions, DeleteOptions {}

/** Options of the logs of a Pod's container. */
export interface LogOptions extends RequestOptions {
  /** The name of the container. Optional if the Pod has only one container. */
  readonly container?: string
  /** True to also receive the lines that the container writes after the request, until the container ends. */
  readonly follow?: boolean
  /** True to read the logs of the previous instance of the container, as `kubectl logs --previous` does. */
  readonly previous?: boolean
  readonly sinceSeconds?: number
  /** A time in RFC 3339 format. Lines that were written before this time are not returned. */
  readonly sinceTime?: string
  /** The maximum number of lines to read from the end of the logs; all lines when absent. */
  readonly tailLines?: number
  readonly limitBytes?: number
  /** True to begin each line with the time at which it was written. */
  readonly timestamps?: boolean
  readonly stream?: 'All' | 'Stdout' | 'Stderr'
}

export interface RawOptions extends RequestOptions {
  readonly method?: string
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
}
