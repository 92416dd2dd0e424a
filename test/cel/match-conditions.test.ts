/** Tests of match conditions without an API server: the compilation of each condition, and the combined result of several conditions. */
import t from 'tap'
import type { Decide } from '../../src/cel/library/authorization.ts'
import { AuthorizerValue, ResourceCheck } from '../../src/cel/library/authorization.ts'
import { compileMatchCondition, evaluateMatchConditions } from '../../src/cel/match-conditions.ts'

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

t.test('an invalid condition is refused with the message of the API server', (t) => {
  t.strictSame(compileMatchCondition('object.spec.size'), { problem: 'must evaluate to bool but got dyn', internal: false })
  t.strictSame(compileMatchCondition("[duration('1s')]"), {
    problem: 'must evaluate to bool but got list(google.protobuf.Duration)',
    internal: false,
  })
  t.strictSame(compileMatchCondition('null'), { problem: 'must evaluate to bool but got null_type', internal: false })
  t.match(compileMatchCondition('request.uid == ""'), { problem: /^compilation failed: .*undefined field 'uid'/, internal: false })
  t.match(compileMatchCondition('int("a") == 1'), { problem: /^program instantiation failed: /, internal: true })
  t.end()
})

t.test('all conditions must be true, a false one takes precedence, and errors are reported together', (t) => {
  t.equal(evaluate('object.spec.size == 3', 'oldObject == null', 'request.operation == "CREATE"'), undefined)
  t.strictSame(evaluate('object.x == 1', 'object.spec.size == 4'), {})
  const error = (field: string): string => `expression 'object.${field} == 1' resulted in error: no such key: ${field}`
  t.strictSame(evaluate('object.x == 1'), { error: error('x') })
  t.strictSame(evaluate('object.y == 1', 'object.x == 1'), { error: `[${error('y')}, ${error('x')}]` })
  const undeclared = (name: string): string =>
    `compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to '${name}' (in container '')\n | ${name}\n | ^`
  t.strictSame(evaluate('object.y == 1', 'z', 'u', 'object.x == 1'), {
    error: `[${error('y')}, ${undeclared('z')}, ${undeclared('u')}, ${error('x')}]`,
  })
  t.strictSame(evaluate('object.x == 1', 'true', 'object.y == 1', 'object.x == 1'), { error: `[${error('x')}, ${error('y')}]` })
  t.end()
})

t.test('a missing object is null', (t) => {
  const conditions = (...sources: string[]): ReturnType<typeof compileMatchCondition>[] => sources.map(compileMatchCondition)
  const object = { spec: { size: 3 } }
  const created = { ...given, object, oldObject: undefined }
  t.equal(evaluateMatchConditions(conditions('object.spec.size == 3', 'oldObject == null', 'namespaceObject == null'), created), undefined)
  const deleted = { ...given, object: undefined, oldObject: object }
  t.equal(evaluateMatchConditions(conditions('object == null', 'oldObject.spec.size == 3'), deleted), undefined)
  t.end()
})

t.test('no conditions are all true', (t) => {
  t.equal(evaluate(), undefined)
  t.end()
})

t.test('the authorizer is called for the requester or a ServiceAccount, with a resource or a path', (t) => {
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

t.test('the name of a ServiceAccount is a DNS subdomain, and its namespace a DNS label', (t) => {
  const condition = (namespace: string, name: string): string =>
    `authorizer.serviceAccount("${namespace}", "${name}").group("").resource("pods").check("get").allowed()`
  t.equal(evaluate(condition('m', 'a.b')), undefined)
  t.match(evaluate(condition('m.n', 'a')), { error: /Invalid service account namespace$/ })
  t.match(evaluate(condition('m', 'a..b')), { error: /Invalid service account name$/ })
  t.end()
})

/** The types of expressions, as kube-apiserver 1.36.3 reports them. */
const types: Readonly<Record<string, string>> = {
  object: 'dyn',
  oldObject: 'dyn',
  request: 'kubernetes.AdmissionRequest',
  'request.kind': 'kubernetes.GroupVersionKind',
  'request.kind.group': 'string',
  'request.kind.version': 'string',
  'request.kind.kind': 'string',
  'request.resource': 'kubernetes.GroupVersionResource',
  'request.resource.group': 'string',
  'request.resource.version': 'string',
  'request.resource.resource': 'string',
  'request.subResource': 'string',
  'request.requestKind': 'kubernetes.GroupVersionKind',
  'request.requestResource': 'kubernetes.GroupVersionResource',
  'request.requestSubResource': 'string',
  'request.name': 'string',
  'request.namespace': 'string',
  'request.operation': 'string',
  'request.userInfo': 'kubernetes.UserInfo',
  'request.userInfo.username': 'string',
  'request.userInfo.uid': 'string',
  'request.userInfo.groups': 'list(string)',
  'request.userInfo.extra': 'map(string, list(string))',
  'request.dryRun': 'bool',
  'request.options': 'dyn',
  namespaceObject: 'kubernetes.Namespace',
  'namespaceObject.metadata': 'kubernetes.NamespaceMetadata',
  'namespaceObject.metadata.name': 'string',
  'namespaceObject.metadata.generateName': 'string',
  'namespaceObject.metadata.namespace': 'string',
  'namespaceObject.metadata.labels': 'map(string, string)',
  'namespaceObject.metadata.annotations': 'map(string, string)',
  'namespaceObject.metadata.UID': 'string',
  'namespaceObject.metadata.creationTimestamp': 'google.protobuf.Timestamp',
  'namespaceObject.metadata.deletionGracePeriodSeconds': 'int',
  'namespaceObject.metadata.deletionTimestamp': 'google.protobuf.Timestamp',
  'namespaceObject.metadata.generation': 'int',
  'namespaceObject.metadata.resourceVersion': 'string',
  'namespaceObject.metadata.finalizers': 'list(string)',
  'namespaceObject.spec': 'kubernetes.NamespaceSpec',
  'namespaceObject.spec.finalizers': 'list(string)',
  'namespaceObject.status': 'kubernetes.NamespaceStatus',
  'namespaceObject.status.phase': 'string',
  'namespaceObject.status.conditions': 'list(kubernetes.NamespaceCondition)',
  'namespaceObject.status.conditions[0].status': 'string',
  'namespaceObject.status.conditions[0].type': 'string',
  'namespaceObject.status.conditions[0].lastTransitionTime': 'google.protobuf.Timestamp',
  'namespaceObject.status.conditions[0].message': 'string',
  'namespaceObject.status.conditions[0].reason': 'string',
  authorizer: 'kubernetes.authorization.Authorizer',
  'authorizer.requestResource': 'kubernetes.authorization.ResourceCheck',
  "authorizer.path('/')": 'kubernetes.authorization.PathCheck',
  "authorizer.group('')": 'kubernetes.authorization.GroupCheck',
  "authorizer.serviceAccount('a', 'b')": 'kubernetes.authorization.Authorizer',
  "authorizer.path('/').check('get')": 'kubernetes.authorization.Decision',
}

t.test('the variables and functions of conditions have the types of the API server', (t) => {
  // The condition is a list whose only item is the expression. The condition is invalid, because a condition must be a bool. The error
  // contains the type of the list, and therefore also the type of the expression.
  for (const [source, type] of Object.entries(types)) {
    t.strictSame(compileMatchCondition(`[${source}]`), { problem: `must evaluate to bool but got list(${type})`, internal: false }, source)
  }
  for (const name of ['request.uid', 'request.object', 'namespaceObject.metadata.uid', 'params', 'variables', 'self']) {
    t.match(compileMatchCondition(`[${name}]`), { problem: /^compilation failed: ERROR: .*(?:undefined field|undeclared reference)/ }, name)
  }
  t.end()
})

t.test('all conditions share one cost budget', (t) => {
  // An authorization check has the CEL cost 350,000. The rest of the expression has only a small cost.
  const check = "authorizer.path('/').check('get').allowed()"
  const costs = (count: number): string => Array.from({ length: count }, () => check).join(' && ')
  t.equal(evaluate(costs(2), costs(2), costs(2)), undefined)
  t.equal(evaluate(costs(2), costs(2), costs(2), check), undefined)
  const error = 'validation failed due to running out of cost budget, no further validation rules will be run'
  t.strictSame(evaluate(costs(2), costs(2), costs(2), check, check), { error })
  t.strictSame(evaluate('false', costs(2), costs(2), costs(2), costs(2)), { error }, 'even when one is false')
  t.strictSame(evaluate(costs(3)), { error: `expression '${costs(3)}' resulted in error: operation cancelled: actual cost limit exceeded` })
  t.strictSame(evaluate('zz', 'false'), {})
  t.match(evaluate('zz', 'true'), { error: /^compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'zz'/ })
  t.end()
})
