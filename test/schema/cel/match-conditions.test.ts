/** Match conditions without an API server: what compiles, and what several of them say together. */
import t from 'tap'
import type { Decide } from '../../../src/schema/cel/library/authorization.ts'
import { AuthorizerValue, ResourceCheck } from '../../../src/schema/cel/library/authorization.ts'
import { compileMatchCondition, evaluateMatchConditions } from '../../../src/schema/cel/match-conditions.ts'

const asked: string[] = []
const decide: Decide = ({ user, verb, group, resource, subresource, namespace, name, path }) => {
  asked.push([user.username, verb, path ?? `${group}/${resource}/${subresource} ${namespace}/${name}`].join(' '))
  return { allowed: verb === 'get', reason: 'because' }
}
const authorizer = new AuthorizerValue({ username: 'jane', groups: ['devs'] }, decide)
const requestResource = new ResourceCheck(authorizer, { group: '', resource: 'pods', subresource: '', namespace: 'n', name: 'a' })
const given = { object: { spec: { size: 3 } }, oldObject: undefined, request: { operation: 'CREATE' }, authorizer, requestResource }

function evaluate(...expressions: string[]): ReturnType<typeof evaluateMatchConditions> {
  return evaluateMatchConditions(expressions.map(compileMatchCondition), given)
}

t.test('what is no condition is refused in the words of the API server', (t) => {
  t.strictSame(compileMatchCondition('object.spec.size'), { problem: 'must evaluate to bool but got dyn', internal: false })
  t.match(compileMatchCondition('request.uid == ""'), { problem: /^compilation failed: .*undefined field 'uid'/, internal: false })
  t.match(compileMatchCondition('int("a") == 1'), { problem: /^program instantiation failed: /, internal: true })
  t.end()
})

t.test('all must be true, a false one decides, and errors are told together', (t) => {
  t.equal(evaluate('object.spec.size == 3', 'oldObject == null', 'request.operation == "CREATE"'), undefined)
  t.strictSame(evaluate('object.x == 1', 'object.spec.size == 4'), {})
  const error = (field: string): string => `expression 'object.${field} == 1' resulted in error: no such key: ${field}`
  t.strictSame(evaluate('object.x == 1'), { error: error('x') })
  t.strictSame(evaluate('object.x == 1', 'true', 'object.y == 1', 'object.x == 1'), { error: `[${error('x')}, ${error('y')}]` })
  t.end()
})

t.test('the authorizer is asked for the requester, a resource, a path, or a service account', (t) => {
  asked.length = 0
  const conditions = [
    'authorizer.requestResource.check("get").allowed()',
    'authorizer.group("apps").resource("deployments").subresource("scale").namespace("m").name("b").check("get").reason() == "because"',
    'authorizer.path("/healthz").check("get").allowed()',
    '!authorizer.serviceAccount("m", "robot").group("").resource("pods").check("delete").allowed()',
  ]
  t.equal(evaluate(...conditions), undefined)
  t.strictSame(asked, [
    'jane get /pods/ n/a',
    'jane get apps/deployments/scale m/b',
    'jane get /healthz',
    'system:serviceaccount:m:robot delete /pods/ /',
  ])
  t.end()
})
