/** The query parameters of writes (dryRun, fieldManager, fieldValidation and force), and DeleteOptions. */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, notSupported, required, tooLong } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import { parseApiVersion } from '../../api/group-version-kind.ts'
import { maxFieldManagerBytes } from '../registry/field-managers.ts'
import { dryRunErrors, validateDeleteOptions } from '../registry/verbs/delete-options.ts'
import type { RequestContext, UserInfo } from '../apimachinery/request-context.ts'
import type { StatusError } from '../apimachinery/status-error.ts'
import { badRequest, invalidObject, notANumber } from '../apimachinery/status-error.ts'
import { decodeOptions } from './codec.ts'
import type { Exchange } from './exchange.ts'
import { timeoutOf } from './request-timeout.ts'
import { goKindOf, notAnObject } from '../types/go-json.ts'
import { flag } from './request-info.ts'

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

const fieldValidations = ['Ignore', 'Strict', 'Warn'] as const

/**
 * Returns the context of a write, from the query of the request.
 *
 * @param apply true for a server-side apply request, which requires a field manager and allows `force`
 * @throws {StatusError} 422 for invalid parameters.
 */
export function writeContext(exchange: Exchange, user: UserInfo, kind: OptionsKind, apply = false): RequestContext {
  const { query } = exchange
  const userAgent = exchange.request.headers['user-agent'] ?? ''
  const dryRun = query.getAll('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const requested = query.get('fieldValidation') ?? ''
  const fieldValidation = fieldValidations.find((value) => value === requested)
  const errors: FieldError[] = [
    ...dryRunErrors(dryRun),
    ...(Buffer.byteLength(fieldManager) > maxFieldManagerBytes ? [tooLong('fieldManager', maxFieldManagerBytes)] : []),
    ...printableErrors(fieldManager),
    ...(requested !== '' && fieldValidation === undefined ? [notSupported('fieldValidation', requested, ['', ...fieldValidations])] : []),
    ...(kind === 'PatchOptions' && apply && fieldManager === '' ? [required('fieldManager', 'is required for apply patch')] : []),
    ...(kind === 'PatchOptions' && !apply && query.has('force') ? [forbidden('force', 'may not be specified for non-apply patch')] : []),
  ]
  refuse(kind, errors)
  return {
    user,
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation ?? 'Warn',
    userAgent,
    signal: exchange.signal,
    deadline: exchange.receivedAt + timeoutOf(query),
    warn: (text) => exchange.warnings.add(text),
    options: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length === 0 ? {} : { dryRun }),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(requested === '' ? {} : { fieldValidation: requested }),
      ...(apply && query.has('force') ? { force: flag(query, 'force') } : {}),
    },
  }
}

function printableErrors(fieldManager: string): FieldError[] {
  const position = [...fieldManager].findIndex((character) => /\p{C}/u.test(character))
  if (position < 0) return []
  const code = [...fieldManager][position]!.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return [invalid('fieldManager', fieldManager, `invalid character U+${code} (at position ${position})`)]
}

/**
 * Returns the DeleteOptions and the context of the request. The DeleteOptions are read from the body, or from the query when the body is
 * empty.
 */
export function deleteOptions(exchange: Exchange, user: UserInfo, body: Buffer): { options: JsonObject; context: RequestContext } {
  const options = body.length > 0 ? optionsIn(body, exchange) : optionsOf(exchange.query)
  const dryRun = options.dryRun ?? []
  validateDeleteOptions(options)
  const context = writeContext(exchange, user, 'DeleteOptions')
  const isDry = Array.isArray(dryRun) && dryRun.length > 0
  return { options, context: { ...context, dryRun: isDry, options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options } } }
}

function optionsIn(body: Buffer, exchange: Exchange): JsonObject {
  const contentType = exchange.request.headers['content-type']
  const undecodable = (text: string): StatusError => badRequest(`couldn't get version/kind; json parse error: ${text}`)
  const { value } = decodeOptions(body, contentType, { kind: 'DeleteOptions', apiVersion: 'v1' })
  if (!isObject(value)) throw undecodable(notAnObject(value))
  const kind = getOwn(value, 'kind')
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    const { version } = parseApiVersion(String(getOwn(value, 'apiVersion') ?? ''))
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`)
  }
  const { kind: _kind, apiVersion: _apiVersion, ...options } = value
  checkTypes(options)
  return options
}

/** Throws 400 if a field of the DeleteOptions has a wrong JSON type. The message is the same as that of Go's decoder. */
function checkTypes({ gracePeriodSeconds = null, dryRun = null, propagationPolicy = null, orphanDependents = null }: JsonObject): void {
  const refuse = (field: string, value: JsonValue, goType: string): StatusError =>
    badRequest(`json: cannot unmarshal ${goKindOf(value)} into Go struct field DeleteOptions.${field} of type ${goType}`)
  if (gracePeriodSeconds !== null && !Number.isInteger(gracePeriodSeconds)) throw refuse('gracePeriodSeconds', gracePeriodSeconds, 'int64')
  if (dryRun !== null && !Array.isArray(dryRun)) throw refuse('dryRun', dryRun, '[]string')
  if (propagationPolicy !== null && typeof propagationPolicy !== 'string')
    throw refuse('propagationPolicy', propagationPolicy, 'v1.DeletionPropagation')
  if (orphanDependents !== null && typeof orphanDependents !== 'boolean') throw refuse('orphanDependents', orphanDependents, 'bool')
}

function optionsOf(query: URLSearchParams): JsonObject {
  const options: JsonObject = {}
  const dryRun = query.getAll('dryRun')
  if (dryRun.length > 0) options.dryRun = dryRun
  const policy = query.get('propagationPolicy')
  if (policy !== null && policy !== '') options.propagationPolicy = policy
  const grace = query.get('gracePeriodSeconds')
  if (grace !== null && grace !== '') options.gracePeriodSeconds = integer(grace)
  if (query.has('orphanDependents')) options.orphanDependents = flag(query, 'orphanDependents')
  return options
}

/** Parses an integer query parameter. Throws 400 when it is not an integer. */
export function integer(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) throw badRequest(notANumber('ParseInt', text))
  return Number(text)
}

function refuse(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors)
}
