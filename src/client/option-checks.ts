/**
 * Validates the options of `createClient` and of the client's verbs at run time. Callers that do not use TypeScript need this validation.
 */
import type { OptionCheck } from '../api/option-checks.ts'
import {
  hasOptions,
  isAnObject,
  isAnything,
  isBoolean,
  isClock,
  isDuration,
  isFunction,
  isListOf,
  isOneOf,
  isSignal,
  isText,
  isWholeNumber,
  refuseOptions,
} from '../api/option-checks.ts'
import type { Client, ClientOptions } from './client.ts'
import type { Impersonation } from './impersonation.ts'
import type {
  ApplyOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  SelectionOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import type { TimedVerb } from './timeouts.ts'

type Checks<Options> = Record<keyof Options, OptionCheck>

const request = { signal: isSignal, timeoutMs: isDuration } satisfies Checks<RequestOptions>
const get = { ...request, subresource: isText } satisfies Checks<GetOptions>
/** The checks of the options common to all write requests. */
export const writeChecks = {
  ...request,
  dryRun: isBoolean,
  fieldManager: isText,
  fieldValidation: isOneOf('Ignore', 'Warn', 'Strict'),
} satisfies Checks<WriteOptions>
const create = { ...writeChecks, subresource: isText } satisfies Checks<CreateOptions>
/** The checks of the options that select objects. A label selector is validated when the request is sent. */
export const selectionChecks = {
  ...request,
  namespace: isText,
  labelSelector: isAnything,
  fieldSelector: isText,
  resourceVersion: isText,
  resourceVersionMatch: isOneOf('Exact', 'NotOlderThan'),
} satisfies Checks<SelectionOptions>
const watch = {
  ...selectionChecks,
  limit: isWholeNumber(0),
  continue: isText,
  allowWatchBookmarks: isBoolean,
  timeoutSeconds: isWholeNumber(0),
  onOpen: isFunction,
} satisfies Checks<WatchOptions>
const list = {
  ...selectionChecks,
  limit: isWholeNumber(0),
  continue: isText,
  maxResponseBytes: isWholeNumber(1),
} satisfies Checks<ListOptions>
const deletion = {
  ...request,
  propagationPolicy: isOneOf('Background', 'Foreground', 'Orphan'),
  gracePeriodSeconds: isWholeNumber(0),
  preconditions: hasOptions({ uid: isText, resourceVersion: isText }),
  dryRun: isBoolean,
} satisfies Checks<DeleteOptions>
const logs = {
  ...request,
  container: isText,
  follow: isBoolean,
  previous: isBoolean,
  sinceSeconds: isWholeNumber(1),
  sinceTime: isText,
  tailLines: isWholeNumber(0),
  limitBytes: isWholeNumber(1),
  timestamps: isBoolean,
  stream: isOneOf('All', 'Stdout', 'Stderr'),
} satisfies Checks<LogOptions>

const verbChecks: Readonly<Record<Exclude<keyof Client, 'fieldManager' | 'close'>, OptionCheck>> = {
  get: hasOptions(get),
  list: hasOptions(list),
  watch: hasOptions(watch),
  create: hasOptions(create),
  update: hasOptions(create),
  patch: hasOptions({ ...create, type: isOneOf('merge', 'json', 'strategic') } satisfies Checks<PatchOptions>),
  apply: hasOptions({ ...create, force: isBoolean } satisfies Checks<ApplyOptions>),
  updateStatus: hasOptions(writeChecks),
  patchStatus: hasOptions(writeChecks),
  delete: hasOptions(deletion),
  deleteCollection: hasOptions({ ...selectionChecks, ...deletion } satisfies Checks<DeleteCollectionOptions>),
  logs: hasOptions(logs),
  raw: hasOptions({
    ...request,
    method: isText,
    body: isAnything,
    contentType: isText,
    accept: isText,
  } satisfies Checks<RawOptions>),
}

/** @throws {ProreusError} `PRO_CONFIG_INVALID` when options of a verb are invalid or unknown. The message names all of them. */
export function checkVerbOptions(verb: keyof typeof verbChecks, options: object): void {
  refuseOptions(`client.${verb}`, verbChecks[verb](options, ''))
}

const verbTimeouts = {
  get: isDuration,
  list: isDuration,
  watch: isDuration,
  create: isDuration,
  update: isDuration,
  patch: isDuration,
  delete: isDuration,
  deletecollection: isDuration,
  default: isDuration,
} satisfies Record<TimedVerb | 'default', OptionCheck>
const areTimeouts = hasOptions(verbTimeouts)

const checkClient = hasOptions({
  userAgent: isText,
  onRequest: isFunction,
  onWarning: isFunction,
  timeoutMs: (value, path) => (typeof value === 'number' ? isDuration(value, path) : areTimeouts(value, path)),
  maxResponseBytes: isWholeNumber(1),
  clock: isClock,
  random: isFunction,
  fieldManager: isText,
  impersonate: hasOptions({ user: isText, groups: isListOf(isText), uid: isText, extra: isAnObject } satisfies Checks<Impersonation>, [
    'user',
  ]),
} satisfies Checks<ClientOptions>)

/** @throws {ProreusError} `PRO_CONFIG_INVALID` when options of `createClient` are invalid or unknown. The message names all of them. */
export function checkClientOptions(options: ClientOptions): void {
  refuseOptions('createClient', checkClient(options, ''))
}
