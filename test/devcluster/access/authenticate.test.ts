import t from 'tap'
import { authenticate, commonAudiences, tokenAuthenticator } from '../../../src/devcluster/access/authenticate.ts'
import type { UserInfo } from '../../../src/devcluster/apimachinery/request-context.ts'
import { refusal } from '../../support/devcluster/registry.ts'

const server = 'https://kubernetes.default.svc'

const unauthorized = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'Unauthorized',
  reason: 'Unauthorized',
  code: 401,
}

t.test('a token authenticates its user as a member of system:authenticated', (t) => {
  const tokens = tokenAuthenticator(
    new Map<string, UserInfo>([
      ['one', { username: 'one', groups: ['a'] }],
      ['two', { username: 'two', groups: ['system:authenticated', 'b'], uid: '2' }],
      ['three', { username: 'three', groups: [] }],
    ]),
  )
  const one = { username: 'one', groups: ['a', 'system:authenticated'] }
  const two = { username: 'two', groups: ['system:authenticated', 'b'], uid: '2' }
  t.strictSame(tokens('one'), { user: one, audiences: [server] })
  t.strictSame(tokens('two', ['other', server]), { user: two, audiences: [server] })
  t.equal(tokens('two', ['other']), undefined, 'the token is not valid for another audience')
  t.equal(tokens('four'), undefined)
  t.equal(tokens(''), undefined)
  t.end()
})

t.test('a bearer token is read from the Authorization header', async (t) => {
  const tokens = tokenAuthenticator(new Map([['secret', { username: 'eve', groups: [] }]]))
  const eve = { username: 'eve', groups: ['system:authenticated'] }
  for (const authorization of ['Bearer secret', 'bearer secret']) t.strictSame(authenticate({ authorization }, tokens), eve, authorization)
  const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
  for (const authorization of [undefined, '', 'Basic secret', 'Bearer ', 'x Bearer secret'])
    t.strictSame(authenticate(authorization === undefined ? {} : { authorization }, tokens), anonymous, String(authorization))
  t.strictSame(await refusal(() => authenticate({ authorization: 'Bearer other' }, tokens)), unauthorized)
  t.strictSame(await refusal(() => authenticate({ authorization: 'Bearer other' }, () => ({ refusal: 'expired' }))), unauthorized)
})

t.test('the audiences of a token are those that the client requested, in its order', (t) => {
  t.strictSame(commonAudiences(['c', 'a', 'b'], ['a', 'c']), ['c', 'a'])
  t.equal(commonAudiences(['a'], ['b']), undefined)
  t.equal(commonAudiences([], ['b']), undefined)
  t.end()
})
