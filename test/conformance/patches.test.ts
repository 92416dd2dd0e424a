/** Tests of patches of built-in types: results, rejections and field ownership. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { applyPatch, jsonPatch, mergePatch, metadataOf, strategicPatch } from '../support/conformance/objects.ts'
import { conformanceControlPlane, needsQuiet } from '../support/conformance/backends.ts'

const namespace = 'conformance-patches'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

function deployment(name: string, container: JsonObject = {}): JsonObject {
  const labels = { app: name }
  const containers = [{ name: 'main', image: 'nginx', ...container }]
  return {
    metadata: { name, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  }
}

async function created(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

const patch = (path: string, body: unknown, contentType: string): Promise<RawAnswer> => api('PATCH', path, { body, contentType })
const podPatch = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } })

/** Returns the fields of each entry of managedFields, keyed by `MANAGER OPERATION SUBRESOURCE`. */
function owners(object: JsonObject): Record<string, unknown> {
  const { managedFields = [] } = metadataOf(object) as { managedFields?: { [key: string]: string }[] }
  return Object.fromEntries(
    managedFields.map((entry) => [[entry.manager, entry.operation, entry.subresource].filter(Boolean).join(' '), entry.fieldsV1]),
  )
}

t.test('a strategic merge patch puts its items first, in its own order', async (t) => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ]
  await created(deployments, deployment('ordered', { env, ports: [{ containerPort: 80 }] }))
  const containers = async (spec: JsonObject): Promise<readonly JsonObject[]> => {
    const { body, status, text } = await patch(`${deployments}/ordered`, podPatch(spec), strategicPatch)
    t.equal(status, 200, text)
    return (body.spec as { template: { spec: { containers: JsonObject[] } } }).template.spec.containers
  }
  const names = (items: unknown, key = 'name'): unknown[] => (items as JsonObject[]).map((item) => item[key])
  t.strictSame(names(await containers({ containers: [{ name: 'side', image: 'busybox' }] })), ['side', 'main'])
  const [, changed] = await containers({ containers: [{ name: 'main', env: [{ name: 'C', value: '3' }], ports: [{ containerPort: 81 }] }] })
  t.strictSame(names(changed!.env), ['C', 'A', 'B'])
  t.strictSame(names(changed!.ports, 'containerPort'), [81, 80])
  const order = { '$setElementOrder/containers': [{ name: 'main' }, { name: 'side' }] }
  t.strictSame(names(await containers({ ...order, containers: [{ name: 'main', image: 'nginx:2' }] })), ['main', 'side'])
  t.strictSame(names(await containers({ containers: [{ name: 'side', $patch: 'delete' }] })), ['main'])
})

t.test('a directive in a strategic merge patch of a new map adds nothing', async (t) => {
  await created(deployments, deployment('directives'))
  const annotations = { $patch: 'replace', a: 'b' }
  const { body } = await patch(`${deployments}/directives`, { spec: { template: { metadata: { annotations } } } }, strategicPatch)
  t.strictSame((body.spec as { template: { metadata: JsonObject } }).template.metadata, { labels: { app: 'directives' } })
})

t.test('an invalid patch is refused', async (t) => {
  await created(deployments, deployment('refused'))
  await created(configMaps, { metadata: { name: 'refused' }, data: { a: '1' } })
  const order = { '$setElementOrder/containers': [{ name: 'nobody' }] }
  const cases: readonly (readonly [path: string, contentType: string, body: unknown, answer: object])[] = [
    [
      deployments,
      strategicPatch,
      podPatch({ containers: [{ image: 'x' }] }),
      { code: 500, message: 'map: map[image:x] does not contain declared merge key: name' },
    ],
    [
      deployments,
      strategicPatch,
      { spec: { $patch: 'jump' } },
      { code: 500, message: 'unknown patch type: jump in map: map[$patch:jump]' },
    ],
    [
      deployments,
      strategicPatch,
      podPatch({ ...order, containers: [{ name: 'main', image: 'y' }] }),
      { code: 500, message: /^The order in patch list:\n\[map\[image:y name:main\]\]\n doesn't match \$setElementOrder list:\n/ },
    ],
    [
      deployments,
      strategicPatch,
      { spec: { replicas: 'many' } },
      { code: 422, message: ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:many]]": unrecognized type: int32' },
    ],
    [deployments, strategicPatch, '{', { code: 400, message: 'unexpected end of JSON input' }],
    [
      deployments,
      mergePatch,
      { spec: { replicas: 'many' } },
      { code: 422, message: /: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32$/ },
    ],
    [configMaps, mergePatch, { data: { a: 1 } }, { code: 422, message: /: json: cannot unmarshal number into Go struct field/ }],
    [
      configMaps,
      mergePatch,
      { apiVersion: 'v2' },
      { code: 422, message: /: no kind "ConfigMap" is registered for version "v2" in scheme / },
    ],
    ...[{ op: 'jump', path: '/data/a' }, { path: '/data/a' }, { op: 'remove' }, { op: 'remove', path: 'data/a' }].map(
      (operation) => [configMaps, jsonPatch, [operation], { code: 422, message: /^the server rejected our request/ }] as const,
    ),
  ]
  for (const [path, contentType, body, answer] of cases)
    t.match((await patch(`${path}/refused?dryRun=All`, body, contentType)).body, answer, JSON.stringify(body))
})

t.test('a JSON patch may replace and test a missing field and add one without a value', async (t) => {
  await created(configMaps, { metadata: { name: 'lenient' }, data: { a: '1' } })
  const cases: readonly (readonly [body: unknown, data: JsonObject])[] = [
    [[{ op: 'replace', path: '/data/b', value: '2' }], { a: '1', b: '2' }],
    [[{ op: 'test', path: '/data/b', value: null }], { a: '1' }],
    [[{ op: 'add', path: '/data/b' }], { a: '1', b: '' }],
    ['null', { a: '1' }],
  ]
  for (const [body, data] of cases) {
    const answer = await patch(`${configMaps}/lenient?dryRun=All`, body, jsonPatch)
    t.strictSame([answer.status, answer.body.data], [200, data], JSON.stringify(body))
  }
})

t.test('unknown fields in each kind of patch cause a warning and are dropped', async (t) => {
  await created(deployments, deployment('unknown'))
  const body = { spec: { replica: 1 } }
  for (const contentType of [strategicPatch, mergePatch]) {
    const answer = await patch(`${deployments}/unknown`, body, contentType)
    t.strictSame(answer.warnings, ['unknown field "spec.replica"'], contentType)
    t.notOk('replica' in (answer.body.spec as JsonObject))
  }
  t.match((await patch(`${deployments}/unknown?fieldValidation=Strict`, body, strategicPatch)).body, {
    code: 422,
    message: ' "" is invalid: patch: Invalid value: "map[spec:map[replica:1]]": strict decoding error: unknown field "spec.replica"',
  })
  const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'unknown' } }
  t.match((await patch(`${deployments}/unknown?fieldManager=a`, { ...applied, ...body }, applyPatch)).body, {
    code: 500,
    message: 'failed to create typed patch object (/unknown; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema',
  })
  t.match((await patch(`${deployments}/unknown?fieldManager=a`, { ...applied, spec: { replicas: 'many' } }, applyPatch)).body, {
    code: 500,
    message: /: \.spec\.replicas: expected numeric \(int or float\), got string$/,
  })
})

t.test('the creator of an object owns submitted and defaulted fields, except those of every object', async (t) => {
  const owned = { 'f:imagePullPolicy': {}, 'f:resources': {}, 'f:terminationMessagePath': {}, 'f:terminationMessagePolicy': {} }
  const pod = { 'f:dnsPolicy': {}, 'f:restartPolicy': {}, 'f:schedulerName': {}, 'f:securityContext': {} }
  const body = await created(`${deployments}?fieldManager=m`, deployment('owned'))
  t.strictSame(owners(body), {
    'm Update': {
      'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
      'f:spec': {
        'f:progressDeadlineSeconds': {},
        'f:replicas': {},
        'f:revisionHistoryLimit': {},
        'f:selector': {},
        'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
        'f:template': {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': {
            'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {}, 'f:name': {}, ...owned } },
            ...pod,
            'f:terminationGracePeriodSeconds': {},
          },
        },
      },
    },
  })
  const service = { metadata: { name: 'owned' }, spec: { selector: { a: 'b' }, ports: [{ port: 80 }] } }
  t.strictSame(owners(await created(`/api/v1/namespaces/${namespace}/services?fieldManager=m`, service)), {
    'm Update': {
      'f:spec': {
        'f:internalTrafficPolicy': {},
        'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} } },
        'f:selector': {},
        'f:sessionAffinity': {},
        'f:type': {},
      },
    },
  })
})

t.test('an update that only removes a field removes it from its owner', needsQuiet, async (t) => {
  const path = `${configMaps}/removed`
  const object = {
    metadata: { name: 'removed', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] },
    data: { a: '1', b: '2' },
  }
  t.strictSame(owners(await created(`${configMaps}?fieldManager=one`, object)), {
    'one Update': {
      'f:data': { '.': {}, 'f:a': {}, 'f:b': {} },
      'f:metadata': { 'f:ownerReferences': { '.': {}, 'k:{"uid":"u"}': {} } },
    },
  })
  await patch(`${path}?fieldManager=two`, { data: { a: '3' } }, mergePatch)
  const { body } = await patch(`${path}?fieldManager=two`, { data: { b: null }, metadata: { ownerReferences: null } }, mergePatch)
  t.strictSame(owners(body), { 'one Update': { 'f:data': {} }, 'two Update': { 'f:data': { 'f:a': {} } } })
})

t.test('a write of the scale is tracked when replicas has an owner', async (t) => {
  const replicas = { spec: { replicas: 3 } }
  await created(`${deployments}?fieldManager=m`, deployment('scaled'))
  await patch(`${deployments}/scaled/scale?fieldManager=scaler`, replicas, mergePatch)
  const scaled = owners((await api('GET', `${deployments}/scaled`)).body)
  t.strictSame(scaled['scaler Update scale'], { 'f:spec': { 'f:replicas': {} } })
  t.notMatch(scaled['m Update'], { 'f:spec': { 'f:replicas': {} } })

  const { spec, metadata } = deployment('applied')
  const applied = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: spec! }
  await patch(`${deployments}/applied?fieldManager=m`, applied, applyPatch)
  await patch(`${deployments}/applied/scale?fieldManager=scaler`, replicas, mergePatch)
  const { body } = await api('GET', `${deployments}/applied`)
  t.strictSame(Object.keys(owners(body)), ['m Apply'])
  t.match(body.spec, replicas.spec)
})

t.test('the last ten managers of updates are kept separately', async (t) => {
  await created(`${configMaps}?fieldManager=m0`, { metadata: { name: 'many' }, data: { k0: '0' } })
  for (let index = 1; index <= 11; index += 1)
    await patch(`${configMaps}/many?fieldManager=m${index}`, { data: { [`k${index}`]: '0' } }, mergePatch)
  const { body } = await api('GET', `${configMaps}/many`)
  const found = owners(body)
  t.equal(Object.keys(found).length, 10)
  t.match(found, { 'ancient-changes Update': { 'f:data': {} }, 'm11 Update': { 'f:data': { 'f:k11': {} } } })
})
