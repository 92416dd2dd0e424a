import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { AdmissionAttributes } from '../../../src/devcluster/admission/admission.ts'
import { hooksOf } from '../../../src/devcluster/admission/hook.ts'
import type { MatchState } from '../../../src/devcluster/admission/matcher.ts'
import { matchHook } from '../../../src/devcluster/admission/matcher.ts'
import { attributesOf, custom, namespaces, nodes, pods } from '../../support/devcluster/admission.ts'

const state: MatchState = {
  namespaceLabels: (name) => ({ default: { env: 'dev' }, prod: { env: 'prod' } })[name],
  otherVersions: (info) => (info === custom.v1 ? [custom.v2] : info === custom.v2 ? [custom.v1] : []),
}

function matches(webhook: JsonObject, attributes: AdmissionAttributes): string | undefined {
  const [hook] = hooksOf([{ metadata: { name: 'c' }, webhooks: [{ name: 'w.example.com', clientConfig: {}, ...webhook }] }])
  const info = matchHook(hook!, attributes, state)
  return info && `${info.plural}.${info.version}`
}

const rule = (resources: string[], more: JsonObject = {}): JsonObject => ({
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources, ...more }],
})

const table: [string, JsonObject, AdmissionAttributes, boolean][] = [
  ['pods', rule(['pods']), attributesOf(pods), true],
  ['pods does not mean pods/status', rule(['pods']), attributesOf(pods, { subresource: 'status' }), false],
  ['* does not mean subresources', rule(['*']), attributesOf(pods, { subresource: 'status' }), false],
  ['*/* means everything', rule(['*/*']), attributesOf(pods, { subresource: 'status' }), true],
  ['pods/* means subresources', rule(['pods/*']), attributesOf(pods, { subresource: 'binding' }), true],
  ['pods/* means the pods, too', rule(['pods/*']), attributesOf(pods), true],
  ['*/status', rule(['*/status']), attributesOf(pods, { subresource: 'status' }), true],
  ['another operation', rule(['pods'], { operations: ['UPDATE', 'DELETE'] }), attributesOf(pods), false],
  ['another group', rule(['pods'], { apiGroups: ['apps'] }), attributesOf(pods), false],
  ['another version', rule(['pods'], { apiVersions: ['v2'] }), attributesOf(pods), false],
  ['scope Namespaced', rule(['*'], { scope: 'Namespaced' }), attributesOf(nodes), false],
  ['scope Cluster', rule(['*'], { scope: 'Cluster' }), attributesOf(nodes), true],
  ['scope Cluster includes namespaces', rule(['*'], { scope: 'Cluster' }), attributesOf(namespaces), true],
  ['scope Namespaced and a Pod', rule(['*'], { scope: 'Namespaced' }), attributesOf(pods), true],
  ['scope Cluster and a Pod', rule(['*'], { scope: 'Cluster' }), attributesOf(pods), false],
  ['any scope', rule(['*'], { scope: '*' }), attributesOf(nodes), true],
  ['another type', rule(['services']), attributesOf(pods), false],
  ['the second of several types', rule(['services', 'pods']), attributesOf(pods), true],
  ['a subresource of another type', rule(['services/*']), attributesOf(pods, { subresource: 'status' }), false],
  ['another subresource', rule(['pods/log']), attributesOf(pods, { subresource: 'status' }), false],
  ['*/status does not mean the object', rule(['*/status']), attributesOf(pods), false],
  ['the operation', rule(['pods'], { operations: ['UPDATE', 'DELETE'] }), attributesOf(pods, { operation: 'DELETE' }), true],
  ['the group', rule(['*'], { apiGroups: ['example.com'] }), attributesOf(custom.v1), true],
  ['the version', rule(['*'], { apiVersions: ['v2', 'v1'] }), attributesOf(pods), true],
  [
    'the second rule',
    { rules: [...(rule(['nodes']).rules as JsonObject[]), ...(rule(['pods']).rules as JsonObject[])] },
    attributesOf(pods),
    true,
  ],
  [
    'namespaceSelector and a namespace that is deleted: its own labels',
    { ...rule(['namespaces']), namespaceSelector: { matchLabels: { env: 'prod' } } },
    (({ object: _object, ...rest }) => rest)(attributesOf(namespaces, { name: 'prod', operation: 'DELETE' })),
    true,
  ],
  [
    'namespaceSelector and a namespace that is not there',
    { ...rule(['namespaces']), namespaceSelector: { matchLabels: { env: 'prod' } } },
    (({ object: _object, ...rest }) => rest)(attributesOf(namespaces, { name: 'gone', operation: 'DELETE' })),
    false,
  ],
  [
    'namespaceSelector and a namespace: not its old labels',
    { ...rule(['namespaces']), namespaceSelector: { matchLabels: { env: 'prod' } } },
    attributesOf(namespaces, { name: 'prod', object: { metadata: { name: 'prod' } } }),
    false,
  ],
  [
    'both selectors',
    { ...rule(['pods']), namespaceSelector: { matchLabels: { env: 'prod' } }, objectSelector: { matchLabels: { a: 'b' } } },
    attributesOf(pods, { object: { metadata: { labels: { a: 'b' } } } }),
    false,
  ],
  [
    'objectSelector on what has no labels',
    { ...rule(['pods']), objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } },
    attributesOf(pods, { object: {} }),
    true,
  ],
  ['no rules', {}, attributesOf(pods), false],
  ['namespaceSelector that fits', { ...rule(['pods']), namespaceSelector: { matchLabels: { env: 'dev' } } }, attributesOf(pods), true],
  [
    'namespaceSelector that does not',
    { ...rule(['pods']), namespaceSelector: { matchLabels: { env: 'prod' } } },
    attributesOf(pods),
    false,
  ],
  [
    'namespaceSelector and a cluster-scoped object',
    { ...rule(['nodes']), namespaceSelector: { matchLabels: { env: 'prod' } } },
    attributesOf(nodes),
    true,
  ],
  [
    'namespaceSelector and a namespace: its new labels',
    { ...rule(['namespaces']), namespaceSelector: { matchLabels: { env: 'new' } } },
    attributesOf(namespaces, { name: 'prod', object: { metadata: { name: 'prod', labels: { env: 'new' } } } }),
    true,
  ],
  [
    'objectSelector on the new object',
    { ...rule(['pods']), objectSelector: { matchLabels: { a: 'b' } } },
    attributesOf(pods, { object: { metadata: { labels: { a: 'b' } } } }),
    true,
  ],
  [
    'objectSelector on the old object',
    { ...rule(['pods']), objectSelector: { matchLabels: { a: 'b' } } },
    attributesOf(pods, { object: { metadata: {} }, oldObject: { metadata: { labels: { a: 'b' } } } }),
    true,
  ],
  ['objectSelector that does not fit', { ...rule(['pods']), objectSelector: { matchLabels: { a: 'b' } } }, attributesOf(pods), false],
]

for (const [name, webhook, attributes, expected] of table) {
  t.test(`${name}: ${expected ? 'called' : 'not called'}`, async (t) => {
    t.equal(matches(webhook, attributes) !== undefined, expected)
  })
}

t.test('matchPolicy Equivalent matches rules for another version of the same type', async (t) => {
  t.equal(matches(rule(['things'], { apiVersions: ['v2'] }), attributesOf(custom.v1)), 'things.v2')
  t.equal(matches({ ...rule(['things'], { apiVersions: ['v2'] }), matchPolicy: 'Exact' }, attributesOf(custom.v1)), undefined)
  t.equal(matches(rule(['things']), attributesOf(custom.v2)), 'things.v2', 'a rule for the version of the request is preferred')
  t.equal(matches({ ...rule(['things']), matchPolicy: 'Exact' }, attributesOf(custom.v2)), 'things.v2')
})

t.test('a request in a missing namespace is refused with 404', async (t) => {
  const attributes = attributesOf(pods, { namespace: 'gone' })
  t.throws(() => matches({ ...rule(['pods']), namespaceSelector: { matchLabels: { env: 'dev' } } }, attributes), {
    message: 'namespaces "gone" not found',
  })
})

t.test('the namespace is looked up only for webhooks whose rules match', async (t) => {
  const attributes = attributesOf(pods, { namespace: 'gone' })
  const namespaceSelector = { matchLabels: { env: 'dev' } }
  t.equal(matches({ ...rule(['services']), namespaceSelector }, attributes), undefined)
  t.equal(matches(rule(['pods']), attributes), 'pods.v1', 'an empty selector needs no namespace')
})

t.test('webhook configurations are never sent to webhooks', async (t) => {
  const info = { ...nodes, group: 'admissionregistration.k8s.io', plural: 'validatingwebhookconfigurations' }
  t.equal(matches(rule(['*/*']), attributesOf(info)), undefined)
})

t.test('configurations are called in the order of their names, and their webhooks in order', async (t) => {
  const webhook = (name: string): JsonObject => ({ name, clientConfig: {} })
  const hooks = hooksOf([
    { metadata: { name: 'b' }, webhooks: [webhook('b2'), webhook('b1')] },
    { metadata: { name: 'a' }, webhooks: [webhook('a1')] },
  ])
  t.strictSame(
    hooks.map(({ name }) => name),
    ['a1', 'b2', 'b1'],
  )
})
