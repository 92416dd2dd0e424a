/** Tests of watches of collections: where they start, their events, and how they end. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { listMetadataOf, mergePatch, metadataOf, serveFoos } from '../support/conformance/objects.ts'
import type { RawEvent } from '../support/conformance/watch-events.ts'
import { brief, watchesOf } from '../support/conformance/watch-events.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-watch'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const watch = watchesOf(t, controlPlane.connection)
const foos = await serveFoos(t, api, namespace)
const secrets = `/api/v1/namespaces/${namespace}/secrets`
const collections = [
  { path: secrets, kind: 'Secret', bodyOf: (metadata: JsonObject): JsonObject => ({ metadata }) },
  { path: foos.path, kind: 'Foo', bodyOf: foos.bodyOf },
]
const own = (set: string): string => `labelSelector=set%3D${set}`
const version = (object: JsonObject): string => String(metadataOf(object).resourceVersion)
const current = async (path: string): Promise<string> => String(listMetadataOf(await api('GET', path)).resourceVersion)

async function change(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const answer = await api(method, path, { body, ...(method === 'PATCH' ? { contentType: mergePatch } : {}) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}
const relabel = (path: string, labels: JsonObject): Promise<JsonObject> => change('PATCH', path, { metadata: { labels } })

for (const { path, kind, bodyOf } of collections) {
  t.test(`${kind}s: a watch from a version gets each later change once, in the same order for every watcher`, async (t) => {
    const since = await current(path)
    const early = await watch(`${path}?${own('order')}&resourceVersion=${since}`)
    t.equal(early.status, 200)
    t.match(early.headers['content-type'], /^application\/json/)
    const first = await change('POST', path, bodyOf({ name: 'first', labels: { set: 'order' } }))
    await change('POST', path, bodyOf({ name: 'second', labels: { set: 'order' } }))
    const changed = await relabel(`${path}/first`, { more: 'x' })
    t.equal(version(await relabel(`${path}/first`, { more: 'x' })), version(changed), 'an update without a change causes no event')
    await change('DELETE', `${path}/second`)
    const late = await watch(`${path}?${own('order')}&resourceVersion=${since}`)
    const between = await watch(`${path}?${own('order')}&resourceVersion=${version(first)}`)
    const expected = ['ADDED first', 'ADDED second', 'MODIFIED first', 'DELETED second']
    for (const watcher of [early, late]) t.strictSame((await watcher.take(4)).map(brief), expected)
    t.strictSame((await between.take(3)).map(brief), expected.slice(1))
    t.strictSame(late.events, early.events)
    const versions = early.events.map(({ object }) => Number(version(object)))
    t.strictSame(
      versions,
      versions.toSorted((a, b) => a - b),
    )
    t.strictSame(early.events[2]!.object, changed)
    t.match(early.events[3]!.object, { kind, metadata: { name: 'second', labels: { set: 'order' } } })
    t.ok(versions[3]! > versions[2]!, 'a deletion has its own version')
    await change('DELETE', `${path}/first`)
  })

  t.test(`${kind}s: an object that starts to match is ADDED, and one that stops is DELETED`, async (t) => {
    const watcher = await watch(`${path}?${own('in')}&resourceVersion=${await current(path)}`)
    await change('POST', path, bodyOf({ name: 'n', labels: { set: 'out' } }))
    await relabel(`${path}/n`, { set: 'in' })
    await relabel(`${path}/n`, { more: 'y' })
    const left = await relabel(`${path}/n`, { set: 'gone' })
    await change('DELETE', `${path}/n`)
    await change('POST', path, bodyOf({ name: 'end', labels: { set: 'in' } }))
    const events = await watcher.take(4)
    t.strictSame(events.map(brief), ['ADDED n', 'MODIFIED n', 'DELETED n', 'ADDED end'])
    t.match(events[2]!.object, { metadata: { labels: { set: 'in', more: 'y' } } }, 'the last matching state')
    t.equal(version(events[2]!.object), version(left), 'the version of the change that ended the match')
    await change('DELETE', `${path}/end`)
  })

  t.test(`${kind}s: a watch without a version begins with the existing objects`, async (t) => {
    for (const name of ['b', 'a']) await change('POST', path, bodyOf({ name, labels: { set: 'there' } }))
    for (const query of ['', '&resourceVersion=0']) {
      const watcher = await watch(`${path}?${own('there')}${query}`)
      t.strictSame((await watcher.take(2)).map(brief).sort(), ['ADDED a', 'ADDED b'])
      await relabel(`${path}/a`, { query: `x${query.length}` })
      t.equal((await watcher.take(3)).map(brief)[2], 'MODIFIED a')
      watcher.close()
    }
    const end = { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: /^\d+$/ } }
    for (const query of ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'resourceVersion=0', '']) {
      const watcher = await watch(`${path}?${own('there')}&allowWatchBookmarks=true&${query}`)
      const events = await watcher.take(3)
      t.strictSame(
        events.map(({ type }) => type),
        ['ADDED', 'ADDED', 'BOOKMARK'],
        query,
      )
      t.match(events[2]!.object, { kind, ...end })
      t.notOk('name' in metadataOf(events[2]!.object) || 'creationTimestamp' in metadataOf(events[2]!.object))
      watcher.close()
    }
    const quiet = await watch(`${path}?${own('there')}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`)
    await relabel(`${path}/b`, { more: 'z' })
    t.strictSame((await quiet.take(1)).map(brief), ['MODIFIED b'])
    for (const name of ['a', 'b']) await change('DELETE', `${path}/${name}`)
  })

  t.test(`${kind}s: a watch can be limited to one object by its name`, async (t) => {
    const since = await current(path)
    const watchers = await Promise.all(
      [`${path}?fieldSelector=metadata.name%3Done&`, `${path.replace(/^\/(api\/v1|apis\/[^/]+\/v1)\//, '/$1/watch/')}/one?`].map((start) =>
        watch(`${start}resourceVersion=${since}`),
      ),
    )
    await change('POST', path, bodyOf({ name: 'other' }))
    await change('POST', path, bodyOf({ name: 'one' }))
    for (const name of ['one', 'other']) await change('DELETE', `${path}/${name}`)
    for (const watcher of watchers) t.strictSame((await watcher.take(2)).map(brief), ['ADDED one', 'DELETED one'])
  })
}

t.test('a watch sends a bookmark before its timeout', async (t) => {
  const since = await current(secrets)
  const watcher = await watch(`${secrets}?${own('nobody')}&allowWatchBookmarks=true&timeoutSeconds=4&resourceVersion=${since}`)
  const silent = await watch(`${secrets}?${own('nobody')}&timeoutSeconds=4&resourceVersion=${since}`)
  await change('POST', secrets, { metadata: { name: 'elsewhere', labels: { set: 'somebody' } } })
  const events = await watcher.ended
  t.strictSame([...new Set(events.map(brief))], ['BOOKMARK'])
  t.ok(Number(version(events[0]!.object)) > Number(since))
  t.strictSame(await silent.ended, [], 'a watch without allowWatchBookmarks gets none')
  await change('DELETE', `${secrets}/elsewhere`)
})

t.test('a watch from a future version waits for it', async (t) => {
  const next = Number(await current(secrets)) + 1
  const watcher = await watch(`${secrets}?resourceVersion=${next}`)
  const far = await watch(`${secrets}?resourceVersion=${next + 1_000_000}&timeoutSeconds=1`)
  await change('POST', secrets, { metadata: { name: 'unseen' } })
  await change('DELETE', `${secrets}/unseen`)
  t.strictSame((await watcher.take(1)).map(brief), ['DELETED unseen'])
  t.strictSame(await far.ended, [])
})

t.test('a watch from a compacted version gets 410 Expired', async (t) => {
  const { status, ended } = await watch(`${foos.path}?resourceVersion=1`)
  t.equal(status, 200)
  const events = await ended
  t.strictSame(events.map(brief), ['ERROR Expired'])
  t.match(events[0]!.object, { kind: 'Status', code: 410, message: /^too old resource version: 1 \(\d+\)$/ })
})

t.test('a watch can send tables and metadata', async (t) => {
  const since = await current(secrets)
  await change('POST', secrets, { metadata: { name: 'shown' } })
  await relabel(`${secrets}/shown`, { a: 'b' })
  await change('DELETE', `${secrets}/shown`)
  const table = await watch(`${secrets}?resourceVersion=${since}`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  const rows = await table.take(3)
  t.strictSame(
    rows.map(({ type }) => type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  )
  t.match(rows[0]!.object, { kind: 'Table', columnDefinitions: [{ name: 'Name' }, { name: 'Type' }, { name: 'Data' }, { name: 'Age' }] })
  for (const { object } of rows)
    t.match(object, { kind: 'Table', rows: [{ cells: ['shown', 'Opaque', 0, /^\d+s$/], object: { metadata: { name: 'shown' } } }] })
  const partial = await watch(`${secrets}?resourceVersion=${since}`, {
    accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  })
  for (const { object } of await partial.take(3)) {
    t.match(object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'shown', resourceVersion: /./ } })
    t.notOk('type' in object)
  }
})

t.test('invalid watch options are refused', async (t) => {
  const forbidden = (message: string): JsonObject => ({
    field: 'resourceVersionMatch',
    message: `Forbidden: ${message}`,
    reason: 'FieldValueForbidden',
  })
  const cases: [string, object][] = [
    [
      'sendInitialEvents=true',
      {
        status: 422,
        body: {
          details: { kind: 'ListOptions', causes: [forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')] },
        },
      },
    ],
    [
      'resourceVersionMatch=NotOlderThan',
      {
        status: 422,
        body: { details: { causes: [forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided')] } },
      },
    ],
    [
      'continue=abc',
      { status: 422, body: { details: { causes: [forbidden('resourceVersionMatch is forbidden when continue is provided')] } } },
    ],
    ['timeoutSeconds=x', { status: 400, body: { message: 'strconv.ParseInt: parsing "x": invalid syntax' } }],
    ['labelSelector=a%20in%20(', { status: 400 }],
    ['fieldSelector=foo%3Dbar', { status: 400, body: { message: 'field label not supported: foo' } }],
    ['resourceVersion=abc', { status: 500, body: { message: /strconv.ParseUint: parsing "abc": invalid syntax$/ } }],
  ]
  for (const [query, expected] of cases)
    t.match(
      await api('GET', `${secrets}?watch=true&timeoutSeconds=1&${query}`.replace(/timeoutSeconds=1&(timeout)/, '$1')),
      expected,
      query,
    )
})

t.test('the watches of a type end after its deletion and the events of its last objects', async (t) => {
  const watcher = await watch(`${foos.path}?resourceVersion=${await current(foos.path)}`)
  await change('POST', foos.path, foos.bodyOf({ name: 'last' }))
  await change('DELETE', foos.definition)
  const events: readonly RawEvent[] = await watcher.ended
  t.strictSame(events.map(brief).slice(0, 2), ['ADDED last', 'DELETED last'])
})
