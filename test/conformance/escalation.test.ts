/** Tests of users who grant rights: a user may grant only the rights that the user has, unless the user has the verb `escalate` or `bind`. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { until } from '../../src/testing/until.ts'
import { apiOf, type Api } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-escalation'
const group = 'rbac.authorization.k8s.io'
const all = `/apis/${group}/v1`
const own = `${all}/namespaces/${namespace}`

const verbs = ['create', 'get', 'patch', 'update']
const writesRoles = { apiGroups: [group], resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'], verbs }
const rule = (...verbs: string[]): JsonObject => ({ apiGroups: [''], resources: ['secrets'], verbs })
const byName = (resource: string, verb: string, ...resourceNames: string[]): JsonObject => ({
  ...{ apiGroups: [group], resources: [resource], verbs: [verb] },
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})

/** Users and the rules of each. A user's group is the name of the user with the suffix `s`. */
const users: Readonly<Record<string, JsonObject[]>> = {
  reader: [writesRoles, rule('get', 'list'), { nonResourceURLs: ['/metrics', '/logs*'], verbs: ['get'] }],
  escalator: [writesRoles, byName('roles', 'escalate'), byName('clusterroles', 'escalate')],
  'escalator-of-one': [writesRoles, byName('roles', 'escalate', 'one')],
  binder: [writesRoles, byName('roles', 'bind', 'powerful'), byName('clusterroles', 'bind', `${namespace}-powerful`)],
  administrator: [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ],
  subresources: [writesRoles, { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['get'] }],
  named: [writesRoles, { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] }],
}

const { connection } = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const administrator = apiOf(t, connection)

function apiAs(user: string): Api {
  const headers = { 'impersonate-user': user, 'impersonate-group': `${user}s` }
  return (method, path, options = {}) => administrator(method, path, { ...options, headers })
}

function subjectOf(user: string): JsonObject {
  return { apiGroup: group, kind: 'User', name: user }
}

function reference(kind: string, name: string): JsonObject {
  return { apiGroup: group, kind, name }
}

function binding(name: string, roleRef: JsonObject): JsonObject {
  return { metadata: { name }, roleRef, subjects: [subjectOf('anybody')] }
}

async function createForTest(path: string, body: JsonObject & { metadata: { name: string } }): Promise<void> {
  const { status, text } = await administrator('POST', path, { body })
  if (status !== 201) throw new Error(`${path}: ${text}`)
  t.teardown(() => administrator('DELETE', `${path}/${body.metadata.name}`))
}

for (const [user, rules] of Object.entries(users)) {
  const name = `${namespace}-${user}`
  await createForTest(`${all}/clusterroles`, { metadata: { name }, rules })
  await createForTest(`${all}/clusterrolebindings`, {
    ...binding(name, reference('ClusterRole', name)),
    subjects: [subjectOf(user)],
  } as never)
}
await createForTest(`${own}/roles`, { metadata: { name: 'powerful' }, rules: [rule('delete', 'watch')] })
await createForTest(`${all}/clusterroles`, { metadata: { name: `${namespace}-powerful` }, rules: [rule('deletecollection')] })
for (const user of Object.keys(users)) {
  const api = apiAs(user)
  await until(`${user} may write roles`, async () => (await api('GET', `${own}/roles/powerful`)).status === 200)
}

/** Returns the error for a user who grants rights that the user does not have. */
function refused(user: string, object: string, ...missing: string[]): object {
  const [plural, name] = object.split(' ')
  const who = `user "${user}" (groups=["${user}s" "system:authenticated"])`
  const message = `${plural}.${group} "${name}" is forbidden: ${who} is attempting to grant RBAC permissions not currently held:\n${missing.join('\n')}`
  return { status: 'Failure', code: 403, reason: 'Forbidden', message, details: { name, group, kind: plural } }
}

const secrets = (list: string): string => `{APIGroups:[""], Resources:["secrets"], Verbs:[${list}]}`

t.test('a user may write only rules with rights that the user has', async (t) => {
  const api = apiAs('reader')
  const role = (name: string, ...rules: JsonObject[]): JsonObject => ({ metadata: { name }, rules })
  t.equal((await api('POST', `${own}/roles`, { body: role('held', rule('get'), rule('list', 'get')) })).status, 201)
  for (const [plural, path] of [
    ['roles', `${own}/roles`],
    ['clusterroles', `${all}/clusterroles`],
  ] as const) {
    const name = `${namespace}-more`
    const rules = [
      rule('get', 'watch'),
      rule('delete'),
      { apiGroups: ['', 'apps'], resources: ['pods'], resourceNames: ['b', 'a'], verbs: ['get', 'list'] },
    ]
    const expected = refused(
      'reader',
      `${plural} ${name}`,
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get" "list"]}',
      secrets('"watch" "delete"'),
      '{APIGroups:["apps"], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
      '{APIGroups:["apps"], Resources:["pods"], ResourceNames:["b"], Verbs:["get" "list"]}',
    )
    t.match((await api('POST', path, { body: role(name, ...rules) })).body, expected)
    t.match((await api('PUT', `${path}/${name}`, { body: role(name, ...rules) })).body, expected)
    const applied = { apiVersion: `${group}/v1`, kind: plural === 'roles' ? 'Role' : 'ClusterRole', ...role(name, ...rules) }
    const apply = { contentType: 'application/apply-patch+yaml', body: applied }
    t.match((await api('PATCH', `${path}/${name}?fieldManager=x`, apply)).body, expected)
    t.equal((await administrator('GET', `${path}/${name}`)).status, 404)
  }
  const patch = { contentType: 'application/merge-patch+json', body: { rules: [rule('get', 'update')] } }
  t.match((await api('PATCH', `${own}/roles/held`, patch)).body, refused('reader', 'roles held', secrets('"update"')))
  t.equal((await api('PATCH', `${own}/roles/held`, { ...patch, body: { rules: [rule('list')] } })).status, 200)
})

t.test('rights for paths can be granted, too', async (t) => {
  const api = apiAs('reader')
  const role = (name: string, ...nonResourceURLs: string[]): JsonObject => ({
    metadata: { name: `${namespace}-${name}` },
    rules: [{ nonResourceURLs, verbs: ['get'] }],
  })
  t.equal((await api('POST', `${all}/clusterroles?dryRun=All`, { body: role('held', '/metrics', '/logs/a', '/logs*') })).status, 201)
  const missing = ['{NonResourceURLs:["*"], Verbs:["get"]}', '{NonResourceURLs:["/metrics/a"], Verbs:["get"]}']
  const { body } = await api('POST', `${all}/clusterroles?dryRun=All`, { body: role('more', '/metrics', '/metrics/a', '*') })
  t.match(body, refused('reader', `clusterroles ${namespace}-more`, ...missing))
})

t.test('a rule for some names grants nothing for all names', async (t) => {
  const api = apiAs('named')
  const role = (...names: string[]): JsonObject => ({ metadata: { name: 'names' }, rules: [{ ...rule('get'), resourceNames: names }] })
  const create = (...names: string[]) => api('POST', `${own}/roles?dryRun=All`, { body: role(...names) })
  t.equal((await create('b', 'a')).status, 201)
  t.match((await create()).body, refused('named', 'roles names', secrets('"get"')))
  const missing = '{APIGroups:[""], Resources:["secrets"], ResourceNames:["c"], Verbs:["get"]}'
  t.match((await create('a', 'c')).body, refused('named', 'roles names', missing))
})

t.test('a rule for a subresource of all resources grants the subresource of each', async (t) => {
  const api = apiAs('subresources')
  const create = (resource: string) =>
    api('POST', `${own}/roles?dryRun=All`, {
      body: { metadata: { name: 'scales' }, rules: [{ apiGroups: ['apps'], resources: [resource], verbs: ['get'] }] },
    })
  for (const resource of ['deployments/scale', '*/scale']) t.equal((await create(resource)).status, 201, resource)
  for (const resource of ['deployments', '*', 'deployments/status']) {
    const missing = `{APIGroups:["apps"], Resources:["${resource}"], Verbs:["get"]}`
    t.match((await create(resource)).body, refused('subresources', 'roles scales', missing))
  }
})

t.test('the verb escalate allows any rules', async (t) => {
  const body = (name: string): JsonObject => ({ metadata: { name }, rules: [rule('delete')] })
  const aggregated = { ...body(`${namespace}-aggregated`), aggregationRule: { clusterRoleSelectors: [{}] } }
  t.equal((await apiAs('escalator')('POST', `${own}/roles?dryRun=All`, { body: body('any') })).status, 201)
  t.equal((await apiAs('escalator')('POST', `${all}/clusterroles?dryRun=All`, { body: aggregated })).status, 201)
  const ofOne = apiAs('escalator-of-one')
  t.equal((await ofOne('PUT', `${own}/roles/one?dryRun=All`, { body: body('one') })).status, 201)
  const missing = secrets('"delete"')
  t.match(
    (await ofOne('POST', `${own}/roles`, { body: body('one') })).body,
    refused('escalator-of-one', 'roles one', missing),
    'a POST has no name',
  )
  t.match((await ofOne('PUT', `${own}/roles/two`, { body: body('two') })).body, refused('escalator-of-one', 'roles two', missing))
})

t.test('an aggregated ClusterRole needs all rights', async (t) => {
  const name = `${namespace}-aggregated`
  const body = { metadata: { name }, rules: [], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: namespace } }] } }
  const expected = {
    code: 403,
    message: `clusterroles.${group} "${name}" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  }
  t.match((await apiAs('reader')('POST', `${all}/clusterroles`, { body })).body, expected)
  t.equal((await apiAs('administrator')('POST', `${all}/clusterroles`, { body })).status, 201)
  t.teardown(() => administrator('DELETE', `${all}/clusterroles/${name}`))
  const patch = { contentType: 'application/merge-patch+json', body: { aggregationRule: null } }
  t.match((await apiAs('reader')('PATCH', `${all}/clusterroles/${name}`, patch)).body, expected, 'the old object is aggregated')
  t.equal((await apiAs('administrator')('PATCH', `${all}/clusterroles/${name}`, patch)).status, 200)
})

t.test('a user may bind only roles with rights that the user has', async (t) => {
  const reader = apiAs('reader')
  const powerful = reference('ClusterRole', `${namespace}-powerful`)
  const bindings = [
    ['rolebindings', `${own}/rolebindings`, reference('Role', 'powerful'), '"delete" "watch"'],
    ['rolebindings', `${own}/rolebindings`, powerful, '"deletecollection"'],
    ['clusterrolebindings', `${all}/clusterrolebindings`, powerful, '"deletecollection"'],
  ] as const
  for (const [plural, path, roleRef, missing] of bindings) {
    const name = `${namespace}-${String(roleRef['kind']).toLowerCase()}`
    const body = binding(name, roleRef)
    const expected = refused('reader', `${plural} ${name}`, secrets(missing))
    t.match((await reader('POST', path, { body })).body, expected)
    t.match((await reader('PUT', `${path}/${name}`, { body })).body, expected)
    t.equal((await apiAs('binder')('POST', path, { body })).status, 201, 'the verb bind allows it')
    t.teardown(() => administrator('DELETE', `${path}/${name}`))
    const patch = { contentType: 'application/merge-patch+json', body: { subjects: [subjectOf('other')] } }
    t.match((await reader('PATCH', `${path}/${name}`, patch)).body, expected)
    t.equal((await apiAs('binder')('PATCH', `${path}/${name}`, patch)).status, 200)
  }
  const held = binding('held', reference('ClusterRole', `${namespace}-reader`))
  t.equal((await reader('POST', `${own}/rolebindings?dryRun=All`, { body: held })).status, 201)
})

t.test('a binding of a missing role is refused, unless the user may bind the role', async (t) => {
  const bind = (user: string, roleRef: JsonObject) =>
    apiAs(user)('POST', `${own}/rolebindings?dryRun=All`, { body: binding('missing', roleRef) })
  const missing = { code: 404, reason: 'NotFound', message: `rolebindings.${group} "none" not found` }
  for (const kind of ['Role', 'ClusterRole']) t.match((await bind('reader', reference(kind, 'none'))).body, missing)
  t.match((await bind('reader', reference('Other', 'none'))).body, { code: 500, message: 'unsupported role reference kind: "Other"' })
  t.equal((await bind('administrator', reference('Role', 'none'))).status, 201)
})

t.test('owner references and finalizers can be changed without further rights', async (t) => {
  const merge = (body: JsonObject) => ({ contentType: 'application/merge-patch+json', body })
  const [role, clusterRole] = [`${own}/roles/powerful`, `${all}/clusterroles/${namespace}-powerful`]
  for (const path of [role, clusterRole]) {
    const reader = apiAs('reader')
    t.equal((await reader('PATCH', path, merge({ metadata: { finalizers: ['example.com/a'] } }))).status, 200)
    t.equal((await reader('PATCH', path, merge({ metadata: { finalizers: null } }))).status, 200)
    t.equal((await reader('PATCH', path, merge({ metadata: { labels: { a: 'b' } } }))).status, 403, 'other metadata needs the rights')
    t.equal((await reader('PATCH', path, merge({}))).status, 200, 'a patch without changes')
  }
})
