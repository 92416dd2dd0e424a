/** Tests of lists: pages, resource versions, selectors and rejected options. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { Api } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import { continueToken, itemsOf, listMetadataOf, namesOf, serveFoos } from '../support/conformance/objects.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-list'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const foos = await serveFoos(t, api, namespace)
const secrets = `/api/v1/namespaces/${namespace}/secrets`

/** A collection of a built-in type, and a collection of a custom type. Each contains five objects. */
const collections = [
  { path: secrets, kind: 'Secret', bodyOf: (metadata: JsonObject): JsonObject => ({ metadata, type: 'Opaque' }) },
  { path: foos.path, kind: 'Foo', bodyOf: foos.bodyOf },
]

for (const { path, bodyOf } of collections) {
  for (const name of ['c', 'a', 'e', 'b', 'd']) await created(path, bodyOf({ name, labels: { set: 'five', name } }))
}

async function created(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await api('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

const five = 'labelSelector=set%3Dfive'

for (const { path, kind, bodyOf } of collections) {
  t.test(`every page of ${kind}s has the revision of the first`, async (t) => {
    const first = await api('GET', `${path}?${five}&limit=2`)
    t.strictSame(namesOf(first), ['a', 'b'])
    t.equal(first.body.kind, `${kind}List`)
    t.notOk('remainingItemCount' in listMetadataOf(first), 'a list with a selector has no remainingItemCount')
    await created(path, bodyOf({ name: 'cc', labels: { set: 'five' } }))
    await api('DELETE', `${path}/d`)
    const second = await api('GET', `${path}?${five}&limit=2&continue=${continueToken(first)}`)
    t.strictSame(namesOf(second), ['c', 'd'])
    const third = await api('GET', `${path}?${five}&limit=2&continue=${continueToken(second)}`)
    t.strictSame(namesOf(third), ['e'])
    t.notOk(listMetadataOf(third).continue)
    for (const page of [second, third]) t.equal(listMetadataOf(page).resourceVersion, listMetadataOf(first).resourceVersion)
    t.strictSame(namesOf(await api('GET', `${path}?${five}`)), ['a', 'b', 'c', 'cc', 'e'])
    await api('DELETE', `${path}/cc`)
    await created(path, bodyOf({ name: 'd', labels: { set: 'five', name: 'd' } }))
  })

  t.test(`a page of ${kind}s has the remainingItemCount unless a selector is used`, async (t) => {
    const all = itemsOf(await api('GET', path)).length
    const first = await api('GET', `${path}?limit=2`)
    t.equal(listMetadataOf(first).remainingItemCount, all - 2)
    const rest = await api('GET', `${path}?continue=${continueToken(first)}`)
    t.equal(itemsOf(rest).length, all - 2)
    t.notOk('remainingItemCount' in listMetadataOf(rest))
    for (const limit of ['0', '-1', String(all)]) {
      const whole = await api('GET', `${path}?limit=${limit}`)
      t.equal(itemsOf(whole).length, all, limit)
      t.notOk(listMetadataOf(whole).continue, limit)
    }
  })

  t.test(`${kind}s can be listed at a version that is not older, exact, or from the cache`, async (t) => {
    const before = String(listMetadataOf(await api('GET', path)).resourceVersion)
    await created(path, bodyOf({ name: 'late', labels: { set: 'five' } }))
    const at = async (query: string): Promise<string> => namesOf(await api('GET', `${path}?${five}&${query}`)).join()
    const [now, then] = ['a,b,c,d,e,late', 'a,b,c,d,e']
    t.equal(await at(''), now)
    t.equal(await at('resourceVersion='), now)
    t.equal(await at(`resourceVersion=${before}&resourceVersionMatch=Exact`), then)
    t.equal(await at(`resourceVersion=${before}&limit=10`), then, 'a limit without resourceVersionMatch lists the exact version')
    t.equal(await at('resourceVersion=0&limit=2'), now, 'a list from the cache is complete')
    for (const query of [`resourceVersion=${before}`, `resourceVersion=${before}&resourceVersionMatch=NotOlderThan`])
      t.match(await at(query), /^a,b,c,d,e(,late)?$/, query)
    const exact = await api('GET', `${path}?resourceVersion=${before}&resourceVersionMatch=Exact&limit=2`)
    t.equal(listMetadataOf(exact).resourceVersion, before)
    const next = await api('GET', `${path}?limit=2&continue=${continueToken(exact)}`)
    t.equal(listMetadataOf(next).resourceVersion, before)
    await api('DELETE', `${path}/late`)
  })
}

t.test('an empty collection is an empty list', async (t) => {
  for (const [path, kind] of [
    [`${secrets}?labelSelector=nobody`, 'SecretList'],
    [`${foos.path}?labelSelector=nobody`, 'FooList'],
    ['/api/v1/namespaces/conformance-nowhere/secrets', 'SecretList'],
  ] as const) {
    const list = await api('GET', path)
    t.match(list, { status: 200, body: { kind, apiVersion: /./, metadata: { resourceVersion: /^\d+$/ } } })
    t.strictSame(list.body.items, [])
  }
})

t.test('a list is limited by a label selector', async (t) => {
  const cases: [string, string][] = [
    ['name in (a,b)', 'a,b'],
    ['name notin (a,b),set', 'c,d,e'],
    ['set=five,name!=c', 'a,b,d,e'],
    ['set==five,name=c', 'c'],
    ['set,!name', ''],
    ['name in (a,,b)', 'a,b'],
    ['name>1', ''],
  ]
  for (const [selector, expected] of cases) {
    for (const { path } of collections)
      t.equal(namesOf(await api('GET', `${path}?labelSelector=${encodeURIComponent(selector)}`)).join(), expected, `${path} ${selector}`)
  }
})

t.test('a list is limited by a field selector', async (t) => {
  for (const { path } of collections) {
    t.strictSame(namesOf(await api('GET', `${path}?fieldSelector=metadata.name=c`)), ['c'])
    t.strictSame(namesOf(await api('GET', `${path}?fieldSelector=metadata.name%3D%3Dc&limit=1`)), ['c'])
    t.strictSame(namesOf(await api('GET', `${path}?${five}&fieldSelector=metadata.name!%3Dc,metadata.namespace%3D${namespace}`)), [
      'a',
      'b',
      'd',
      'e',
    ])
    t.strictSame(namesOf(await api('GET', `${path}?fieldSelector=metadata.namespace=other`)), [])
  }
})

t.test('a list can be read as PartialObjectMetadataList and as Table', async (t) => {
  const partial = await api('GET', `${secrets}?${five}&limit=1`, {
    accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  })
  t.match(partial.body, {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { continue: /./, resourceVersion: /./ },
    items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a', namespace } }],
  })
  t.notOk('type' in itemsOf(partial)[0]!)
  const table = await api('GET', `${secrets}?${five}&limit=1`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
  t.match(table.body, {
    kind: 'Table',
    metadata: { continue: /./, resourceVersion: /./ },
    rows: [{ cells: ['a', 'Opaque', 0, /^\d+s$/], object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } }],
  })
})

const listOptions = (causes: { field: string; message: string; reason: string }[]): object => ({
  status: 422,
  body: { reason: 'Invalid', details: { group: 'meta.k8s.io', kind: 'ListOptions', causes } },
})
const matchForbidden = (detail: string): { field: string; message: string; reason: string } => ({
  field: 'resourceVersionMatch',
  message: `Forbidden: ${detail}`,
  reason: 'FieldValueForbidden',
})
const badRequest = (message: string | RegExp): object => ({ status: 400, body: { kind: 'Status', reason: 'BadRequest', message } })
const token = (text: object): string => Buffer.from(JSON.stringify(text)).toString('base64url')

t.test('invalid list options are refused', async (t) => {
  const cases: [string, object][] = [
    ['limit=x', badRequest('strconv.ParseInt: parsing "x": invalid syntax')],
    ['timeoutSeconds=x', badRequest('strconv.ParseInt: parsing "x": invalid syntax')],
    [
      'resourceVersion=abc',
      badRequest('invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'),
    ],
    ['resourceVersionMatch=Exact', listOptions([matchForbidden('resourceVersionMatch is forbidden unless resourceVersion is provided')])],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      listOptions([matchForbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]),
    ],
    [
      'resourceVersion=1&resourceVersionMatch=foo',
      listOptions([
        {
          field: 'resourceVersionMatch',
          message: 'Unsupported value: "foo": supported values: "Exact", "NotOlderThan", ""',
          reason: 'FieldValueNotSupported',
        },
      ]),
    ],
    [
      'sendInitialEvents=true',
      listOptions([
        { field: 'sendInitialEvents', message: 'Forbidden: sendInitialEvents is forbidden for list', reason: 'FieldValueForbidden' },
      ]),
    ],
    ['continue=e30', badRequest('invalid continue token: continue key is not valid: server does not recognize this encoded version ')],
    ['continue=garbage', badRequest(/^invalid continue token: continue key is not valid: /)],
    [
      `continue=${token({ v: 'meta.k8s.io/v1', rv: 5, start: '../x' })}`,
      badRequest('invalid continue token: continue key is not valid: ../x'),
    ],
    [
      `continue=${token({ v: 'meta.k8s.io/v1', rv: 0, start: 'x' })}`,
      badRequest('invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)'),
    ],
    ['labelSelector=a,,', badRequest("found ',', expected: identifier after ','")],
    ['labelSelector=a%3Db%3Dc', badRequest("found '=', expected: ',' or 'end of string'")],
    ['labelSelector=a%20in%20(', badRequest("unable to parse requirement: found '', expected: ',', ')' or identifier")],
    ['labelSelector=a%20in%20b', badRequest("unable to parse requirement: found 'b' expected: '('")],
    ['labelSelector=a%20in%20(b', badRequest("unable to parse requirement: found '', expected: ',' or ')'")],
    ['labelSelector=-a', badRequest(/^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of/)],
    ['labelSelector=a%3D$', badRequest(/^unable to parse requirement: values\[0\]\[a\]: Invalid value: "\$": a valid label must be/)],
    ['labelSelector=a%3Ex', badRequest(/values\[0\]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer$/)],
    ['fieldSelector=metadata.name', badRequest("invalid selector: 'metadata.name'; can't understand 'metadata.name'")],
  ]
  for (const { path } of collections)
    for (const [query, expected] of cases) t.match(await api('GET', `${path}?${query}`), expected, `${path}?${query}`)
  t.match(await api('GET', `${secrets}?fieldSelector=data.k=a`), badRequest('field label not supported: data.k'))
  t.match(await api('GET', `${foos.path}?fieldSelector=spec.size=1`), badRequest('field label not supported: spec.size'))
})

t.test('a continue token with a resourceVersion is refused', async (t) => {
  const page = await api('GET', `${secrets}?limit=1`)
  const goOn = `${secrets}?continue=${continueToken(page)}`
  t.match(await api('GET', `${goOn}&resourceVersion=5`), badRequest('specifying resource version is not allowed when using continue'))
  t.match(
    await api('GET', `${goOn}&resourceVersionMatch=Exact`),
    listOptions([
      matchForbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'),
      matchForbidden('resourceVersionMatch is forbidden when continue is provided'),
    ]),
  )
})

t.test('a list at a future version waits and is then refused', async (t) => {
  const current = async (): Promise<number> => Number(listMetadataOf(await api('GET', secrets)).resourceVersion)
  const tooLarge = {
    status: 504,
    body: {
      reason: 'Timeout',
      message: /^Timeout: Too large resource version: \d+, current: \d+$/,
      details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
    },
  }
  const far = (await current()) + 1_000_000
  const asked = [
    api('GET', `${secrets}?resourceVersion=${far}`),
    api('GET', `${secrets}?resourceVersion=${far}&resourceVersionMatch=Exact`),
    api('GET', `${secrets}/a?resourceVersion=${far}`),
    api('GET', `${foos.path}?resourceVersion=${far}`),
  ]
  for (const answer of await Promise.all(asked)) t.match(answer, tooLarge)

  const waiting = api('GET', `${secrets}?resourceVersion=${(await current()) + 1}&resourceVersionMatch=NotOlderThan`)
  await written(api, `${secrets}/a`)
  t.match(await waiting, { status: 200 })
})

t.test('a get with a resourceVersion returns that or a newer version', async (t) => {
  t.match(await api('GET', `${secrets}/a?resourceVersion=0`), { status: 200, body: { metadata: { name: 'a' } } })
  t.match(await api('GET', `${secrets}/nobody?resourceVersion=0`), { status: 404 })
  const message = 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'
  for (const { path } of collections) t.match(await api('GET', `${path}/a?resourceVersion=abc`), { status: 500, body: { message } })
})

t.test('a compacted version gets 410, with a token that completes a paged list', needsOwnControlPlane, async (t) => {
  for (const { path, bodyOf } of collections) {
    const first = await api('GET', `${path}?${five}&limit=2`)
    const version = String(listMetadataOf(first).resourceVersion)
    await created(path, bodyOf({ name: 'bb', labels: { set: 'five' } }))
    await created(path, bodyOf({ name: 'cc', labels: { set: 'five' } }))
    await controlPlane.compact()
    const expired = await until('the token has expired', async () => {
      const answer = await api('GET', `${path}?${five}&limit=2&continue=${continueToken(first)}`)
      return answer.status === 410 && answer
    })
    t.match(expired.body, {
      kind: 'Status',
      metadata: { continue: /./ },
      reason: 'Expired',
      message:
        'The provided continue parameter is too old to display a consistent list result. ' +
        'You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
        'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time ' +
        'the first chunk was returned and now may show up in the list.',
    })
    const rest = await api('GET', `${path}?${five}&continue=${continueToken(expired)}`)
    t.strictSame(namesOf(rest), ['bb', 'c', 'cc', 'd', 'e'], 'the rest of the list in its current state')
    t.not(listMetadataOf(rest).resourceVersion, version)
    for (const query of [`resourceVersion=${version}&resourceVersionMatch=Exact`, `resourceVersion=${version}&limit=1`]) {
      t.match(await api('GET', `${path}?${query}`), {
        status: 410,
        body: { reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' },
      })
    }
    t.match(await api('GET', `${path}?resourceVersion=${version}`), { status: 200 })
    for (const name of ['bb', 'cc']) await api('DELETE', `${path}/${name}`)
  }
})

async function written(api: Api, path: string): Promise<void> {
  const body = { metadata: { annotations: { at: String(Date.now()) } } }
  const answer = await api('PATCH', path, { body, contentType: 'application/merge-patch+json' })
  if (answer.status !== 200) throw new Error(answer.text)
}
