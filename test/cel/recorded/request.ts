/**
 * The AdmissionRequest and the authorizer with which the recorded match conditions are evaluated. The authorizer allows all requests with
 * the verb `get`, and denies all other requests.
 */
import type { JsonObject } from '../../../src/api/json.ts'
import type { AccessAttributes } from '../../../src/cel/library/authorization.ts'
import { AuthorizerValue, ResourceCheck } from '../../../src/cel/library/authorization.ts'

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' }
const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' }

export const object: JsonObject = {
  metadata: { name: 'a', labels: { app: 'x' } },
  spec: {
    i: 5,
    big: 9007199254740993n,
    huge: 1e30,
    f: 1.5,
    whole: 2,
    neg: -3,
    n: null,
    l: [1, 'b', null, 2.5, [1], { a: 1 }],
    m: { a: 1, 'a-b': 'c' },
  },
}

export const request: JsonObject = {
  kind: deployment,
  resource: deployments,
  requestKind: deployment,
  requestResource: deployments,
  subResource: 'scale',
  name: 'a',
  namespace: 'ns',
  operation: 'UPDATE',
  userInfo: { username: 'jane', groups: ['dev', 'ops'], extra: { a: ['b'] } },
  dryRun: false,
  options: { kind: 'UpdateOptions' },
}

/**
 * Returns the decision of the authorizer. The reason of the decision contains the attributes of the check, so that the tests can compare
 * the attributes.
 */
function decide({ group, name, namespace, path, resource, subresource, user, verb }: AccessAttributes): {
  allowed: boolean
  reason: string
} {
  const { groups, username } = user
  const question = { group, name, namespace, path, resource, subresource, user: { groups, username }, verb }
  return { allowed: verb === 'get', reason: JSON.stringify(question) }
}

export const authorizer = new AuthorizerValue({ username: 'jane', groups: ['dev'] }, decide)
export const requestResource = new ResourceCheck(authorizer, {
  group: 'apps',
  resource: 'deployments',
  subresource: 'scale',
  namespace: 'ns',
  name: 'n',
})
