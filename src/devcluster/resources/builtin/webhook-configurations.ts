/** The built-in types MutatingWebhookConfiguration and ValidatingWebhookConfiguration. */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, integerColumn, nameColumn } from '../columns.ts'
import { listAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { objects } from './field-checks.ts'
import { validateWebhook } from './webhook-validation.ts'

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
      validate: validateWebhooks,
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

function validateWebhooks(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  // As in kube-apiserver, an update validates the match conditions only if the update changes them.
  const conditions = old === undefined || !jsonEqual(conditionsOf(object), conditionsOf(old))
  const names = new Set<string>()
  return objects(listAt(object, 'webhooks')).flatMap(([webhook, index]) => {
    const here = `webhooks[${index}]`
    const name = textAt(webhook, 'name')
    const taken = name !== '' && names.has(name)
    names.add(name)
    return [...validateWebhook(webhook, here, conditions), ...(taken ? [duplicate(`${here}.name`, name)] : [])]
  })
}

/** Returns the match conditions of each webhook. */
function conditionsOf(object: JsonObject): JsonValue[] {
  return objects(listAt(object, 'webhooks')).map(([webhook]) => [...listAt(webhook, 'matchConditions')])
}

export const webhookConfigurations: readonly ResourceInfo[] = [
  configuration('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', { reinvocationPolicy: 'Never' }),
  configuration('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {}),
]
