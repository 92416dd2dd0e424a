/** Validation of webhook configurations (k8s.io/kubernetes/pkg/apis/admissionregistration/validation). */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, internalFieldError, invalid, notSupported, required, tooMany } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { compileMatchCondition } from '../../../cel/match-conditions.ts'
import { dns1035Label, dns1123Subdomain, labelValue, qualifiedName } from '../../../api/name-syntax.ts'
import { listAt, textAt } from '../../apimachinery/unstructured.ts'
import { objects } from './field-checks.ts'

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
/** Maximum number of match conditions of one webhook. */
const maxConditions = 64
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

/**
 * Returns the errors of a webhook, in the order of kube-apiserver.
 *
 * @param conditions true to validate the match conditions, too.
 */
export function validateWebhook(webhook: JsonObject, path: string, conditions: boolean): FieldError[] {
  const errors: FieldError[] = [...validateName(textAt(webhook, 'name'), `${path}.name`)]
  for (const [rule, index] of objects(listAt(webhook, 'rules'))) errors.push(...validateRule(rule, `${path}.rules[${index}]`))
  const oneOf = (field: string, values: readonly string[]): void => {
    const value = webhook[field]
    if (typeof value === 'string' && !values.includes(value)) errors.push(notSupported(`${path}.${field}`, value, values))
  }
  oneOf('failurePolicy', ['Fail', 'Ignore'])
  oneOf('matchPolicy', ['Equivalent', 'Exact'])
  if (typeof webhook.sideEffects !== 'string') errors.push(required(`${path}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`))
  oneOf('sideEffects', sideEffects)
  const { timeoutSeconds } = webhook
  if (typeof timeoutSeconds === 'number' && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    errors.push(invalid(`${path}.timeoutSeconds`, timeoutSeconds, 'the timeout value must be between 1 and 30 seconds'))
  }
  for (const field of ['namespaceSelector', 'objectSelector']) {
    const selector = webhook[field]
    if (isObject(selector)) errors.push(...validateSelector(selector, `${path}.${field}`))
  }
  oneOf('reinvocationPolicy', ['IfNeeded', 'Never'])
  errors.push(...validateClient(webhook.clientConfig, `${path}.clientConfig`))
  if (conditions) errors.push(...validateConditions(listAt(webhook, 'matchConditions'), `${path}.matchConditions`))
  errors.push(...validateReviewVersions(listAt(webhook, 'admissionReviewVersions'), `${path}.admissionReviewVersions`))
  return errors
}

function validateName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)]
  const errors = dns1123Subdomain(name).map((detail) => invalid(path, name, detail))
  if (errors.length === 0 && name.split('.').length < 3)
    errors.push(invalid(path, name, 'should be a domain with at least three segments separated by dots'))
  return errors
}

function validateConditions(conditions: readonly JsonValue[], path: string): FieldError[] {
  const names = new Set<string>()
  const errors = conditions.length > maxConditions ? [tooMany(path, conditions.length, maxConditions)] : []
  for (const [condition, index] of objects(conditions)) {
    const here = `${path}[${index}]`
    const name = textAt(condition, 'name')
    errors.push(...validateCondition(condition, here))
    if (name !== '' && names.has(name)) errors.push(duplicate(`${here}.name`, name))
    names.add(name)
  }
  return errors
}

function validateCondition(condition: JsonObject, path: string): FieldError[] {
  const [name, expression] = [textAt(condition, 'name'), textAt(condition, 'expression').trim()]
  return [
    ...(expression === '' ? [required(`${path}.expression`)] : validateExpression(expression, `${path}.expression`)),
    ...(name === '' ? [required(`${path}.name`)] : qualifiedName(name).map((detail) => invalid(`${path}.name`, name, detail))),
  ]
}

function validateExpression(expression: string, path: string): FieldError[] {
  const compiled = compileMatchCondition(expression)
  if (!('problem' in compiled)) return []
  return [compiled.internal ? internalFieldError(path, compiled.problem) : invalid(path, expression, compiled.problem)]
}

function validateReviewVersions(versions: readonly JsonValue[], path: string): FieldError[] {
  const known = reviewVersions.join(', ')
  if (versions.length === 0) return [required(path, `must specify one of ${known}`)]
  const errors = versions.flatMap((version, index) => {
    if (versions.indexOf(version) < index) return [invalid(`${path}[${index}]`, version, 'duplicate version')]
    return dns1035Label(String(version)).map((detail) => invalid(`${path}[${index}]`, version, detail))
  })
  const isKnown = versions.some((version) => reviewVersions.includes(String(version)))
  return isKnown ? errors : [...errors, invalid(path, [...versions], `must include at least one of ${known}`)]
}

/** Validates that `clientConfig` has either a valid URL or a valid Service. */
export function validateClient(clientConfig: JsonValue | undefined, path: string): FieldError[] {
  const client = isObject(clientConfig) ? clientConfig : {}
  const { url, service } = client
  if ((typeof url === 'string') === isObject(service)) return [required(path, 'exactly one of url or service is required')]
  return typeof url === 'string' ? validateUrl(url, `${path}.url`) : validateService(service as JsonObject, `${path}.service`)
}

const urlParts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s
const form = 'desired format: https://host[/path]'

/** Validates the URL of a webhook. If the host name contains an invalid character, the error contains the message of Go's URL parser. */
function validateUrl(url: string, path: string): FieldError[] {
  const [, scheme = '', authority = '', query = '', fragment = ''] = urlParts.exec(url) ?? []
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, Math.max(at, 0))
  const host = authority.slice(at + 1)
  const invalidCharacter = /[\s{}|\\^`]/.exec(host)
  if (invalidCharacter !== null) {
    const detail = `parse ${JSON.stringify(url)}: invalid character ${JSON.stringify(invalidCharacter[0])} in host name`
    return [required(path, `url must be a valid URL: ${detail}; ${form}`)]
  }
  return [
    ...(scheme.toLowerCase() === 'https' ? [] : [invalid(path, scheme, `'https' is the only allowed URL scheme; ${form}`)]),
    ...(host === '' ? [invalid(path, host, `host must be specified; ${form}`)] : []),
    ...(at < 0 ? [] : [invalid(path, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalid(path, query, 'query parameters are not permitted in the URL')]),
  ]
}

function validateService(service: JsonObject, path: string): FieldError[] {
  const { port } = service
  return [
    // kube-apiserver reports a missing namespace with the path of the name, and a missing name with the path of the namespace.
    ...(textAt(service, 'namespace') === '' ? [required(`${path}.name`)] : []),
    ...(textAt(service, 'name') === '' ? [required(`${path}.namespace`)] : []),
    ...(typeof port === 'number' && (port < 1 || port > 65_535)
      ? [invalid(`${path}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive')]
      : []),
    ...validateServicePath(textAt(service, 'path'), `${path}.path`),
  ]
}

function validateServicePath(value: string, path: string): FieldError[] {
  if (value === '' || value === '/') return []
  if (value === '//') return [invalid(path, value, 'segment[0] may not be empty')]
  const errors = value.startsWith('/') ? [] : [invalid(path, value, "must start with a '/'")]
  // Like kube-apiserver, this function drops the first character even if it is not a slash.
  const segments = value.slice(1).replace(/\/$/, '').split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '') errors.push(invalid(path, value, `segment[${index}] may not be empty`))
    else for (const detail of dns1123Subdomain(segment)) errors.push(invalid(path, value, `segment[${index}]: ${detail}`))
  }
  return errors
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const [wantedOperations, groups, versions] = ['operations', 'apiGroups', 'apiVersions'].map((field) => listAt(rule, field)) as [
    readonly JsonValue[],
    readonly JsonValue[],
    readonly JsonValue[],
  ]
  const alone = (field: string, values: readonly JsonValue[], others: string): FieldError[] =>
    values.length > 1 && values.includes('*')
      ? [invalid(`${path}.${field}`, [...values], `if '*' is present, must not specify other ${others}`)]
      : []
  const some = (field: string, values: readonly JsonValue[]): FieldError[] => (values.length === 0 ? [required(`${path}.${field}`)] : [])
  const scopes = ['*', 'Cluster', 'Namespaced']
  return [
    ...some('operations', wantedOperations),
    ...alone('operations', wantedOperations, 'operations'),
    ...wantedOperations.flatMap((operation, index) =>
      operations.includes(String(operation)) ? [] : [notSupported(`${path}.operations[${index}]`, operation, operations)],
    ),
    ...some('apiGroups', groups),
    ...alone('apiGroups', groups, 'API groups'),
    ...some('apiVersions', versions),
    ...alone('apiVersions', versions, 'API versions'),
    ...versions.flatMap((version, index) => (version === '' ? [required(`${path}.apiVersions[${index}]`)] : [])),
    ...validateResources(listAt(rule, 'resources').map(String), `${path}.resources`),
    ...(typeof rule.scope === 'string' && !scopes.includes(rule.scope) ? [notSupported(`${path}.scope`, rule.scope, scopes)] : []),
  ]
}

function validateResources(resources: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(path)] : []
  const wholeResources = new Set<string>()
  const wholeSubresources = new Set<string>()
  let namesResource = false
  for (const [index, pattern] of resources.entries()) {
    const here = `${path}[${index}]`
    const slash = pattern.indexOf('/')
    if (pattern === '') errors.push(required(here))
    // As in kube-apiserver, each pattern without a subresource overwrites `namesResource`. Only the last of these patterns therefore
    // determines whether the error about `*` below is reported.
    else if (slash < 0) namesResource = pattern !== '*'
    if (slash < 0) continue
    const [resource, subresource] = [pattern.slice(0, slash), pattern.slice(slash + 1)]
    if (wholeResources.has(resource)) errors.push(invalid(here, pattern, `if '${resource}/*' is present, must not specify ${pattern}`))
    if (wholeSubresources.has(subresource))
      errors.push(invalid(here, pattern, `if '*/${subresource}' is present, must not specify ${pattern}`))
    if (subresource === '*') wholeResources.add(resource)
    if (resource === '*') wholeSubresources.add(subresource)
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(path, [...resources], "if '*/*' is present, must not specify other resources"))
  if (resources.includes('*') && namesResource)
    errors.push(invalid(path, [...resources], "if '*' is present, must not specify other resources without subresources"))
  return errors
}

/** Validates a label selector (k8s.io/apimachinery/pkg/apis/meta/v1/validation: ValidateLabelSelector). */
export function validateSelector({ matchLabels, matchExpressions }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (isObject(matchLabels)) {
    const here = `${path}.matchLabels`
    for (const [key, value] of Object.entries(matchLabels)) {
      errors.push(...qualifiedName(key).map((detail) => invalid(here, key, detail)))
      errors.push(...labelValue(String(value)).map((detail) => invalid(here, value, detail)))
    }
  }
  for (const [expression, index] of objects(Array.isArray(matchExpressions) ? matchExpressions : [])) {
    const here = `${path}.matchExpressions[${index}]`
    const { key, operator } = {
      key: textAt(expression, 'key'),
      operator: textAt(expression, 'operator'),
    }
    const values = listAt(expression, 'values')
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) errors.push(required(`${here}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) errors.push(forbidden(`${here}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    } else errors.push(invalid(`${here}.operator`, operator, 'not a valid selector operator'))
    errors.push(...qualifiedName(key).map((detail) => invalid(`${here}.key`, key, detail)))
    for (const [at, value] of values.entries())
      errors.push(...labelValue(String(value)).map((detail) => invalid(`${here}.values[${at}]`, value, detail)))
  }
  return errors
}
