import t from 'tap'
import { impersonate } from '../../../src/devcluster/http/authenticate.ts'
import type { AuthorizationAttributes, Authorizer } from '../../../src/devcluster/http/authorizer.ts'
import { refusal } from '../../support/devcluster-registry.ts'

const requester = { username: 'bob', groups: ['devs'] }
const target = { verb: 'list', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '' }

/** Lets `bob` impersonate what is named here, each `RESOURCE/NAME`. */
function allowing(...subjects: readonly string[]): Authorizer {
  return {
    authorize: ({ resource, name }: AuthorizationAttributes) => ({ allowed: subjects.includes(`${resource}/${name}`), reason: '' }),
  }
}

t.test('who impersonates needs the right to each part of the other one', async (t) => {
  const headers = {
    'impersonate-user': 'eve',
    'impersonate-group': 'admins,ops',
    'impersonate-uid': '7',
    'impersonate-extra-scopes': 'a',
  }
  const all = ['users/eve', 'groups/admins', 'groups/ops', 'uids/7', 'userextras/a']
  t.match(impersonate(requester, headers, allowing(...all), target), { username: 'eve', uid: '7', extra: { scopes: ['a'] } })
  for (const missing of all) {
    const rights = all.filter((subject) => subject !== missing)
    t.match(
      await refusal(() => impersonate(requester, headers, allowing(...rights), target)),
      { code: 403, message: /^pods is forbidden: User "bob" cannot impersonate-on:user-info:list/ },
      `without ${missing}`,
    )
  }
})
