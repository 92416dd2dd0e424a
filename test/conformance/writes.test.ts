/** Tests of writes: fields that the server sets, optimistic locking, requests that change nothing, and rejections. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { applyPatch, jsonPatch, listMetadataOf, mergePatch, metadataOf, namesOf, serveFoos } from '../support/conformance/objects.ts'
import { conformanceControlPlane, needsQuiet } from '../support/conformance/backends.ts'

const namespace = 'conformance-writes'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const foos = await serveFoos(t, api, namespace)
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`
const collections = [
  {
    path: configMaps,
    kind: 'ConfigMap',
    resource: 'configmaps',
    group: {},
    bodyOf: (metadata: JsonObject, value = 1): JsonObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { value: String(value) },
    }),
    change: (value: number): JsonObject => ({ data: { value: String(value) } }),
  },
  {
    path: foos.path,
    kind: 'Foo',
    resource: `foos.${foos.group}`,
    group: { group: foos.group },
    bodyOf: (metadata: JsonObject, value = 1): JsonObject => foos.bodyOf(metadata, { spec: { size: value } }),
    change: (value: number): JsonObject => ({ spec: { size: value } }),
  },
]

async function created(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}
const patch = (path: string, body: unknown, contentType = mergePatch): Promise<RawAnswer> => api('PATCH', path, { body, contentType })
const version = (object: JsonObject): string => String(metadataOf(object).resourceVersion)
const ago = '2020-01-01T00:00:00Z'
const modified = 'the object has been modified; please apply your changes to the latest version and try again'

for (const { path, kind, resource, group, bodyOf, change } of collections) {
  t.test(`${kind}: fields of the server cannot be set by a client`, async (t) => {
    const given = { uid: 'mine', creationTimestamp: ago, deletionTimestamp: ago, deletionGracePeriodSeconds: 5, selfLink: '/x' }
    const object = await created(
      path,
      bodyOf({ name: 'own', ...given, resourceVersion: '0', labels: {}, finalizers: [], ownerReferences: [] }),
    )
    const metadata = metadataOf(object)
    t.match(metadata, { name: 'own', namespace, uid: /^[0-9a-f]{8}-[0-9a-f-]{27}$/, resourceVersion: /^[1-9]\d*$/ })
    t.not(metadata.creationTimestamp, ago)
    for (const field of ['selfLink', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'labels', 'finalizers', 'ownerReferences'])
      t.notOk(field in metadata, field)
    const kept = (await patch(`${path}/own`, { metadata: { creationTimestamp: ago, generation: 30, selfLink: '/x' } })).body
    t.strictSame(kept, object, 'an update cannot change them')
  })

  t.test(`${kind}: a dry run returns the submitted selfLink, which only the storage drops`, async (t) => {
    const object = await created(path, bodyOf({ name: 'linked' }))
    const update = async (query: string): Promise<JsonObject> => {
      const answer = await api('PUT', `${path}/linked${query}`, {
        body: { ...object, metadata: { ...metadataOf(object), selfLink: '/x' } },
      })
      t.equal(answer.status, 200, answer.text)
      return metadataOf(answer.body)
    }
    t.equal((await update('?dryRun=All')).selfLink, '/x')
    t.notOk('selfLink' in (await update('')))
  })

  t.test(`${kind}: a create with a resourceVersion is refused, except in a dry run`, async (t) => {
    const wrong = 'resourceVersion should not be set on objects to be created'
    const versioned = { name: 'versioned', resourceVersion: '5' }
    t.match((await api('POST', path, { body: bodyOf(versioned) })).body, { code: 500, message: wrong })
    const dry = await api('POST', `${path}?dryRun=All`, { body: bodyOf(versioned) })
    t.strictSame([dry.status, metadataOf(dry.body).resourceVersion], [201, '5'])
    const { body } = await api('POST', path, { body: bodyOf({ ...versioned, labels: { a: 'not valid' } }) })
    t.match(body, { code: 422, message: /metadata.labels: Invalid value: "not valid"/ }, 'validation errors are reported first')
    t.equal((await api('GET', `${path}/versioned`)).status, 404)
  })

  t.test(`${kind}: a stale resourceVersion is refused with 409`, async (t) => {
    const object = await created(path, bodyOf({ name: 'lock' }))
    const stale = version(object)
    const next = await patch(`${path}/lock`, change(2))
    t.equal(next.status, 200)
    const conflict = {
      status: 409,
      body: {
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ${resource} "lock": ${modified}`,
        details: { name: 'lock', ...group, kind: resource.split('.')[0] },
      },
    }
    t.match(await api('PUT', `${path}/lock`, { body: bodyOf({ name: 'lock', resourceVersion: stale }) }), conflict)
    t.match(await patch(`${path}/lock`, { metadata: { resourceVersion: stale } }), conflict)
    t.match(await patch(`${path}/lock`, [{ op: 'replace', path: '/metadata/resourceVersion', value: stale }], jsonPatch), conflict)
    const notANumber = { status: 500, body: { message: 'strconv.ParseUint: parsing "abc": invalid syntax' } }
    t.match(await patch(`${path}/lock`, { metadata: { resourceVersion: 'abc' } }), notANumber)
    t.match(await api('PUT', `${path}/lock`, { body: bodyOf({ name: 'lock', resourceVersion: 'abc' }) }), notANumber)
    const put = await api('PUT', `${path}/lock`, { body: bodyOf({ name: 'lock', resourceVersion: version(next.body) }, 3) })
    t.equal(put.status, 200)
    t.equal((await patch(`${path}/lock`, { metadata: { resourceVersion: version(put.body) }, ...change(4) })).status, 200)
    t.match(await api('PUT', `${path}/lock`, { body: bodyOf({ name: 'lock', resourceVersion: version(put.body), uid: 'other' }, 3) }), {
      status: 409,
      body: { reason: 'Conflict', message: /Precondition failed: UID in precondition: other, UID in object meta: / },
    })
  })

  t.test(`${kind}: concurrent patches are all applied`, async (t) => {
    await created(path, bodyOf({ name: 'race' }))
    const keys = Array.from({ length: 4 }, (_, index) => `writer-${index}`)
    const answers = await Promise.all(keys.map((key) => patch(`${path}/race`, { metadata: { labels: { [key]: 'x' } } })))
    t.strictSame(
      answers.map(({ status }) => status),
      keys.map(() => 200),
    )
    t.strictSame(Object.keys(metadataOf((await api('GET', `${path}/race`)).body).labels ?? {}).sort(), keys)
  })

  t.test(`${kind}: an update without a change is not written`, needsQuiet, async (t) => {
    const object = await created(path, bodyOf({ name: 'same' }, 7))
    const before = String(listMetadataOf(await api('GET', path)).resourceVersion)
    const answers = [
      await patch(`${path}/same`, {}),
      await patch(`${path}/same`, change(7)),
      await patch(`${path}/same`, [], jsonPatch),
      await patch(`${path}/same`, { metadata: { generation: 9 } }),
      await api('PUT', `${path}/same`, { body: object }),
    ]
    for (const answer of answers) t.strictSame(answer.body, object)
    t.equal(String(listMetadataOf(await api('GET', path)).resourceVersion), before)
  })

  t.test(`${kind}: generateName creates a unique name`, async (t) => {
    const short = metadataOf(await created(path, bodyOf({ generateName: 'gen-' })))
    t.match(short, { name: /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/, generateName: 'gen-' })
    const long = metadataOf(await created(path, bodyOf({ generateName: 'y'.repeat(70) })))
    t.match(long.name, /^y{58}[a-z0-9]{5}$/)
    t.equal(metadataOf(await created(path, bodyOf({ generateName: 'gen-', name: 'named' }))).name, 'named')
  })

  t.test(`${kind}: a name, namespace or version that differs from the URL is refused`, async (t) => {
    await created(path, bodyOf({ name: 'a' }))
    const cases: [string, Promise<RawAnswer>, number, string | RegExp][] = [
      ['POST there', api('POST', path, { body: bodyOf({ name: 'a' }) }), 409, `${resource} "a" already exists`],
      [
        'POST version',
        api('POST', path, { body: bodyOf({ name: 'v', resourceVersion: '5' }) }),
        500,
        'resourceVersion should not be set on objects to be created',
      ],
      [
        'POST elsewhere',
        api('POST', path, { body: bodyOf({ name: 'v', namespace: 'other' }) }),
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
      ['POST unnamed', api('POST', path, { body: bodyOf({}) }), 422, /metadata\.name: Required value: name or generateName is required$/],
      [
        'PUT other',
        api('PUT', `${path}/a`, { body: bodyOf({ name: 'b' }) }),
        400,
        'the name of the object (b) does not match the name on the URL (a)',
      ],
      [
        'PUT unnamed',
        api('PUT', `${path}/a`, { body: bodyOf({}) }),
        400,
        'the name of the object (a based on URL) was undeterminable: name must be provided',
      ],
      [
        'PUT elsewhere',
        api('PUT', `${path}/a`, { body: bodyOf({ name: 'a', namespace: 'other' }) }),
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
      [
        'PUT missing',
        api('PUT', `${path}/missing`, { body: bodyOf({ name: 'missing', resourceVersion: '5' }) }),
        404,
        `${resource} "missing" not found`,
      ],
      [
        'PATCH name',
        patch(`${path}/a`, { metadata: { name: 'b' } }),
        400,
        'the name of the object (b) does not match the name on the URL (a)',
      ],
      [
        'PATCH namespace',
        patch(`${path}/a`, { metadata: { namespace: 'b' } }),
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ],
      ['PATCH uid', patch(`${path}/a`, { metadata: { uid: 'x' } }), 422, /metadata\.uid: Invalid value: "x": field is immutable$/],
      [
        'PATCH deletion',
        patch(`${path}/a`, { metadata: { deletionTimestamp: ago } }),
        422,
        /metadata\.deletionTimestamp: Invalid value: ".*": field is immutable$/,
      ],
      ['PATCH missing', patch(`${path}/missing`, {}), 404, `${resource} "missing" not found`],
      ['JSON PATCH missing', patch(`${path}/missing`, [], jsonPatch), 404, `${resource} "missing" not found`],
      [
        'nowhere',
        api('POST', path.replace(`/${namespace}/`, '/conformance-nowhere/'), { body: bodyOf({ name: 'a' }) }),
        404,
        'namespaces "conformance-nowhere" not found',
      ],
    ]
    for (const [what, answer, status, message] of cases) t.match(await answer, { status, body: { kind: 'Status', message } }, what)
  })

  t.test(`${kind}: an invalid patch is refused`, async (t) => {
    await created(path, bodyOf({ name: 'p' }))
    const cases: [unknown, string, number, string | RegExp][] = [
      ['null', mergePatch, 400, 'Invalid JSON Patch'],
      ['[]', mergePatch, 400, 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
      ['{}', jsonPatch, 400, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
      [
        [{ op: 'test', path: '/metadata/name', value: 'q' }],
        jsonPatch,
        422,
        'the server rejected our request due to an error in our request',
      ],
      [[{ op: 'remove', path: '/metadata/nothing' }], jsonPatch, 422, 'the server rejected our request due to an error in our request'],
    ]
    for (const [body, contentType, status, message] of cases)
      t.match(await patch(`${path}/p`, body, contentType), { status, body: { message } }, `${contentType} ${JSON.stringify(body)}`)
    for (const contentType of ['text/plain', 'application/json'])
      t.match(await patch(`${path}/p`, {}, contentType), { status: 415 }, contentType)
  })

  t.test(`${kind}: invalid metadata is refused`, async (t) => {
    const reference = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u' }
    const cases: [string, JsonObject, string[]][] = [
      ['labels', { labels: { 'a!': 'x', b: 'y!', c: 'x'.repeat(64) } }, ['metadata.labels', 'metadata.labels', 'metadata.labels']],
      ['annotations', { annotations: { 'a!': 'x' } }, ['metadata.annotations']],
      ['annotations too long', { annotations: { a: 'x'.repeat(256 * 1024) } }, ['metadata.annotations']],
      ['owner without uid', { ownerReferences: [{ ...reference, uid: '' }] }, ['metadata.ownerReferences.uid']],
      [
        'owner of nothing',
        { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
        [
          'metadata.ownerReferences.apiVersion',
          'metadata.ownerReferences.kind',
          'metadata.ownerReferences.name',
          'metadata.ownerReferences.uid',
        ],
      ],
      ['an Event as owner', { ownerReferences: [{ ...reference, kind: 'Event' }] }, ['metadata.ownerReferences']],
      [
        'two controllers',
        {
          ownerReferences: [
            { ...reference, controller: true },
            { ...reference, uid: 'v', controller: true },
          ],
        },
        ['metadata.ownerReferences'],
      ],
      ['finalizers', { finalizers: ['a b/c'] }, ['metadata.finalizers']],
      ['both policies', { finalizers: ['orphan', 'foregroundDeletion'] }, ['metadata.finalizers']],
      ['name', { name: 'Bad_Name' }, ['metadata.name']],
      ['long name', { name: 'x'.repeat(254) }, ['metadata.name']],
    ]
    for (const [what, metadata, fields] of cases) {
      const answer = await api('POST', path, { body: bodyOf({ name: 'm', ...metadata }) })
      t.equal(answer.status, 422, what)
      t.strictSame(fieldsOf(answer), fields, what)
    }
    const tooLong = await api('POST', path, { body: bodyOf({ name: 'x'.repeat(254) }) })
    t.match(tooLong.body.message, /metadata\.name: Invalid value: "x+": must be no more than 253 characters$/)
  })

  t.test(`${kind}: a dry run runs every step but the write`, async (t) => {
    await created(path, bodyOf({ name: 'dry' }))
    const before = (await api('GET', `${path}/dry`)).body
    const at = String(listMetadataOf(await api('GET', path)).resourceVersion)
    const dry = await api('POST', `${path}?dryRun=All`, { body: bodyOf({ name: 'never' }) })
    t.match(dry, { status: 201, body: { metadata: { name: 'never', uid: /./, creationTimestamp: /./ } } })
    t.notOk('resourceVersion' in metadataOf(dry.body))
    t.match(await api('POST', `${path}?dryRun=All`, { body: bodyOf({ name: 'dry' }) }), { status: 409 })
    t.match(await api('POST', `${path}?dryRun=All`, { body: bodyOf({ name: 'Bad_' }) }), { status: 422 })
    t.match(await api('PATCH', `${path}/dry?dryRun=All`, { body: change(5), contentType: mergePatch }), { status: 200, body: change(5) })
    t.match(await api('PUT', `${path}/dry?dryRun=All`, { body: { ...before, ...change(6) } }), { status: 200, body: change(6) })
    const applied = bodyOf({ name: 'applied' }, 3)
    t.match(await api('PATCH', `${path}/applied?dryRun=All&fieldManager=m`, { body: applied, contentType: applyPatch }), {
      status: 201,
      body: change(3),
    })
    t.match(await api('DELETE', `${path}/dry?dryRun=All`), { status: 200, body: { status: 'Success' } })
    t.match(await api('DELETE', `${path}/dry`, { body: { dryRun: ['All'] } }), { status: 200, body: { status: 'Success' } })
    t.strictSame(namesOf(await api('DELETE', `${path}?dryRun=All&fieldSelector=metadata.name%3Ddry`)), ['dry'])
    t.strictSame((await api('GET', `${path}/dry`)).body, before)
    t.equal(String(listMetadataOf(await api('GET', path)).resourceVersion), at, 'nothing has been written')
    for (const value of ['foo', '']) {
      t.match(await api('POST', `${path}?dryRun=${value}`, { body: bodyOf({ name: 'never' }) }), {
        status: 422,
        body: { message: `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["${value}"]: supported values: "All"` },
      })
    }
  })
}

/** Returns the sorted fields of the causes. */
function fieldsOf({ body }: RawAnswer): string[] {
  const { causes = [] } = (body.details ?? {}) as { causes?: { field: string }[] }
  return causes.map(({ field }) => field).sort()
}

t.test('a timeout that is no duration is refused for each request but a watch', async (t) => {
  const refused = (detail: string): string => `invalid timeout specified in the request URL - time: ${detail}`
  for (const [query, detail] of [
    ['abc', 'invalid duration "abc"'],
    ['5', 'missing unit in duration "5"'],
    ['1d', 'unknown unit "d" in duration "1d"'],
  ] as const) {
    const requests = [
      api('POST', `${configMaps}?timeout=${query}`, { body: { metadata: { generateName: 'timeout-' } } }),
      api('GET', `${configMaps}?timeout=${query}`),
      api('PATCH', `${configMaps}/absent?timeout=${query}`, { body: {}, contentType: mergePatch }),
      api('DELETE', `${configMaps}/absent?timeout=${query}`),
      api('GET', `/version?timeout=${query}`),
    ]
    for (const { status, body } of await Promise.all(requests)) t.match([status, body.message], [400, refused(detail)])
  }
  for (const timeout of ['', '-1s', '0', '1s500ms', '.5m'])
    t.equal(
      (await api('POST', `${configMaps}?dryRun=All&timeout=${timeout}`, { body: { metadata: { name: 'timely' } } })).status,
      201,
      timeout,
    )
  t.equal((await api('GET', `${configMaps}?watch=true&timeout=abc&timeoutSeconds=1`)).status, 200)
})
