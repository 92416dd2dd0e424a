import t from 'tap'
import { configMap, deployment, node, pod } from '../../src/api/builtin.ts'
import type { JsonObject } from '../../src/api/json.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { namesOf } from '../../src/manager/installation-names.ts'
import { managerRole } from '../../src/manifests/rbac.ts'
import type { WebhookTarget } from '../../src/manifests/webhook-configuration.ts'
import { clientConfig, webhookConfigurations } from '../../src/manifests/webhook-configuration.ts'
import { accessReviewRule } from '../../src/client/is-allowed.ts'
import type { WebhookDefinition } from '../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { anyResource } from '../../src/webhook/definition/subresource.ts'
import { widget } from '../support/webhook/fixture.ts'

interface Entry extends JsonObject {
  name: string
  clientConfig: { url: string }
  rules: [{ apiGroups: string[]; apiVersions: string[]; resources: string[]; operations: string[]; scope: string }]
}

const validate = (): [] => []

function entriesOf(
  definitions: readonly WebhookDefinition[],
  target: WebhookTarget = { url: 'https://h' },
): { mutating: Entry[]; validating: Entry[] } {
  const operator = defineOperator({ name: 'o', kinds: [], webhooks: definitions })
  const [mutating, validating] = webhookConfigurations([operator], target, namesOf('proreus')).map(
    ({ webhooks }) => webhooks as unknown as Entry[],
  )
  return { mutating: mutating!, validating: validating! }
}

/** Returns a webhook of a configuration as one line, without the fields that the API server sets to defaults. */
function summary({ name, clientConfig: { url }, rules: [rule] }: Entry): string {
  const { apiGroups, apiVersions, resources, operations, scope } = rule
  return `${name} ${url} ${apiGroups.join()}/${apiVersions.join()}/${resources.join()} ${operations.join()} ${scope}`
}

t.test('a kind has one entry for each served version, for any number of handlers', async (t) => {
  const { mutating, validating } = entriesOf([defineWebhook(widget), defineWebhook(widget, { validateDelete: validate })])
  t.strictSame(mutating.map(summary), [
    'mutate-widget-v1.apps.example.com https://h/mutate-apps-example-com-v1-widget apps.example.com/v1/widgets CREATE,UPDATE Namespaced',
    'mutate-widget-v1beta1.apps.example.com https://h/mutate-apps-example-com-v1beta1-widget apps.example.com/v1beta1/widgets CREATE,UPDATE Namespaced',
  ])
  t.match(validating[0]!.rules[0].operations, ['CREATE', 'UPDATE', 'DELETE'])
  t.strictSame(
    Object.keys(validating[0]!),
    ['name', 'clientConfig', 'rules', 'admissionReviewVersions', 'sideEffects', 'failurePolicy', 'timeoutSeconds'],
    'omitted settings are left to the API server',
  )
})

t.test('an entry has all fields that the API server does not default', (t) => {
  const operators = [
    defineOperator({ name: 'a', kinds: [], webhooks: [defineWebhook(widget)] }),
    defineOperator({ name: 'b', kinds: [], webhooks: [defineWebhook(pod, { validate })] }),
  ]
  const target = { service: { namespace: 'ns', name: 's', port: 8443 } }
  const [mutating, validating, ...others] = webhookConfigurations(operators, target, namesOf('mine'))
  t.strictSame(others, [])
  const labels = { 'app.kubernetes.io/name': 'mine', 'app.kubernetes.io/part-of': 'mine' }
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const { webhooks: mutatingEntries, ...mutatingHead } = mutating!
  t.strictSame(mutatingHead, { apiVersion, kind: 'MutatingWebhookConfiguration', metadata: { name: 'mine-mutating', labels } })
  t.strictSame((mutatingEntries as Entry[])[0], {
    name: 'mutate-widget-v1.apps.example.com',
    clientConfig: { service: { namespace: 'ns', name: 's', path: '/mutate-apps-example-com-v1-widget', port: 8443 } },
    rules: [
      {
        apiGroups: ['apps.example.com'],
        apiVersions: ['v1'],
        resources: ['widgets'],
        operations: ['CREATE', 'UPDATE'],
        scope: 'Namespaced',
      },
    ],
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    timeoutSeconds: 10,
  })
  t.equal((mutatingEntries as Entry[]).length, 2)
  const { webhooks: validatingEntries, ...validatingHead } = validating!
  t.strictSame(validatingHead, { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name: 'mine-validating', labels } })
  t.strictSame((validatingEntries as Entry[]).map(({ name }) => name), [
    'validate-widget-v1.apps.example.com',
    'validate-widget-v1beta1.apps.example.com',
    'validate-pod-v1.core.mine',
  ]) // prettier-ignore
  t.strictSame(webhookConfigurations([defineOperator({ name: 'c', kinds: [] })], target, namesOf('mine')), [])
  t.end()
})

t.test('a configuration without entries exists, so that former entries are removed', (t) => {
  const { mutating, validating } = entriesOf([defineWebhook(pod, { validate })])
  t.strictSame(mutating, [])
  t.equal(validating.length, 1)
  t.end()
})

t.test('a URL may end with a slash', (t) => {
  t.strictSame(clientConfig({ url: 'https://h:1/' }, '/convert'), { url: 'https://h:1/convert' })
  t.strictSame(clientConfig({ url: 'https://h:1/below' }, '/convert'), { url: 'https://h:1/below/convert' })
  t.strictSame(clientConfig({ service: { namespace: 'a', name: 'b' } }, '/c'), { service: { namespace: 'a', name: 'b', path: '/c' } })
  t.end()
})

t.test('other types and subresources have their entries', async (t) => {
  const fill = <T>(object: T): T => object
  const { mutating, validating } = entriesOf([
    defineWebhook(pod, { default: fill }),
    defineWebhook(pod, { subresource: 'exec', default: fill, validate }),
    defineWebhook(deployment, { validate, name: 'strict', matchPolicy: 'Exact' }),
    defineWebhook(node, { subresource: 'proxy', validate }),
    defineWebhook(widget, { subresource: 'scale', validate }),
    defineWebhook(anyResource, { subresource: 'scale', validate }),
  ])
  t.strictSame(mutating.map(summary), [
    'mutate-pod-v1.core.proreus https://h/mutate--v1-pod /v1/pods CREATE,UPDATE Namespaced',
    'mutate-pod-exec-v1.core.proreus https://h/mutate--v1-pod/exec /v1/pods/exec CONNECT Namespaced',
  ])
  t.strictSame(validating.map(summary), [
    'validate-pod-exec-v1.core.proreus https://h/validate--v1-pod/exec /v1/pods/exec CONNECT Namespaced',
    'strict.validate-deployment-v1.apps.proreus https://h/validate-apps-v1-deployment.strict apps/v1/deployments CREATE,UPDATE Namespaced',
    'validate-node-proxy-v1.core.proreus https://h/validate--v1-node/proxy /v1/nodes/proxy CONNECT Cluster',
    'validate-widget-scale-v1.apps.example.com https://h/validate-apps-example-com-v1-widget/scale apps.example.com/v1/widgets/scale UPDATE Namespaced',
    'validate-any-scale.any.proreus https://h/validate-any/scale */*/*/scale UPDATE *',
  ])
})

t.test('settings of a webhook are in its entry', async (t) => {
  const declared = {
    timeoutSeconds: 3,
    failurePolicy: 'Ignore',
    sideEffects: 'NoneOnDryRun',
    matchPolicy: 'Exact',
    namespaceSelector: { matchLabels: { team: 'a' } },
    objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
    matchConditions: [{ name: 'not-nodes', expression: "!('system:nodes' in request.userInfo.groups)" }],
  } as const
  const { mutating, validating } = entriesOf([defineWebhook(widget, { ...declared, scope: '*', reinvocationPolicy: 'IfNeeded' })])
  t.match(mutating[0], { ...declared, reinvocationPolicy: 'IfNeeded', rules: [{ scope: '*' }] })
  t.match(validating[0], { ...declared, rules: [{ scope: '*' }] })
  t.notOk('reinvocationPolicy' in validating[0]!, 'it is for mutating webhooks only')
  t.notOk(Object.isFrozen(mutating[0]!.objectSelector))
})

t.test('webhooks for other types exclude the namespaces that must work without them', async (t) => {
  const excluded = (own: string): object => ({
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', own] }],
  })
  const selectorOf = (definition: WebhookDefinition, target?: WebhookTarget): unknown =>
    entriesOf([definition], target).validating[0]!.namespaceSelector
  t.strictSame(selectorOf(defineWebhook(pod, { validate })), excluded('proreus-system'))
  t.strictSame(selectorOf(defineWebhook(pod, { validate }), { service: { namespace: 'mine', name: 's' } }), excluded('mine'))
  t.strictSame(selectorOf(defineWebhook(pod, { validate, namespaceSelector: {} })), {}, 'unless it is set')
  t.equal(selectorOf(defineWebhook(widget, { validate })), undefined, 'an exception would bypass the validation')
  t.equal(selectorOf(defineWebhook(widget, { subresource: 'status', validate })), undefined)
})

t.test('the types that handlers read are granted', async (t) => {
  const operator = defineOperator({
    name: 'o',
    kinds: [],
    webhooks: [defineWebhook(pod, { validate, reads: [configMap], rbac: [accessReviewRule] })],
  })
  t.match(managerRole([operator], namesOf('o')).rules, [
    { resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
    { resources: ['events'] },
    {},
    {},
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ])
})
