import t from 'tap'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { loggedError, missingRule, permissionAdvice } from '../../src/client/missing-rule.ts'

const forbidden = (message: string): ApiError => new ApiError(failure(403, 'Forbidden', message))
const user = 'User "system:serviceaccount:system:hello"'
const refused = forbidden(`configmaps is forbidden: ${user} cannot create resource "configmaps" in API group "" in the namespace "default"`)
const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }

t.test('an RBAC refusal yields the missing rule', async (t) => {
  t.strictSame(missingRule(refused), rule)
  const status = `widgets.example.com "a" is forbidden: ${user} cannot patch resource "widgets/status" in API group "example.com" at the cluster scope`
  t.strictSame(missingRule(forbidden(status)), { apiGroups: ['example.com'], resources: ['widgets/status'], verbs: ['patch'] })
  const path = `forbidden: ${user} cannot get path "/metrics"`
  t.strictSame(missingRule(forbidden(path)), { apiGroups: [], resources: [], nonResourceURLs: ['/metrics'], verbs: ['get'] })
  const quoted = 'x is forbidden: User "a \\" cannot x" cannot list resource "pods" in API group ""'
  t.strictSame(missingRule(forbidden(quoted)), { apiGroups: [''], resources: ['pods'], verbs: ['list'] })
})

t.test('an RBAC refusal is found in causes', async (t) => {
  t.strictSame(missingRule(new Error('no ConfigMap', { cause: refused })), rule)
  t.strictSame(missingRule(new AggregateError([new Error('a'), new Error('b', { cause: refused })])), rule)
  const other = forbidden(`pods is forbidden: ${user} cannot list resource "pods" in API group "" at the cluster scope`)
  t.strictSame(missingRule(new AggregateError([refused, other])), rule, 'the first')
  t.equal(missingRule(new AggregateError([new Error('a'), 'b', undefined])), undefined)
})

t.test('other refusals yield no rule', async (t) => {
  for (const error of [
    forbidden('pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'),
    forbidden('admission webhook "x" denied the request: not today'),
    new ApiError(failure(409, 'Conflict', refused.message)),
    new Error(refused.message),
    refused.message,
    null,
    undefined,
  ])
    t.equal(missingRule(error), undefined)
})

t.test('the advice is the rule as source code', async (t) => {
  t.equal(
    permissionAdvice(refused, 'controller'),
    ": it lacks a permission; add { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] } to the `rbac` of the controller, and apply its RBAC anew",
  )
  const path = forbidden(`forbidden: ${user} cannot get path "/metrics"`)
  t.equal(
    permissionAdvice(new Error('x', { cause: path }), 'webhook'),
    ": it lacks a permission; add { apiGroups: [], resources: [], nonResourceURLs: ['/metrics'], verbs: ['get'] } to the `rbac` of the webhook, and apply its RBAC anew",
  )
  t.equal(permissionAdvice(new Error('x'), 'webhook'), '')
})

t.test('a missing permission is logged without a stack, and any other error with its stack', async (t) => {
  t.match(loggedError(refused), { type: 'ApiError', message: refused.message, reason: 'Forbidden', statusCode: 403 })
  t.notOk('stack' in (loggedError(refused) as object))
  t.match(loggedError(new Error('no ConfigMap', { cause: refused })), { message: `no ConfigMap: ${refused.message}` })
  for (const error of [
    new Error('x'),
    forbidden('pods "a" is forbidden: exceeded quota'),
    new AggregateError([refused]),
    'text',
    undefined,
  ])
    t.equal(loggedError(error), error)
})
