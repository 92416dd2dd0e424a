/** Tests of deletion: finalizers, preconditions, DeleteOptions, grace periods of Pods, collections. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { listMetadataOf, mergePatch, metadataOf, namesOf, serveFoos } from '../support/conformance/objects.ts'
import { brief, watchesOf } from '../support/conformance/watch-events.ts'
import { conformanceControlPlane, needsQuiet } from '../support/conformance/backends.ts'

const namespace = 'conformance-deletion'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const watch = watchesOf(t, controlPlane.connection)
const foos = await serveFoos(t, api, namespace)
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
const pods = `/api/v1/namespaces/${namespace}/pods`
const collections = [
  { path: configMaps, kind: 'ConfigMap', resource: 'configmaps', group: '', bodyOf: (metadata: JsonObject): JsonObject => ({ metadata }) },
  { path: foos.path, kind: 'Foo', resource: 'foos', group: foos.group, bodyOf: foos.bodyOf },
]

async function created(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}
const patch = (path: string, body: JsonObject): Promise<RawAnswer> => api('PATCH', path, { body, contentType: mergePatch })
const version = (object: JsonObject): string => String(metadataOf(object).resourceVersion)

for (const { path, kind, resource, group, bodyOf } of collections) {
  const ofGroup = group === '' ? {} : { group }

  t.test(`${kind}: without finalizers it is removed immediately, and the response is a Status with its uid`, async (t) => {
    const { uid } = metadataOf(await created(path, bodyOf({ name: 'a' })))
    t.strictSame((await api('DELETE', `${path}/a`)).body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', ...ofGroup, kind: resource, uid },
    })
    t.match(await api('DELETE', `${path}/a`), {
      status: 404,
      body: { reason: 'NotFound', details: { name: 'a', ...ofGroup, kind: resource } },
    })
  })

  t.test(`${kind}: with finalizers it is marked for deletion and removed with the last finalizer`, async (t) => {
    const object = await created(path, bodyOf({ name: 'held', finalizers: ['example.com/x', 'example.com/y'] }))
    const watcher = await watch(`${path}?fieldSelector=metadata.name%3Dheld&resourceVersion=${version(object)}`)
    const marked = await api('DELETE', `${path}/held`)
    t.match(marked, {
      status: 200,
      body: { kind, metadata: { uid: metadataOf(object).uid, deletionTimestamp: /Z$/, deletionGracePeriodSeconds: 0 } },
    })
    if (group !== '') t.equal(metadataOf(marked.body).generation, 2, 'a deletion increases the generation')
    t.equal(version((await api('DELETE', `${path}/held`)).body), version(marked.body), 'a second DELETE changes nothing')
    const message =
      /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/z"\}$/
    t.match(await patch(`${path}/held`, { metadata: { finalizers: ['example.com/x', 'example.com/z'] } }), {
      status: 422,
      body: { message },
    })
    t.match(await patch(`${path}/held`, { metadata: { deletionGracePeriodSeconds: 5 } }), {
      status: 422,
      body: { message: /field is immutable$/ },
    })
    const unmarked = await patch(`${path}/held`, { metadata: { deletionTimestamp: null } })
    t.equal(
      metadataOf(unmarked.body).deletionTimestamp,
      metadataOf(marked.body).deletionTimestamp,
      'an update cannot remove the deletionTimestamp',
    )
    t.match(await patch(`${path}/held`, { metadata: { labels: { a: 'b' }, finalizers: ['example.com/x'] } }), { status: 200 })
    t.match(await api('PATCH', `${path}/held?dryRun=All`, { body: { metadata: { finalizers: null } }, contentType: mergePatch }), {
      status: 200,
    })
    t.match(await api('GET', `${path}/held`), { status: 200, body: { metadata: { labels: { a: 'b' } } } })
    const last = await patch(`${path}/held`, { metadata: { finalizers: [] } })
    t.match(last, { status: 200, body: { metadata: { name: 'held', deletionTimestamp: /Z$/ } } })
    t.match(await api('GET', `${path}/held`), { status: 404 })
    t.strictSame((await watcher.take(3)).map(brief), ['MODIFIED held', 'MODIFIED held', 'DELETED held'])
  })

  t.test(`${kind}: a failed precondition is refused`, async (t) => {
    const object = await created(path, bodyOf({ name: 'pre' }))
    const subject = group === '' ? kind : `${kind}.${group}`
    const conflict = (detail: RegExp): object => ({
      status: 409,
      body: { reason: 'Conflict', message: detail, details: { name: 'pre', ...ofGroup, kind } },
    })
    const uid =
      /the UID in the precondition \(x\) does not match the UID in record \(.*\)\. The object might have been deleted and then recreated$/
    const answer = await api('DELETE', `${path}/pre`, { body: { preconditions: { uid: 'x' } } })
    t.match(answer, conflict(uid))
    t.ok(String(answer.body.message).startsWith(`Operation cannot be fulfilled on ${subject} "pre": `))
    const old =
      /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/
    t.match(await api('DELETE', `${path}/pre`, { body: { preconditions: { resourceVersion: '1' } } }), conflict(old))
    const preconditions = { uid: metadataOf(object).uid!, resourceVersion: version(object) }
    t.match(await api('DELETE', `${path}/pre`, { body: { preconditions } }), { status: 200, body: { status: 'Success' } })
  })

  t.test(`${kind}: a propagation policy adds the finalizer of the garbage collector`, needsQuiet, async (t) => {
    const cases: [string, JsonObject | undefined, string, string[] | undefined][] = [
      ['foreground', { propagationPolicy: 'Foreground' }, '', ['foregroundDeletion']],
      ['orphan', { propagationPolicy: 'Orphan' }, '', ['orphan']],
      ['orphan-old', { orphanDependents: true }, '', ['orphan']],
      ['background', { propagationPolicy: 'Background' }, '', undefined],
      ['query', undefined, '?propagationPolicy=Foreground', ['foregroundDeletion']],
    ]
    for (const [name, body, query, finalizers] of cases) {
      await created(path, bodyOf({ name }))
      t.equal((await api('DELETE', `${path}/${name}${query}`, { body })).status, 200, name)
      const left = await api('GET', `${path}/${name}`)
      t.strictSame(metadataOf(left.body).finalizers, finalizers, name)
      t.equal(left.status, finalizers === undefined ? 404 : 200, name)
      if (finalizers !== undefined) await patch(`${path}/${name}`, { metadata: { finalizers: null } })
    }
  })

  t.test(`${kind}: orphanDependents false removes the finalizers of the garbage collector`, needsQuiet, async (t) => {
    for (const finalizer of ['orphan', 'foregroundDeletion']) {
      await created(path, bodyOf({ name: finalizer.toLowerCase(), finalizers: ['example.com/stay', finalizer] }))
      const one = `${path}/${finalizer.toLowerCase()}`
      await api('DELETE', one, { body: { orphanDependents: false } })
      t.strictSame(metadataOf((await api('GET', one)).body).finalizers, ['example.com/stay'], finalizer)
      await patch(one, { metadata: { finalizers: null } })
    }
  })

  t.test(`${kind}: a collection is deleted by selectors`, async (t) => {
    for (const [name, set] of [
      ['c1', 'yes'],
      ['c2', 'yes'],
      ['c3', 'no'],
    ] as const)
      await created(path, bodyOf({ name, labels: { set } }))
    const deleted = await api('DELETE', `${path}?labelSelector=set%3Dyes&limit=1`)
    t.match(deleted, { status: 200, body: { kind: `${kind}List`, metadata: { resourceVersion: /./ } } })
    t.strictSame(namesOf(deleted), ['c1'])
    t.match((deleted.body.items as JsonObject[])[0], { metadata: { labels: { set: 'yes' } } })
    t.notOk('deletionTimestamp' in metadataOf((deleted.body.items as JsonObject[])[0]), 'the returned items are in their state before')
    t.ok(listMetadataOf(deleted).continue)
    t.strictSame(namesOf(await api('DELETE', `${path}?labelSelector=set%3Dyes`)), ['c2'])
    t.strictSame(namesOf(await api('DELETE', `${path}?labelSelector=nobody`)), [])
    t.match(await api('GET', `${path}/c3`), { status: 200 })
    t.match(await api('DELETE', `${path}?labelSelector=a%20in%20(`), { status: 400 })
    t.strictSame(namesOf(await api('DELETE', `${path}?fieldSelector=metadata.name%3Dc3`)), ['c3'])
    t.match(await api('DELETE', path.replace(`/namespaces/${namespace}`, '')), { status: group === '' ? 405 : 404 })
  })
}

t.test('invalid DeleteOptions are refused', async (t) => {
  await created(configMaps, { metadata: { name: 'stays' } })
  const invalid = (message: string): object => ({ status: 422, body: { message: `DeleteOptions.meta.k8s.io "" is invalid: ${message}` } })
  const policy = (value: string): object =>
    invalid(`propagationPolicy: Unsupported value: "${value}": supported values: "Foreground", "Background", "Orphan", "nil"`)
  const bad = (message: string): object => ({ status: 400, body: { message } })
  const both = invalid('propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set')
  const bodies: [unknown, object][] = [
    [{ propagationPolicy: 'Foo' }, policy('Foo')],
    [{ propagationPolicy: 'Orphan', orphanDependents: true }, both],
    [{ dryRun: ['Foo'] }, invalid('dryRun: Unsupported value: ["Foo"]: supported values: "All"')],
    [{ dryRun: 'All' }, bad('json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string')],
    [{ gracePeriodSeconds: 'x' }, bad('json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64')],
    ['x', bad("couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value")],
    [{ kind: 'Pod', apiVersion: 'v1' }, bad('no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"')],
  ]
  for (const [body, expected] of bodies) t.match(await api('DELETE', `${configMaps}/stays`, { body }), expected, JSON.stringify(body))
  const queries: [string, object][] = [
    ['propagationPolicy=Foo', policy('Foo')],
    ['propagationPolicy=Orphan&orphanDependents=true', both],
    ['gracePeriodSeconds=x', bad('strconv.ParseInt: parsing "x": invalid syntax')],
  ]
  for (const [query, expected] of queries) t.match(await api('DELETE', `${configMaps}/stays?${query}`), expected, query)
  t.match(await api('GET', `${configMaps}/stays`), { status: 200 })
  t.match(await api('DELETE', `${configMaps}/stays`, { body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 30 } }), {
    status: 200,
  })
  t.match(await api('GET', `${configMaps}/stays`), { status: 404 }, 'a type without processes has no grace period')
})

t.test('a scheduled Pod has a grace period, which a later DELETE can only shorten', async (t) => {
  const cases: [string, JsonObject, [unknown, number | undefined][]][] = [
    [
      'default',
      {},
      [
        [{}, 30],
        [{}, 30],
        [{ gracePeriodSeconds: 10 }, 10],
        [{ gracePeriodSeconds: 100 }, 10],
        [{ gracePeriodSeconds: 0 }, undefined],
      ],
    ],
    [
      'own',
      { terminationGracePeriodSeconds: 7 },
      [
        [{}, 7],
        [{ dryRun: ['All'], gracePeriodSeconds: 0 }, 7],
        [{ gracePeriodSeconds: 0 }, undefined],
      ],
    ],
    [
      'longer',
      {},
      [
        [{ gracePeriodSeconds: 60 }, 60],
        [{ gracePeriodSeconds: -1 }, 1],
        [{ gracePeriodSeconds: 0 }, undefined],
      ],
    ],
    ['unscheduled', { nodeName: null }, [[{}, undefined]]],
    ['none', { terminationGracePeriodSeconds: 0 }, [[{}, undefined]]],
  ]
  for (const [name, spec, deletions] of cases) {
    const containers = [{ name: 'main', image: 'x' }]
    await created(pods, { metadata: { name }, spec: { nodeName: 'nowhere', containers, ...spec } })
    for (const [body, left] of deletions) {
      const what = `${name} ${JSON.stringify(body)}`
      const answer = await api('DELETE', `${pods}/${name}`, { body })
      t.match(answer, { status: 200, body: { kind: 'Pod' } }, what)
      const found = await api('GET', `${pods}/${name}`)
      t.equal(metadataOf(found.body).deletionGracePeriodSeconds, left, what)
      t.equal(found.status, left === undefined ? 404 : 200, what)
    }
  }
})

t.test('the seconds of a grace period become nanoseconds in 64 bits', async (t) => {
  const containers = [{ name: 'main', image: 'x' }]
  for (const seconds of [9_223_372_036, 9_223_372_037, 8e12, 9_007_199_254_740_991]) {
    const expected = Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
    const isGrace = (found: JsonObject, what: string): void => {
      const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(found)
      t.equal(deletionGracePeriodSeconds, seconds, what)
      t.ok(Math.abs(Date.parse(String(deletionTimestamp)) - Date.now() - expected) < 60_000, `${what}: ${String(deletionTimestamp)}`)
    }
    const name = `long-${seconds}`
    await created(pods, { metadata: { name }, spec: { nodeName: 'nowhere', containers, terminationGracePeriodSeconds: seconds } })
    isGrace((await api('DELETE', `${pods}/${name}`)).body, 'the grace period of the Pod')
    await api('DELETE', `${pods}/${name}`, { body: { gracePeriodSeconds: 60 } })
    const shortened = metadataOf((await api('GET', `${pods}/${name}`)).body)
    t.equal(shortened.deletionGracePeriodSeconds, 60)
    t.ok(Math.abs(Date.parse(String(shortened.deletionTimestamp)) - Date.now() - 60_000) < 60_000, String(shortened.deletionTimestamp))
    t.equal((await api('DELETE', `${pods}/${name}`, { body: { gracePeriodSeconds: 0 } })).status, 200)
    t.equal((await api('GET', `${pods}/${name}`)).status, 404)

    await created(pods, { metadata: { name }, spec: { nodeName: 'nowhere', containers } })
    isGrace((await api('DELETE', `${pods}/${name}`, { body: { gracePeriodSeconds: seconds } })).body, 'that of a DELETE')
    await api('DELETE', `${pods}/${name}`, { body: { gracePeriodSeconds: 0 } })

    await created(pods, { metadata: { name }, spec: { nodeName: 'nowhere', containers } })
    const eviction = { metadata: { name }, deleteOptions: { gracePeriodSeconds: seconds } }
    t.equal((await api('POST', `${pods}/${name}/eviction`, { body: eviction })).status, 201)
    isGrace((await api('GET', `${pods}/${name}`)).body, 'that of an eviction')
    await api('DELETE', `${pods}/${name}`, { body: { gracePeriodSeconds: 0 } })
  }
  const spec = { nodeName: 'nowhere', containers, terminationGracePeriodSeconds: 1e19 }
  t.match(await api('POST', pods, { body: { metadata: { name: 'too-long' }, spec } }), {
    status: 400,
    body: { message: /cannot unmarshal number 10000000000000000000 into Go struct field .*terminationGracePeriodSeconds of type int64/ },
  })
})

t.test('a Pod with finalizers stays after its grace period', async (t) => {
  await created(pods, {
    metadata: { name: 'held', finalizers: ['example.com/x'] },
    spec: { nodeName: 'nowhere', containers: [{ name: 'main', image: 'x' }] },
  })
  await api('DELETE', `${pods}/held`, { body: { gracePeriodSeconds: 0 } })
  t.match(await api('GET', `${pods}/held`), {
    status: 200,
    body: { metadata: { deletionGracePeriodSeconds: 0, finalizers: ['example.com/x'] } },
  })
  await patch(`${pods}/held`, { metadata: { finalizers: null } })
  t.match(await api('GET', `${pods}/held`), { status: 404 })
})

t.test('the deletion of a system namespace is refused', async (t) => {
  for (const name of ['default', 'kube-system', 'kube-public']) {
    t.match(await api('DELETE', `/api/v1/namespaces/${name}?dryRun=All`), {
      status: 403,
      body: { reason: 'Forbidden', message: `namespaces "${name}" is forbidden: this namespace may not be deleted` },
    })
  }
  t.match(await api('DELETE', '/api/v1/namespaces'), { status: 405 })
})
