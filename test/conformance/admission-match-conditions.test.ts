/** Tests of the match conditions of webhooks: validation of the webhook configuration, and evaluation for requests. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  admissionWorld,
  configMaps,
  configurationOf,
  configurationPath,
  defineWidgets,
  patchResponse,
  webhookOf,
} from '../support/conformance/admission.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-match-conditions'
const group = 'conditions.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const { server, configure } = await admissionWorld(t, api, namespace)
const path = `/api/v1/namespaces/${namespace}/configmaps`

/**
 * Sends a create request for a ConfigMap whose label `hook` has the value of the parameter `hook`. The API server calls only the webhook
 * whose objectSelector matches this label.
 */
function create(hook: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  return api('POST', `${path}?dryRun=All`, { body: { metadata: { name: 'a', labels: { hook } }, data: { a: 'b' } }, headers })
}

function conditional(name: string, expressions: readonly string[], more: JsonObject = {}): JsonObject {
  const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }))
  return webhookOf(server, name, configMaps, { objectSelector: { matchLabels: { hook: name } }, matchConditions, ...more })
}

function forbidden(error: string): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `configmaps "a" is forbidden: ${error}`,
    reason: 'Forbidden',
    details: { name: 'a', kind: 'configmaps' },
    code: 403,
  }
}

const at = 'webhooks[0].matchConditions'
const one = (expression: string): JsonObject[] => [{ name: 'a', expression }]
/**
 * Returns the cause that the `Status` must contain for an invalid expression. The result is one line with the reason, the field and the
 * message of the cause. The message quotes `shown` as the invalid expression, and ends with `problem`.
 */
const compileError = (shown: string, problem: string): string =>
  `FieldValueInvalid ${at}[0].expression: Invalid value: ${JSON.stringify(shown)}: ${problem}`
const failed = (shown: string, problem: string): string => {
  const [, place = ''] = /:(\d+): /.exec(problem) ?? []
  return compileError(shown, `compilation failed: ERROR: <input>:1${problem}\n | ${shown}\n | ${'.'.repeat(Number(place) - 1)}^`)
}

const refusals: Readonly<Record<string, { conditions: JsonObject[]; causes: string[] }>> = {
  syntax: { conditions: one('object.'), causes: [failed('object.', ":8: Syntax error: no viable alternative at input '.'")] },
  'a number': { conditions: one('1'), causes: [compileError('1', 'must evaluate to bool but got int')] },
  'anything at all': { conditions: one('object.x'), causes: [compileError('object.x', 'must evaluate to bool but got dyn')] },
  'a decision that is not asked for its outcome': {
    conditions: one('authorizer.requestResource.check("get")'),
    causes: [compileError('authorizer.requestResource.check("get")', 'must evaluate to bool but got kubernetes.authorization.Decision')],
  },
  'spaces around it': { conditions: one('  foo '), causes: [failed('foo', ":1: undeclared reference to 'foo' (in container '')")] },
  'variables of policies': {
    conditions: one('params.x == 1'),
    causes: [failed('params.x == 1', ":1: undeclared reference to 'params' (in container '')")],
  },
  'the uid of the request': { conditions: one('request.uid == ""'), causes: [failed('request.uid == ""', ":8: undefined field 'uid'")] },
  'the object in the request': {
    conditions: one('request.object == null'),
    causes: [failed('request.object == null', ":8: undefined field 'object'")],
  },
  'another type': {
    conditions: one('request.operation == 1'),
    causes: [failed('request.operation == 1', ":19: found no matching overload for '_==_' applied to '(string, int)'")],
  },
  'a field of the authorizer': {
    conditions: one('authorizer.foo'),
    causes: [failed('authorizer.foo', ":11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'")],
  },
  'a check that is not complete': {
    conditions: one('authorizer.group("a").allowed()'),
    causes: [
      failed(
        'authorizer.group("a").allowed()',
        ":30: found no matching overload for 'allowed' applied to 'kubernetes.authorization.GroupCheck.()'",
      ),
    ],
  },
  'a literal that cannot be': {
    conditions: one('object.x.matches("[")'),
    causes: [failed('object.x.matches("[")', ':18: invalid matches argument')],
  },
  'a constant that cannot be converted': {
    conditions: one('int("a") == 1'),
    causes: [
      `InternalError ${at}[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'`,
    ],
  },
  nothing: {
    conditions: [{}],
    causes: [`FieldValueRequired ${at}[0].expression: Required value`, `FieldValueRequired ${at}[0].name: Required value`],
  },
  'blanks alone': { conditions: one('  '), causes: [`FieldValueRequired ${at}[0].expression: Required value`] },
  'the same name twice': {
    conditions: [...one('true'), ...one('true')],
    causes: [`FieldValueDuplicate ${at}[1].name: Duplicate value: "a"`],
  },
  'too many': {
    conditions: Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })),
    causes: [`FieldValueTooMany ${at}: Too many: 65: must have at most 64 items`],
  },
}

t.test('an invalid match condition is refused in the configuration', async (t) => {
  for (const type of ['mutating', 'validating'] as const) {
    for (const [what, { conditions, causes }] of Object.entries(refusals)) {
      const hook = webhookOf(server, 'wrong', configMaps, {
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchConditions: conditions,
      })
      const { body } = await api('POST', `${configurationPath(type)}?dryRun=All`, { body: configurationOf(type, 'wrong', [hook]) })
      t.match(body, { reason: 'Invalid', code: 422 }, what)
      const found = ((body.details as JsonObject | undefined)?.causes ?? []) as { reason: string; field: string; message: string }[]
      t.strictSame(
        found.map(({ reason, field, message }) => `${reason} ${field}: ${message}`),
        causes,
        `${type}: ${what}`,
      )
    }
  }
})

/** The result of each expression: true when the webhook is called, false when it is not called, or the error that denies the request. */
const verdicts: Readonly<Record<string, boolean | string>> = {
  true: true,
  false: false,
  'object.data.a == "b"': true,
  'object.data.x == "b"': 'no such key: x',
  'object.data.a > 1': 'no such overload',
  'int(object.data.a) == 1': "type conversion error from 'string' to 'int'",
  'has(object.data.x)': false,
  'object.metadata.labels.size() == 1 && type(object) == map': true,
  'oldObject == null': true,
  'has(oldObject.metadata)': false,
  'oldObject.metadata.name == "a"': 'no such key: metadata',
  'namespaceObject == null': true,
  'request.operation == "CREATE" && request.name == "a" && request.dryRun': true,
  'has(request.subResource) || has(request.userInfo.extra)': false,
  'request.subResource == ""': 'no such key: subResource',
  'request.options.kind == "CreateOptions" && request.options.dryRun[0] == "All"': true,
  'request.kind.kind == "ConfigMap" && request.resource.resource == "configmaps" && request.kind == request.requestKind': true,
  [`request.namespace == "${namespace}"`]: true,
  '"system:masters" in request.userInfo.groups': true,
  'authorizer.group("").resource("pods").subresource("status").namespace("default").name("a").check("update").allowed()': true,
  'authorizer.group("").resource("pods").fieldSelector("a=b").labelSelector("a in (").check("list").allowed()': true,
  'authorizer.serviceAccount("default", "nobody").group("").resource("pods").check("list").allowed()': false,
  'authorizer.serviceAccount("default", "nobody").group("").resource("pods").check("list").reason() == ""': true,
  'authorizer.path("/healthz").check("get").errored() || authorizer.path("/healthz").check("get").error() != ""': false,
  'authorizer.path("").check("get").allowed()': 'path must not be empty',
  'authorizer.group("").resource(" ").check("get").allowed()': 'resource must not be empty',
  'authorizer.serviceAccount("A_", "a").path("/").check("get").allowed()': 'Invalid service account namespace',
  'authorizer.serviceAccount("a", "A_").path("/").check("get").allowed()': 'Invalid service account name',
  'authorizer == authorizer': 'no such overload',
  '[1, 2, 3].all(x, authorizer.path("/healthz").check("get").allowed())': 'operation cancelled: actual cost limit exceeded',
}

t.test('a webhook is called when its condition is true, and an error refuses the write', needsOwnControlPlane, async (t) => {
  const names = new Map(Object.keys(verdicts).map((expression, index) => [expression, `w${index}`]))
  await configure(
    t,
    'validating',
    'verdicts',
    [...names].map(([expression, name]) => conditional(name, [expression])),
  )
  for (const [expression, verdict] of Object.entries(verdicts)) {
    const answer = await create(names.get(expression)!)
    t.equal(server.take().length, verdict === true ? 1 : 0, expression)
    if (typeof verdict !== 'string') t.equal(answer.status, 201, expression)
    else t.strictSame(answer.body, forbidden(`expression '${expression}' resulted in error: ${verdict}`))
  }
})

t.test('several conditions: a false one takes precedence over errors, and all share a cost budget', needsOwnControlPlane, async (t) => {
  const wrong = (field: string): string => `object.${field} == 1`
  const problem = (field: string): string => `expression 'object.${field} == 1' resulted in error: no such key: ${field}`
  const dear = '[1, 2].all(x, authorizer.path("/healthz").check("get").allowed())'
  const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run'
  const cases: Readonly<Record<string, { expressions: readonly string[]; called?: boolean; error?: string }>> = {
    true: { expressions: ['true', 'object.data.a == "b"'], called: true },
    errors: { expressions: [wrong('x'), 'true', wrong('y'), wrong('x')], error: `[${problem('x')}, ${problem('y')}]` },
    'error-and-false': { expressions: [wrong('x'), 'false'] },
    budget: { expressions: [dear, dear, dear, dear], error: outOfBudget },
    'budget-and-false': { expressions: ['false', dear, dear, dear, dear], error: outOfBudget },
  }
  const hooks = Object.entries(cases).flatMap(([name, { expressions }]) => [
    conditional(`fail-${name}`, expressions),
    conditional(`ignore-${name}`, expressions, { failurePolicy: 'Ignore' }),
  ])
  for (const type of ['mutating', 'validating'] as const) {
    await t.test(type, async (t) => {
      await configure(t, type, 'several', hooks)
      for (const [name, { called = false, error }] of Object.entries(cases)) {
        const failing = await create(`fail-${name}`)
        t.equal(server.take().length, Number(called), name)
        if (error === undefined) t.equal(failing.status, 201, name)
        else t.strictSame(failing.body, forbidden(error), name)
        t.equal((await create(`ignore-${name}`)).status, 201, `${name}, ignored`)
        t.equal(server.take().length, Number(called), `${name}, ignored`)
      }
    })
  }
})

t.test('no webhook is called when the conditions of one cannot be evaluated', needsOwnControlPlane, async (t) => {
  const more = { objectSelector: { matchLabels: { hook: 'all' } } }
  await configure(t, 'validating', 'order', [
    conditional('first', [], more),
    conditional(
      'second',
      ['object.x'].map((x) => `${x} == 1`),
      more,
    ),
  ])
  t.equal((await create('all')).status, 403)
  t.strictSame(server.take(), [])
})

t.test('conditions of mutating webhooks use the object as patched by earlier ones', needsOwnControlPlane, async (t) => {
  const more = { objectSelector: { matchLabels: { hook: 'all' } } }
  await configure(t, 'mutating', 'chain', [
    conditional('first', ['!has(object.data.c)'], { ...more, reinvocationPolicy: 'IfNeeded' }),
    conditional('second', ['has(object.data.first)'], more),
    conditional('third', ['!has(object.data.first)'], more),
  ])
  server.answer('first', patchResponse({ op: 'add', path: '/data/first', value: 'x' }))
  server.answer('second', patchResponse({ op: 'add', path: '/data/c', value: 'x' }))
  t.match((await create('all')).body, { data: { a: 'b', first: 'x', c: 'x' } })
  t.strictSame(
    server.take().map((call) => call.path),
    ['first', 'second'],
  )
})

t.test('the authorizer decides for the requester', needsOwnControlPlane, async (t) => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }]
  await api('POST', `${rbac}/namespaces/${namespace}/roles`, { body: { metadata: { name: 'creator' }, rules } })
  await api('POST', `${rbac}/namespaces/${namespace}/rolebindings`, {
    body: {
      metadata: { name: 'creator' },
      subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'Role', name: 'creator', apiGroup: 'rbac.authorization.k8s.io' },
    },
  })
  const check = (verb: string): string => `authorizer.requestResource.check("${verb}").allowed()`
  await configure(t, 'validating', 'authorizer', [
    conditional('may', [check('create')]),
    conditional('may-not', [`!${check('delete')}`]),
    conditional('elsewhere', ['authorizer.group("").resource("configmaps").namespace("default").check("create").allowed()']),
  ])
  const calls = async (hook: string, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
    t.equal((await create(hook, headers)).status, 201, hook)
    return server.take().length
  }
  const jane = { 'impersonate-user': 'jane' }
  t.strictSame([await calls('may', jane), await calls('may-not', jane), await calls('elsewhere', jane)], [1, 1, 0])
  t.strictSame([await calls('may'), await calls('may-not'), await calls('elsewhere')], [1, 0, 1])
})

t.test('conditions use the object in the version of the rules', needsOwnControlPlane, async (t) => {
  await defineWidgets(t, api, group)
  const rules = [{ apiGroups: [group], apiVersions: ['v2'], operations: ['*'], resources: ['widgets'] }]
  const hook = (name: string, expression: string): JsonObject =>
    webhookOf(server, name, rules, { matchConditions: [{ name: 'a', expression }] })
  await configure(t, 'validating', 'versions', [
    hook('v2', `object.apiVersion == "${group}/v2" && request.kind.version == "v2" && request.requestKind.version == "v1"`),
    hook('resource', 'request.resource.version == "v1" && request.requestResource.version == "v1"'),
    hook('never', `object.apiVersion == "${group}/v1"`),
  ])
  const body = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { size: 1 } }
  t.equal((await api('POST', `/apis/${group}/v1/namespaces/${namespace}/widgets?dryRun=All`, { body })).status, 201)
  t.strictSame(
    server
      .take()
      .map((call) => call.path)
      .toSorted(),
    ['resource', 'v2'],
  )
})

t.test('unchanged conditions are not validated again', needsOwnControlPlane, async (t) => {
  await configure(t, 'validating', 'kept', [conditional('kept', ['object.data.a == "b"'])])
  const patch = (body: JsonObject[]): Promise<RawAnswer> =>
    api('PATCH', configurationPath('validating', 'kept'), { contentType: 'application/json-patch+json', body })
  const expression = '/webhooks/1/matchConditions/0/expression'
  t.match((await patch([{ op: 'replace', path: expression, value: '1' }])).body, { code: 422 })
  t.match((await patch([{ op: 'replace', path: '/webhooks/1/timeoutSeconds', value: 3 }])).body, { metadata: { generation: 2 } })
  t.match((await patch([{ op: 'replace', path: expression, value: 'false' }])).body, { metadata: { generation: 3 } })
})
