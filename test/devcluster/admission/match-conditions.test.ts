/** Tests of the variables of match conditions, and of the effect of conditions whose evaluation fails. */
import t from 'tap'
import type { AuthorizationAttributes } from '../../../src/devcluster/access/authorizer.ts'
import type { AdmissionAttributes } from '../../../src/devcluster/admission/admission.ts'
import { hooksOf } from '../../../src/devcluster/admission/hook.ts'
import { meetsConditions } from '../../../src/devcluster/admission/match-conditions.ts'
import { attributesOf, contextOf, custom, nodes, pods } from '../../support/devcluster/admission.ts'
import { refusal } from '../../support/devcluster/registry.ts'

/** Evaluates conditions. Returns the attributes of each authorization check, and whether the request matches the conditions. */
function evaluate(
  expressions: readonly string[],
  attributes: AdmissionAttributes,
  more: { info?: AdmissionAttributes['info']; failurePolicy?: string; allowed?: boolean } = {},
): { readonly meets: boolean; readonly asked: AuthorizationAttributes[] } {
  const { info = attributes.info, failurePolicy = 'Fail', allowed = true } = more
  const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }))
  const [hook] = hooksOf([{ metadata: { name: 'c' }, webhooks: [{ name: 'w', clientConfig: {}, failurePolicy, matchConditions }] }])
  const asked: AuthorizationAttributes[] = []
  const write = { attributes, info, object: attributes.object, oldObject: attributes.oldObject }
  const meets = meetsConditions(hook!, write, {
    authorize: (question) => {
      asked.push(question)
      return { allowed, reason: '' }
    },
  })
  return { meets, asked }
}

t.test('every condition must be true', (t) => {
  const meets = (...expressions: string[]): boolean => evaluate(expressions, attributesOf(pods)).meets
  t.equal(meets(), true)
  t.equal(meets('true', 'true'), true)
  t.equal(meets('true', 'false'), false)
  t.equal(meets('false', 'true'), false)
  t.end()
})

t.test('a condition sees the objects, the request, the matched kind and the requested resource', (t) => {
  const oldObject = { metadata: { name: 'old' } }
  const attributes = attributesOf(custom.v1, {
    operation: 'UPDATE',
    oldObject,
    subresource: 'status',
    context: contextOf({ dryRun: true }),
  })
  const expressions = [
    "object.metadata.name == 'a' && oldObject.metadata.name == 'old'",
    "request.name == 'a' && request.namespace == 'default' && request.operation == 'UPDATE' && request.dryRun",
    "request.userInfo.username == 'jane' && request.userInfo.groups == ['devs']",
    "request.kind.version == 'v2' && request.requestKind.version == 'v1'",
    "request.resource.version == 'v1' && request.requestResource.version == 'v1'",
    "request.subResource == 'status' && request.requestSubResource == 'status'",
  ]
  for (const expression of expressions) t.equal(evaluate([expression], attributes, { info: custom.v2 }).meets, true, expression)
  t.equal(evaluate(['oldObject == null'], attributesOf(pods)).meets, true)
  const { object: _object, ...deletion } = attributesOf(pods, { operation: 'DELETE', oldObject })
  t.equal(evaluate(['object == null'], deletion).meets, true)
  t.end()
})

t.test('authorizer.requestResource asks about the request in any version of the type', (t) => {
  const check = "authorizer.requestResource.check('get').allowed()"
  const { meets, asked } = evaluate([check], attributesOf(custom.v1, { subresource: 'status' }), { info: custom.v2 })
  t.equal(meets, true)
  t.equal(asked.length, 1)
  t.strictSame(
    { ...asked[0] },
    {
      user: { username: 'jane', groups: ['devs'] },
      verb: 'get',
      group: 'example.com',
      version: '*',
      resource: 'things',
      subresource: 'status',
      namespace: 'default',
      name: 'a',
    },
  )
  t.equal(evaluate([check], attributesOf(pods), { allowed: false }).meets, false)
  const [{ resource, namespace, name, subresource }] = evaluate([check], attributesOf(nodes, { name: '' })).asked as [
    AuthorizationAttributes,
  ]
  t.strictSame([resource, namespace, name, subresource], ['nodes', '', '', ''])
  t.end()
})

t.test(
  'an error of a condition refuses the request with Fail and skips the webhook with Ignore, unless another condition is false',
  async (t) => {
    const attributes = attributesOf(pods)
    const status = await refusal(() => evaluate(['object.x == 1'], attributes))
    t.strictSame(
      [status.code, status.reason, status.message, status.details],
      [
        403,
        'Forbidden',
        `pods "a" is forbidden: expression 'object.x == 1' resulted in error: no such key: x`,
        { name: 'a', kind: 'pods' },
      ],
    )
    t.equal(evaluate(['object.x == 1'], attributes, { failurePolicy: 'Ignore' }).meets, false)
    for (const conditions of [
      ['object.x == 1', 'false'],
      ['false', 'object.x == 1'],
    ])
      t.equal(evaluate(conditions, attributes).meets, false, conditions.join())
  },
)
