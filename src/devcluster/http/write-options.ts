/** The query parameters of writes: dryRun, fieldManager, fieldValidation, force; and DeleteOptions. */
import type { FieldError } from '../../api/field-error.ts'
import { forbidden, invalid, notSupported, required, tooLong } from '../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject } from '../../api/json.ts'
import type { RequestContext, UserInfo } from '../registry/request-context.ts'
import { badRequest, invalidObject } from '../registry/status-error.ts'
import { decodeObject } from './codec.ts'
import type { Exchange } from './exchange.ts'
import { flag } from './request-info.ts'

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

/** The API server's limit for names of field managers. */
const maxFieldManager = 128
const fieldValidations = ['Ignore', 'Strict', 'Warn'] as const
const propagationPolicies = ['Foreground', 'Background', 'Orphan']

/**
 * The context of a write, from its query.
 *
 * @param apply whether the body is an apply patch, for which a field manager must be named and `force` may be
 * @throws {StatusError} 422 for parameters that are not valid.
 */
export function writeContext(exchange: Exchange, user: UserInfo, kind: OptionsKind, apply = false): RequestContext {
  const { query } = exchange
  const userAgent = exchange.request.headers['user-agent'] ?? ''
  const dryRun = query.getAll('dryRun').filter((value) => value !== '')
  const fieldManager = query.get('fieldManager') ?? ''
  const asked = query.get('fieldValidation') ?? ''
  const fieldValidation = fieldValidations.find((value) => value === asked)
  const errors: FieldError[] = [
    ...dryRunErrors(dryRun),
    ...(Buffer.byteLength(fieldManager) > maxFieldManager ? [tooLong('fieldManager', maxFieldManager)] : []),
    ...(/[^\P{C}]/u.test(fieldManager) ? [invalid('fieldManager', fieldManager, 'should only contain printable characters')] : []),
    ...(asked !== '' && fieldValidation === undefined ? [notSupported('fieldValidation', asked, fieldValidations)] : []),
    ...(kind === 'PatchOptions' && apply && fieldManager === '' ? [required('fieldManager', 'is required for apply patch')] : []),
    ...(kind === 'PatchOptions' && !apply && query.has('force') ? [forbidden('force', 'may not be specified for non-apply patch')] : []),
  ]
  refuse(kind, errors)
  return {
    user,
    dryRun: dryRun.length > 0,
    fieldManager: fieldManager === '' ? managerOf(userAgent) : fieldManager,
    fieldValidation: fieldValidation ?? 'Warn',
    userAgent,
    signal: exchange.signal,
    warn: (text) => exchange.warnings.add(text),
    options: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length === 0 ? {} : { dryRun }),
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(asked === '' ? {} : { fieldValidation: asked }),
      ...(apply && query.has('force') ? { force: flag(query, 'force') } : {}),
    },
  }
}

/** The name under which a client without a field manager writes: what its User-Agent begins with. */
function managerOf(userAgent: string): string {
  const printable = userAgent.split('/')[0]!.replace(/\p{C}/gu, '')
  return Buffer.from(printable).subarray(0, maxFieldManager).toString('utf8') || 'unknown'
}

/** DeleteOptions from the body, or without one from the query; and the context that goes with them. */
export function deleteOptions(exchange: Exchange, user: UserInfo, body: Buffer): { options: JsonObject; context: RequestContext } {
  const options = body.length > 0 ? optionsIn(body, exchange) : optionsOf(exchange.query)
  const dryRun = options.dryRun ?? []
  const policy = options.propagationPolicy
  const grace = options.gracePeriodSeconds
  refuse('DeleteOptions', [
    ...dryRunErrors(Array.isArray(dryRun) ? dryRun : [dryRun]),
    ...(policy !== undefined && policy !== null && !propagationPolicies.includes(String(policy))
      ? [notSupported('propagationPolicy', policy, [...propagationPolicies, 'nil'])]
      : []),
    ...(typeof grace === 'number' && grace < 0 ? [invalid('gracePeriodSeconds', grace, 'must be greater than or equal to 0')] : []),
    ...(policy !== undefined && policy !== null && options.orphanDependents !== undefined && options.orphanDependents !== null
      ? [invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set')]
      : []),
  ])
  const context = writeContext(exchange, user, 'DeleteOptions')
  const isDry = Array.isArray(dryRun) && dryRun.length > 0
  return { options, context: { ...context, dryRun: isDry, options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options } } }
}

function optionsIn(body: Buffer, exchange: Exchange): JsonObject {
  const { value } = decodeObject(body, exchange.request.headers['content-type'], 'DeleteOptions')
  if (!isObject(value)) throw badRequest('the body of a delete request must be an object of the kind DeleteOptions')
  const kind = getOwn(value, 'kind')
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest(`${JSON.stringify(kind)} cannot be handled as DeleteOptions: the body of a delete request must be of that kind`)
  }
  const { kind: _kind, apiVersion: _apiVersion, ...options } = value
  return options
}

function optionsOf(query: URLSearchParams): JsonObject {
  const options: JsonObject = {}
  const dryRun = query.getAll('dryRun').filter((value) => value !== '')
  if (dryRun.length > 0) options.dryRun = dryRun
  const policy = query.get('propagationPolicy')
  if (policy !== null && policy !== '') options.propagationPolicy = policy
  const grace = query.get('gracePeriodSeconds')
  if (grace !== null && grace !== '') options.gracePeriodSeconds = integer('gracePeriodSeconds', grace)
  if (query.has('orphanDependents')) options.orphanDependents = flag(query, 'orphanDependents')
  return options
}

/** A whole number from the query. */
export function integer(name: string, text: string): number {
  if (!/^-?\d+$/.test(text)) throw badRequest(`unable to decode the query parameter ${name}: ${JSON.stringify(text)} is not a whole number`)
  return Number(text)
}

function dryRunErrors(values: readonly JsonValue[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])]
}

function refuse(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind }, '', errors)
}
