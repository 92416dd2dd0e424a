/** Tests of namespaces: the objects in a new namespace, names, deletion. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { applyPatch, mergePatch, metadataOf, serveFoos } from '../support/conformance/objects.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const keeper = 'conformance-ns'
const controlPlane = await conformanceControlPlane(t, { nodes: [], namespaces: [keeper] })
const api = apiOf(t, controlPlane.connection)
const namespaces = '/api/v1/namespaces'

async function created(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}
const patch = (path: string, body: JsonObject): Promise<RawAnswer> => api('PATCH', path, { body, contentType: mergePatch })
const gone = (name: string): Promise<unknown> =>
  until(`${name} is gone`, async () => (await api('GET', `${namespaces}/${name}`)).status === 404)
/**
 * Creates a namespace, and waits for its default ServiceAccount and ConfigMap. Until these exist, writes into the namespace may fail with
 * 404.
 */
async function ready(name: string, more: JsonObject = {}): Promise<JsonObject> {
  const object = await created(namespaces, { metadata: { name }, ...more })
  await until('its ServiceAccount', async () => (await api('GET', `${namespaces}/${name}/serviceaccounts/default`)).status === 200)
  await until('its ConfigMap', async () => (await api('GET', `${namespaces}/${name}/configmaps/kube-root-ca.crt`)).status === 200)
  return object
}

t.test('a new namespace is Active, with its name as a label and the finalizer kubernetes', async (t) => {
  const name = `${keeper}-labels`
  const object = await created(namespaces, {
    metadata: { name, labels: { 'kubernetes.io/metadata.name': 'other', mine: 'x' } },
    spec: { finalizers: ['example.com/own'] },
    status: { phase: 'Terminating' },
  })
  const labels = { 'kubernetes.io/metadata.name': name, mine: 'x' }
  t.match(object, { metadata: { labels }, spec: { finalizers: ['example.com/own', 'kubernetes'] }, status: { phase: 'Active' } })
  for (const value of ['other', null]) {
    t.match(await patch(`${namespaces}/${name}`, { metadata: { labels: { 'kubernetes.io/metadata.name': value } } }), {
      status: 200,
      body: { metadata: { labels } },
    })
  }
  t.match((await patch(`${namespaces}/${name}`, { spec: { finalizers: [] } })).body, {
    spec: { finalizers: ['example.com/own', 'kubernetes'] },
  })
  t.match((await patch(`${namespaces}/${name}`, { status: { phase: 'Terminating' } })).body, { status: { phase: 'Active' } })
  await api('PUT', `${namespaces}/${name}/finalize`, { body: { metadata: { name }, spec: { finalizers: ['kubernetes'] } } })
  await api('DELETE', `${namespaces}/${name}`)
  await gone(name)
})

t.test('the name of a namespace must be a DNS label', async (t) => {
  const cases: [string, string][] = [
    ['a.b', 'must not contain dots'],
    ['x'.repeat(64), 'must be no more than 63 characters'],
    ['A', "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"],
  ]
  for (const [name, message] of cases) {
    const answer = await api('POST', namespaces, { body: { metadata: { name } } })
    t.equal(answer.status, 422, name)
    t.ok(String(answer.body.message).includes(`metadata.name: Invalid value: "${name}": ${message}`), name)
  }
  t.match(await api('POST', namespaces, { body: { metadata: { name: 'a' }, spec: { finalizers: ['mine'] } } }), {
    status: 422,
    body: {
      message:
        'Namespace "a" is invalid: spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    },
  })
})

t.test('each namespace has the default ServiceAccount and the root CA, which are restored', async (t) => {
  const [account, authority] = [`${namespaces}/${keeper}/serviceaccounts/default`, `${namespaces}/${keeper}/configmaps/kube-root-ca.crt`]
  const before = await until('both', async () => {
    const answers = await Promise.all([api('GET', account), api('GET', authority)])
    return answers.every(({ status }) => status === 200) && answers
  })
  const { data } = before[1]!.body
  t.match(data, { 'ca.crt': /^-----BEGIN CERTIFICATE-----/ })
  for (const path of [account, authority]) await api('DELETE', path)
  for (const [index, path] of [account, authority].entries()) {
    await until(`${path} is back`, async () => {
      const answer = await api('GET', path)
      return answer.status === 200 && metadataOf(answer.body).uid !== metadataOf(before[index]!.body).uid
    })
  }
  await patch(authority, { data: { 'ca.crt': 'x' } })
  await until('the certificate is back', async () => {
    const answer = await api('GET', authority)
    return (answer.body.data as JsonObject | undefined)?.['ca.crt'] === (data as JsonObject)['ca.crt']
  })
})

t.test('the API server has the Service kubernetes', async (t) => {
  t.match(await api('GET', `${namespaces}/default/services/kubernetes`), {
    status: 200,
    body: {
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { type: 'ClusterIP', clusterIP: /./, ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: Number }] },
    },
  })
})

t.test('a namespace is deleted with its content, and its conditions report what blocks it', async (t) => {
  const name = `${keeper}-goes`
  await ready(name, { spec: { finalizers: ['example.com/own'] } })
  const foos = await serveFoos(t, api, name)
  const inside = `${namespaces}/${name}`
  await created(`${inside}/configmaps`, { metadata: { name: 'held', finalizers: ['example.com/x', 'example.com/y'] } })
  await created(`${inside}/secrets`, { metadata: { name: 'held', finalizers: ['example.com/x'] } })
  await created(`${inside}/configmaps`, { metadata: { name: 'free' } })
  await created(foos.path, foos.bodyOf({ name: 'free' }))

  t.match(await api('DELETE', `${inside}?dryRun=All`), { status: 200, body: { kind: 'Namespace', status: { phase: 'Terminating' } } })
  t.match(await api('GET', inside), { status: 200, body: { status: { phase: 'Active' } } })
  const deleted = await api('DELETE', inside)
  t.match(deleted, { status: 200, body: { kind: 'Namespace', metadata: { deletionTimestamp: /Z$/ }, status: { phase: 'Terminating' } } })
  t.match(await api('DELETE', inside), {
    status: 200,
    body: { metadata: { deletionTimestamp: metadataOf(deleted.body).deletionTimestamp } },
  })

  const late = (subject: string): object => ({
    status: 403,
    body: {
      reason: 'Forbidden',
      message: `${subject} is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
      details: {
        causes: [{ reason: 'NamespaceTerminating', message: `namespace ${name} is being terminated`, field: 'metadata.namespace' }],
      },
    },
  })
  t.match(await api('POST', `${inside}/configmaps`, { body: { metadata: { name: 'late' } } }), late('configmaps "late"'))
  t.match(
    await api('POST', `${inside}/configmaps?dryRun=All`, { body: { metadata: { generateName: 'late-' } } }),
    late('configmaps "late-"'),
  )
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { a: 'b' } }
  t.match(
    await api('PATCH', `${inside}/configmaps/late?fieldManager=m`, { body: applied, contentType: applyPatch }),
    late('configmaps "late"'),
  )
  t.match(await api('POST', foos.path, { body: foos.bodyOf({ name: 'late' }) }), late(`foos.${foos.group} "late"`))
  t.match(await patch(`${inside}/configmaps/held`, { data: { still: 'writable' } }), { status: 200 })
  t.match(await api('POST', namespaces, { body: { metadata: { name } } }), {
    status: 409,
    body: { reason: 'AlreadyExists', message: `object is being deleted: namespaces "${name}" already exists` },
  })

  const left = await until('it says what is left', async () => {
    const { body } = await api('GET', inside)
    const { conditions = [] } = body.status as { conditions?: JsonObject[] }
    return conditions.some(({ status }) => status === 'True') && conditions
  })
  t.match(left, [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'False',
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    { type: 'NamespaceDeletionGroupVersionParsingFailure', status: 'False', reason: 'ParsedGroupVersions' },
    {
      type: 'NamespaceDeletionContentFailure',
      status: 'False',
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: configmaps. has 1 resource instances, secrets. has 1 resource instances',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      reason: 'SomeFinalizersRemain',
      message:
        'Some content in the namespace has finalizers remaining: example.com/x in 2 resource instances, example.com/y in 1 resource instances',
    },
  ])
  for (const path of [`${inside}/configmaps/free`, `${foos.path}/free`, `${inside}/serviceaccounts/default`])
    t.equal((await api('GET', path)).status, 404, path)
  for (const path of ['configmaps/held', 'secrets/held']) await patch(`${inside}/${path}`, { metadata: { finalizers: null } })

  const empty = await until(
    'only its own finalizer is left',
    async () => {
      const { body } = await api('GET', inside)
      return (body.spec as { finalizers: string[] }).finalizers.join() === 'example.com/own' && body
    },
    60_000,
  )
  t.match((empty.status as JsonObject).conditions, [
    {},
    {},
    {},
    { type: 'NamespaceContentRemaining', status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' },
    {
      type: 'NamespaceFinalizersRemaining',
      status: 'False',
      reason: 'ContentHasNoFinalizers',
      message: 'All content-preserving finalizers finished',
    },
  ])
  t.match(await api('PUT', `${inside}/finalize`, { body: { metadata: { name }, spec: { finalizers: [] } } }), {
    status: 200,
    body: { kind: 'Namespace' },
  })
  await gone(name)
  t.match(await api('PUT', `${inside}/finalize`, { body: { metadata: { name }, spec: {} } }), { status: 404 })
})
