/** Tests of the defaults and the validation of webhook configurations. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { configurationOf, configurationPath } from '../support/conformance/admission.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const controlPlane = await conformanceControlPlane(t, { controllers: false })
const api = apiOf(t, controlPlane.connection)

const rule: JsonObject = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
const webhook: JsonObject = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1:1/path' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [rule],
}
const without = (field: string): JsonObject => Object.fromEntries(Object.entries(webhook).filter(([name]) => name !== field))

t.test('a webhook configuration gets its defaults', needsOwnControlPlane, async (t) => {
  for (const type of ['mutating', 'validating'] as const) {
    const service = { namespace: 'default', name: 'hooks' }
    const given = [webhook, { ...without('rules'), name: 'b.example.com', clientConfig: { service } }]
    const { status, body } = await api('POST', `${configurationPath(type)}?dryRun=All`, { body: configurationOf(type, 'defaults', given) })
    t.equal(status, 201)
    const defaults = {
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      ...(type === 'mutating' ? { reinvocationPolicy: 'Never' } : {}),
    }
    t.strictSame(body.webhooks, [
      { ...webhook, ...defaults, rules: [{ ...rule, scope: '*' }] },
      { ...without('rules'), ...defaults, name: 'b.example.com', clientConfig: { service: { ...service, port: 443 } } },
    ])
    t.match(body.metadata, { name: 'defaults', generation: 1 })
  }
})

interface Refusal {
  readonly webhooks: readonly JsonObject[]
  /** The expected causes, each as `reason field: message`. */
  readonly causes: readonly string[]
}

const one = (more: JsonObject): JsonObject[] => [{ ...webhook, ...more }]
const client = (clientConfig: JsonObject): JsonObject[] => one({ clientConfig })
const service = (more: JsonObject): JsonObject[] => client({ service: { namespace: 'default', name: 'hooks', ...more } })
const rules = (more: JsonObject): JsonObject[] => one({ rules: [{ ...rule, ...more }] })
const form = 'desired format: https://host[/path]'
const at = 'webhooks[0]'
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

const refusals: Record<string, Refusal> = {
  'no name': { webhooks: [without('name')], causes: [`FieldValueRequired ${at}.name: Required value`] },
  'a short name': {
    webhooks: one({ name: 'a.b' }),
    causes: [`FieldValueInvalid ${at}.name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`],
  },
  'a bad name': {
    webhooks: one({ name: 'A_.example.com' }),
    causes: [`FieldValueInvalid ${at}.name: Invalid value: "A_.example.com": ${subdomain}`],
  },
  'the same name twice': {
    webhooks: [webhook, webhook],
    causes: ['FieldValueDuplicate webhooks[1].name: Duplicate value: "a.example.com"'],
  },
  'no client': {
    webhooks: [without('clientConfig')],
    causes: [`FieldValueRequired ${at}.clientConfig: Required value: exactly one of url or service is required`],
  },
  'url and service': {
    webhooks: client({ url: 'https://a', service: { namespace: 'a', name: 'b' } }),
    causes: [`FieldValueRequired ${at}.clientConfig: Required value: exactly one of url or service is required`],
  },
  http: {
    webhooks: client({ url: 'http://127.0.0.1/' }),
    causes: [`FieldValueInvalid ${at}.clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; ${form}`],
  },
  'no host': {
    webhooks: client({ url: 'https:///path' }),
    causes: [`FieldValueInvalid ${at}.clientConfig.url: Invalid value: "": host must be specified; ${form}`],
  },
  'no scheme': {
    webhooks: client({ url: '127.0.0.1' }),
    causes: [
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "": 'https' is the only allowed URL scheme; ${form}`,
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "": host must be specified; ${form}`,
    ],
  },
  'an empty URL': {
    webhooks: client({ url: '' }),
    causes: [
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "": 'https' is the only allowed URL scheme; ${form}`,
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "": host must be specified; ${form}`,
    ],
  },
  'user, query and fragment': {
    webhooks: client({ url: 'https://me:pw@host/path?a=b#c' }),
    causes: [
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "me:pw": user information is not permitted in the URL`,
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "c": fragments are not permitted in the URL`,
      `FieldValueInvalid ${at}.clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL`,
    ],
  },
  'no service name': {
    webhooks: client({ service: {} }),
    causes: [
      `FieldValueRequired ${at}.clientConfig.service.name: Required value`,
      `FieldValueRequired ${at}.clientConfig.service.namespace: Required value`,
    ],
  },
  'a bad port': {
    webhooks: service({ port: 70000 }),
    causes: [
      `FieldValueInvalid ${at}.clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
    ],
  },
  'a port of zero': {
    webhooks: service({ port: 0 }),
    causes: [
      `FieldValueInvalid ${at}.clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive`,
    ],
  },
  'a bad path': {
    webhooks: service({ path: 'a//b_/' }),
    causes: [
      `FieldValueInvalid ${at}.clientConfig.service.path: Invalid value: "a//b_/": must start with a '/'`,
      `FieldValueInvalid ${at}.clientConfig.service.path: Invalid value: "a//b_/": segment[0] may not be empty`,
      `FieldValueInvalid ${at}.clientConfig.service.path: Invalid value: "a//b_/": segment[1] may not be empty`,
      `FieldValueInvalid ${at}.clientConfig.service.path: Invalid value: "a//b_/": segment[2]: ${subdomain}`,
    ],
  },
  'a doubled slash': {
    webhooks: service({ path: '//' }),
    causes: [`FieldValueInvalid ${at}.clientConfig.service.path: Invalid value: "//": segment[0] may not be empty`],
  },
  'no sideEffects': {
    webhooks: [without('sideEffects')],
    causes: [`FieldValueRequired ${at}.sideEffects: Required value: must specify one of None, NoneOnDryRun`],
  },
  'side effects': {
    webhooks: one({ sideEffects: 'Some' }),
    causes: [`FieldValueNotSupported ${at}.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`],
  },
  'no review versions': {
    webhooks: [without('admissionReviewVersions')],
    causes: [`FieldValueRequired ${at}.admissionReviewVersions: Required value: must specify one of v1, v1beta1`],
  },
  'unknown review versions': {
    webhooks: one({ admissionReviewVersions: ['v2', 'v3'] }),
    causes: [`FieldValueInvalid ${at}.admissionReviewVersions: Invalid value: ["v2","v3"]: must include at least one of v1, v1beta1`],
  },
  'odd review versions': {
    webhooks: one({ admissionReviewVersions: ['v1', 'V_', 'v1'] }),
    causes: [
      `FieldValueInvalid ${at}.admissionReviewVersions[1]: Invalid value: "V_": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
      `FieldValueInvalid ${at}.admissionReviewVersions[2]: Invalid value: "v1": duplicate version`,
    ],
  },
  'no time': {
    webhooks: one({ timeoutSeconds: 0 }),
    causes: [`FieldValueInvalid ${at}.timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds`],
  },
  'too much time': {
    webhooks: one({ timeoutSeconds: 31 }),
    causes: [`FieldValueInvalid ${at}.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`],
  },
  'unknown policies': {
    webhooks: one({ failurePolicy: 'Maybe', matchPolicy: 'Fuzzy' }),
    causes: [
      `FieldValueNotSupported ${at}.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"`,
      `FieldValueNotSupported ${at}.matchPolicy: Unsupported value: "Fuzzy": supported values: "Equivalent", "Exact"`,
    ],
  },
  'an empty rule': {
    webhooks: one({ rules: [{}] }),
    causes: [
      `FieldValueRequired ${at}.rules[0].operations: Required value`,
      `FieldValueRequired ${at}.rules[0].apiGroups: Required value`,
      `FieldValueRequired ${at}.rules[0].apiVersions: Required value`,
      `FieldValueRequired ${at}.rules[0].resources: Required value`,
    ],
  },
  'empty texts': {
    webhooks: rules({ apiVersions: [''], resources: [''], operations: [''] }),
    causes: [
      `FieldValueNotSupported ${at}.rules[0].operations[0]: Unsupported value: "": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
      `FieldValueRequired ${at}.rules[0].apiVersions[0]: Required value`,
      `FieldValueRequired ${at}.rules[0].resources[0]: Required value`,
    ],
  },
  'an unknown operation': {
    webhooks: rules({ operations: ['CREATE', 'READ'] }),
    causes: [
      `FieldValueNotSupported ${at}.rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
    ],
  },
  'all operations and one': {
    webhooks: rules({ operations: ['*', 'CREATE'] }),
    causes: [
      `FieldValueInvalid ${at}.rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
    ],
  },
  'all groups and versions, and one': {
    webhooks: rules({ apiGroups: ['*', 'a'], apiVersions: ['v1', '*'] }),
    causes: [
      `FieldValueInvalid ${at}.rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
      `FieldValueInvalid ${at}.rules[0].apiVersions: Invalid value: ["v1","*"]: if '*' is present, must not specify other API versions`,
    ],
  },
  'all resources and one': {
    webhooks: rules({ resources: ['*', 'pods'] }),
    causes: [
      `FieldValueInvalid ${at}.rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  },
  'everything and one': {
    webhooks: rules({ resources: ['*/*', 'pods'] }),
    causes: [
      `FieldValueInvalid ${at}.rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources`,
    ],
  },
  'all subresources and one': {
    webhooks: rules({ resources: ['pods/*', 'pods/status', '*/scale', 'pods/scale'] }),
    causes: [
      `FieldValueInvalid ${at}.rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`,
      `FieldValueInvalid ${at}.rules[0].resources[3]: Invalid value: "pods/scale": if 'pods/*' is present, must not specify pods/scale`,
      `FieldValueInvalid ${at}.rules[0].resources[3]: Invalid value: "pods/scale": if '*/scale' is present, must not specify pods/scale`,
    ],
  },
  'an unknown scope': {
    webhooks: rules({ scope: 'World' }),
    causes: [`FieldValueNotSupported ${at}.rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"`],
  },
  'bad selectors': {
    webhooks: one({
      namespaceSelector: { matchLabels: { 'a b': 'c' } },
      objectSelector: {
        matchExpressions: [
          { key: 'a', operator: 'Like' },
          { key: 'b', operator: 'In' },
          { key: 'c', operator: 'Exists', values: ['d'] },
        ],
      },
    }),
    causes: [
      `FieldValueInvalid ${at}.namespaceSelector.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      `FieldValueInvalid ${at}.objectSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`,
      `FieldValueRequired ${at}.objectSelector.matchExpressions[1].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      `FieldValueForbidden ${at}.objectSelector.matchExpressions[2].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
  },
}

t.test('an invalid webhook configuration is refused with every error', needsOwnControlPlane, async (t) => {
  for (const type of ['mutating', 'validating'] as const)
    for (const [what, { webhooks, causes }] of Object.entries(refusals)) {
      const { body } = await api('POST', `${configurationPath(type)}?dryRun=All`, { body: configurationOf(type, 'wrong', webhooks) })
      t.match(body, { reason: 'Invalid', code: 422 }, what)
      const found = ((body.details as JsonObject | undefined)?.causes ?? []) as { reason: string; field: string; message: string }[]
      t.strictSame(
        found.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).toSorted(),
        causes.toSorted(),
        `${type}: ${what}`,
      )
    }
})

t.test('reinvocationPolicy is validated in mutating webhooks only', needsOwnControlPlane, async (t) => {
  const body = configurationOf('mutating', 'wrong', one({ reinvocationPolicy: 'Often' }))
  const refused = await api('POST', `${configurationPath('mutating')}?dryRun=All`, { body })
  const text = 'Unsupported value: "Often": supported values: "IfNeeded", "Never"'
  t.strictSame(refused.body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `MutatingWebhookConfiguration.admissionregistration.k8s.io "wrong" is invalid: webhooks[0].reinvocationPolicy: ${text}`,
    reason: 'Invalid',
    details: {
      name: 'wrong',
      group: 'admissionregistration.k8s.io',
      kind: 'MutatingWebhookConfiguration',
      causes: [{ reason: 'FieldValueNotSupported', message: text, field: 'webhooks[0].reinvocationPolicy' }],
    },
    code: 422,
  })
})
