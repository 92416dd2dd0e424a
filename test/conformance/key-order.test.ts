/** Tests of the order of fields in responses. Users and programs that compare responses as strings rely on this order. */
import t from 'tap'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/api/json.ts'
import { isObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { create, custom, define, definition, jsonPatch, mergePatch, namespace, objects, table } from '../support/conformance/definitions.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const core = `/api/v1/namespaces/${namespace}`

/**
 * Returns `PATH: KEYS` for an object and for each object in it. The keys are in the order of the object. The content of fieldsV1 is
 * skipped.
 */
function keysOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => keysOf(item, `${path}[${index}]`))
  if (!isObject(value)) return []
  const below = Object.entries(value).flatMap(([key, item]) => (key === 'fieldsV1' ? [] : keysOf(item, `${path}.${key}`)))
  return [`${path}: ${Object.keys(value).join(',')}`, ...below]
}

/** Returns the lines of `keysOf`, with sorted keys in each line. */
function sortedKeysOf(value: unknown): string[] {
  return keysOf(value).map((line) => {
    const [path, keys = ''] = line.split(': ')
    return `${path}: ${keys.split(',').sort().join(',')}`
  })
}

const objectMeta = 'name,namespace,uid,resourceVersion,generation,creationTimestamp,labels,finalizers,managedFields'
const finalizers = ['a.example.com/b']
const labels = { z: '1', b: '2' }
const removeFinalizers = { contentType: jsonPatch, body: [{ op: 'remove', path: '/metadata/finalizers' }] }

t.test('an object of a built-in kind has the field order of its Go structs, also after a DELETE', async (t) => {
  const env = [{ value: 'x', name: 'A' }]
  const container = { image: 'nginx', env, resources: { requests: { memory: '1Gi', cpu: '1' } }, name: 'main' }
  const body = { spec: { containers: [container], nodeSelector: labels }, metadata: { labels, finalizers, name: 'a' } }
  const pod = `${core}/pods/a`
  const dry = await api('POST', `${core}/pods?dryRun=All`, { body })
  const made = await api('POST', `${core}/pods`, { body })
  const marked = await api('DELETE', pod)
  const answers: Record<string, JsonObject> = {
    'a dry run': dry.body,
    'a create': made.body,
    'a deletion': marked.body,
    'a read': (await api('GET', pod)).body,
    'a write of the status': (await api('PATCH', `${pod}/status`, { contentType: mergePatch, body: { status: { message: 'm' } } })).body,
    'the last write': (await api('PATCH', pod, removeFinalizers)).body,
  }
  for (const [what, answer] of Object.entries(answers)) {
    const keys = keysOf(answer)
    t.equal(keys[0], ': kind,apiVersion,metadata,spec,status', what)
    const metadata = objectMeta.split(',').filter((key) => isObject(answer.metadata) && Object.hasOwn(answer.metadata, key))
    t.equal(keys.find((line) => line.startsWith('.metadata: '))!.replace(/deletion\w+,/g, ''), `.metadata: ${metadata.join(',')}`, what)
    for (const line of ['.metadata.labels: b,z', '.spec.nodeSelector: b,z', '.spec.containers[0].env[0]: name,value'])
      t.ok(keys.includes(line), `${line} in ${what}`)
    const fields = keys.find((line) => line.startsWith('.spec.containers[0]: '))
    t.match(fields, /: name,image,env,resources,terminationMessagePath,terminationMessagePolicy,imagePullPolicy$/, what)
  }
  const list = (await api('GET', `${core}/configmaps?limit=1`)).body
  t.strictSame(Object.keys(list), ['kind', 'apiVersion', 'metadata', 'items'])
  const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' }, user: 'somebody' }, kind: 'SubjectAccessReview' }
  const reviewed = await api('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { body: review })
  t.equal(keysOf(reviewed.body)[0], ': kind,apiVersion,metadata,spec,status')
  t.ok(keysOf(reviewed.body).includes('.spec: resourceAttributes,user'))
})

t.test('the keys of a custom resource and of a list of them are sorted', async (t) => {
  const schema = { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }
  await define(t, api, definition('sorts', 'Sort', schema))
  const body = { kind: 'Sort', spec: { z: 1, a: { d: [{ y: 1, x: 2 }], b: 2 } }, ...custom('Sort', 'a', {}, { labels, finalizers }) }
  const { body: made } = await create(api, 'sorts', body)
  const path = objects('sorts', 'a')
  const change = { spec: { m: { z: 1, a: 2 } } }
  const answers: Record<string, JsonObject> = {
    'a create': made,
    'a read': (await api('GET', path)).body,
    'a patch': (await api('PATCH', path, { contentType: mergePatch, body: change })).body,
    'a list': (await api('GET', objects('sorts'))).body,
    'a deletion': (await api('DELETE', path)).body,
  }
  const watched = await api('GET', `${objects('sorts')}?watch=true&timeoutSeconds=1`)
  answers['an event'] = (JSON.parse(watched.text.split('\n')[0]!) as { object: JsonObject }).object
  const whole = await api('GET', `${objects('sorts')}?includeObject=Object`, { accept: table })
  answers['a row'] = (whole.body.rows as { object: JsonObject }[])[0]!.object
  answers['the last write'] = (await api('PATCH', path, removeFinalizers)).body
  for (const [what, answer] of Object.entries(answers)) t.strictSame(keysOf(answer), sortedKeysOf(answer), what)
})

t.test('PartialObjectMetadata of every kind has the field order of its Go struct', async (t) => {
  await define(t, api, definition('metas', 'Meta', { type: 'object' }))
  await create(api, 'metas', custom('Meta', 'a', {}, { labels, finalizers }))
  const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
  const partial = (await api('GET', objects('metas', 'a'), { accept })).body
  const [row] = (await api('GET', objects('metas'), { accept: table })).body.rows as { object: JsonObject }[]
  for (const object of [partial, row!.object])
    t.strictSame(keysOf(object).slice(0, 2), [': kind,apiVersion,metadata', `.metadata: ${objectMeta}`])
  t.equal((await api('PATCH', objects('metas', 'a'), removeFinalizers)).status, 200)
})

t.test('YAML has sorted keys', async (t) => {
  const accept = 'application/yaml'
  for (const path of [core, '/api/v1/namespaces/nowhere-at-all']) {
    const { text } = await api('GET', path, { accept })
    const keys = text.split('\n').flatMap((line) => /^(\w+):/.exec(line)?.[1] ?? [])
    t.ok(keys.length > 3)
    t.strictSame(keys, keys.toSorted(), path)
  }
  const texts = ['yes', '2001-01-01', '1_000', '0o7', '012', '0x1f', '1:30', 'null', '~', '1e3', '=', 'on', '2001-01-01T00:00:00Z', '']
  const data = Object.fromEntries(texts.map((value, index) => [`k${index}`, value]))
  t.equal((await api('POST', `${core}/configmaps`, { body: { metadata: { name: 'texts' }, data } })).status, 201)
  const { text } = await api('GET', `${core}/configmaps/texts`, { accept })
  t.strictSame(parse(text, { version: '1.1' }).data, data, 'a string is a string in YAML 1.1')
})

t.test('a response to curl, wget, a browser or a request with pretty=true is indented', async (t) => {
  const paths = [core, '/api/v1/namespaces/nowhere-at-all', '/apis', '/api/v1', `${core}/configmaps`]
  const agents: Record<string, boolean> = {
    'curl/8.5.0': true,
    Wget: true,
    'Mozilla/5.0 (X11)': true,
    kubectl: false,
    'Mozilla/4.0': false,
  }
  for (const path of paths) {
    const text = async (agent: string, query = ''): Promise<string> =>
      (await api('GET', path + query, { headers: { 'user-agent': agent } })).text
    const indented = (json: string): string => JSON.stringify(JSON.parse(json), undefined, 2)
    for (const [agent, isIndented] of Object.entries(agents)) {
      const answer = await text(agent)
      t.equal(answer, isIndented ? indented(answer) : `${JSON.stringify(JSON.parse(answer))}\n`, `${path} for ${agent}`)
    }
    for (const value of ['true', '1', 'T']) {
      const answer = await text('kubectl', `?pretty=${value}`)
      t.equal(answer, indented(answer), `${path}?pretty=${value}`)
    }
    for (const value of ['false', 'yes']) t.notMatch(await text('curl/8', `?pretty=${value}`), /^\{\n/, `${path}?pretty=${value}`)
  }
})
