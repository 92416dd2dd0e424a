/** Mutating and validating webhook configurations. */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { dns1123Subdomain } from '../../../api/names.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, integerColumn, listAt, nameColumn, sizeAt, textAt } from '../columns.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaults.ts'
import type { ResourceInfo } from '../resource-info.ts'
import { objects } from './container-validation.ts'

function configuration(kind: string, plural: string, defaults: JsonObject): ResourceInfo {
  return builtinResource({
    group: 'admissionregistration.k8s.io',
    kind,
    plural,
    categories: ['api-extensions'],
    namespaced: false,
    columns: [nameColumn, integerColumn('Webhooks', (object) => sizeAt(object, 'webhooks')), ageColumn],
    strategy: {
      generation: true,
      default: (object) => changeItems(object, 'webhooks', (webhook) => defaultWebhook(webhook, defaults)),
      validate: (object) => validateWebhooks(object),
    },
  })
}

function defaultWebhook(webhook: JsonObject, defaults: JsonObject): JsonObject {
  const filled = withDefaults(webhook, {
    ...defaults,
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  })
  const rules = changeItems(filled, 'rules', (rule) => withDefaults(rule, { scope: '*' }))
  return changeObjectField(rules, 'clientConfig', (client) =>
    changeObjectField(client, 'service', (service) => withDefaults(service, { port: 443 })),
  )
}

const reviewVersions = ['v1', 'v1beta1']
const sideEffects = ['None', 'NoneOnDryRun']
const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

function validateWebhooks(object: JsonObject): FieldError[] {
  const names = new Set<string>()
  return objects(listAt(object, 'webhooks')).flatMap(([webhook, index]) => {
    const here = `webhooks[${index}]`
    const name = textAt(webhook, 'name')
    const taken = names.has(name)
    names.add(name)
    return [
      ...validateName(name, `${here}.name`),
      ...(taken && name !== '' ? [duplicate(`${here}.name`, name)] : []),
      ...validateWebhook(webhook, here),
    ]
  })
}

function validateName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)]
  const errors = dns1123Subdomain(name).map((detail) => invalid(path, name, detail))
  if (errors.length === 0 && name.split('.').length < 3)
    errors.push(invalid(path, name, 'should be a domain with at least three segments separated by dots'))
  return errors
}

function validateWebhook(webhook: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  const oneOf = (field: string, values: readonly string[]): void => {
    const value = textAt(webhook, field)
    if (value !== '' && !values.includes(value)) errors.push(notSupported(`${path}.${field}`, value, values))
  }
  const versions = listAt(webhook, 'admissionReviewVersions')
  if (versions.length === 0) errors.push(required(`${path}.admissionReviewVersions`, `must specify one of ${reviewVersions.join(', ')}`))
  else if (!versions.some((version) => reviewVersions.includes(String(version)))) {
    errors.push(invalid(`${path}.admissionReviewVersions`, [...versions], `must include at least one of ${reviewVersions.join(', ')}`))
  }
  if (textAt(webhook, 'sideEffects') === '') errors.push(required(`${path}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`))
  oneOf('sideEffects', sideEffects)
  oneOf('failurePolicy', ['Fail', 'Ignore'])
  oneOf('matchPolicy', ['Equivalent', 'Exact'])
  oneOf('reinvocationPolicy', ['IfNeeded', 'Never'])
  const { timeoutSeconds } = webhook
  if (typeof timeoutSeconds === 'number' && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    errors.push(invalid(`${path}.timeoutSeconds`, timeoutSeconds, 'the timeout value must be between 1 and 30 seconds'))
  }
  return [...errors, ...validateClient(webhook, `${path}.clientConfig`), ...validateRules(webhook, `${path}.rules`)]
}

function validateClient(webhook: JsonObject, path: string): FieldError[] {
  const client = isObject(webhook.clientConfig) ? webhook.clientConfig : {}
  const url = textAt(client, 'url')
  const { service } = client
  if ((url === '') === !isObject(service)) return [required(path, 'exactly one of url or service is required')]
  if (isObject(service)) {
    return ['name', 'namespace']
      .filter((field) => textAt(service, field) === '')
      .map((field) => required(`${path}.service.${field}`, `service ${field} is required`))
  }
  return url.startsWith('https://')
    ? []
    : [invalid(`${path}.url`, url, "'https' is the only allowed URL scheme; desired format: https://host[/path]")]
}

function validateRules(webhook: JsonObject, path: string): FieldError[] {
  return objects(listAt(webhook, 'rules')).flatMap(([rule, index]) => {
    const here = `${path}[${index}]`
    const missing = ['operations', 'apiGroups', 'apiVersions', 'resources']
      .filter((field) => listAt(rule, field).length === 0)
      .map((field) => required(`${here}.${field}`))
    const unknown = listAt(rule, 'operations').flatMap((operation, at) =>
      operations.includes(String(operation)) ? [] : [notSupported(`${here}.operations[${at}]`, operation, operations)],
    )
    return [...missing, ...unknown]
  })
}

export const webhookConfigurations: readonly ResourceInfo[] = [
  configuration('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', { reinvocationPolicy: 'Never' }),
  configuration('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {}),
]
