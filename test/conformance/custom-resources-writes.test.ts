/** Tests of writes of custom resources: the subresources status and scale, unknown and duplicate fields, and field ownership. */
import t from 'tap'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  applyPatch,
  create,
  custom,
  define,
  definition,
  group,
  invalid,
  jsonPatch,
  mergePatch,
  namespace,
  object,
  objects,
  ordered,
  string,
  table,
} from '../support/conformance/definitions.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const integer = { type: 'integer' }
const schema = object({
  spec: object({ size: integer, color: string, replicas: integer, inner: object({ a: string }), list: { type: 'array', items: object({ a: string }) }, map: { type: 'object', additionalProperties: string } }), // prettier-ignore
  status: object({ phase: string, replicas: integer, selector: string, conditions: { type: 'array', items: object({ type: string }) } }),
})
const subresources = {
  status: {},
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
}
const gear = (name: string): string => objects('gears', name)
const scaleOf = (name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, namespace, ...metadata },
  spec,
})

t.test('writes of custom resources', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, controlPlane.connection)
  await define(t, api, definition('gears', 'Gear', schema, { subresources }))
  const merge = (path: string, body: JsonObject) => api('PATCH', path, { contentType: mergePatch, body })

  t.test('the object and its status are written separately, and only the object increases the generation', async (t) => {
    const { body: created } = await create(api, 'gears', custom('Gear', 'parts', { spec: { size: 1 }, status: { phase: 'given' } }))
    t.notOk('status' in created)
    const status = { phase: 'P', replicas: 2 }
    const written = await merge(`${gear('parts')}/status`, { metadata: { labels: { a: 'b' } }, spec: { size: 9 }, status })
    t.match(written.body, { spec: { size: 1 }, status, metadata: { generation: 1, labels: undefined } })
    t.match((await merge(gear('parts'), { spec: { size: 2 }, status: { phase: 'Q' } })).body, { spec: { size: 2 }, status, metadata: { generation: 2 } }) // prettier-ignore
    t.match((await merge(gear('parts'), { metadata: { labels: { a: 'b' } } })).body.metadata, { generation: 2, labels: { a: 'b' } })
    const { body: again } = await api('GET', `${gear('parts')}/status`)
    t.strictSame(again, (await api('GET', gear('parts'))).body)
    t.match((await api('PUT', `${gear('parts')}/status`, { body: custom('Gear', 'parts', { status: {} }) })).body, {
      code: 422,
      message: `gears.${group} "parts" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
    })
    const entries = (again.metadata as { managedFields: JsonObject[] }).managedFields.map(({ subresource, fieldsV1 }) => [subresource, Object.keys(fieldsV1 as JsonObject)]) // prettier-ignore
    t.strictSame(entries.sort(), [['status', ['f:status']], [undefined, ['f:metadata', 'f:spec']]].sort()) // prettier-ignore
  })

  t.test('a patch of the status may not change the name or the namespace', async (t) => {
    await create(api, 'gears', custom('Gear', 'named', { spec: { size: 1 } }))
    t.match((await merge(`${gear('named')}/status`, { metadata: { name: 'b' } })).body, {
      code: 400,
      message: 'the name of the object (b) does not match the name on the URL (named)',
    })
    t.match((await merge(`${gear('named')}/status`, { metadata: { namespace: 'b' } })).body, {
      code: 400,
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    })
  })

  t.test('a status is validated alone, and its error paths begin at status', async (t) => {
    await create(api, 'gears', custom('Gear', 'judged', { spec: { size: 1 } }))
    const table: [JsonObject, ...string[]][] = [
      [{ phase: 1 }, 'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"'],
      [{ conditions: [1] }, 'status.conditions[0]: Invalid value: "integer": conditions[0] in body must be of type object: "integer"'],
      [{ replicas: -1 }, '.status.replicas: Invalid value: -1: should be a non-negative integer'],
      [{ replicas: 2 ** 31 }, `.status.replicas: Invalid value: ${2 ** 31}: should be less than or equal to ${2 ** 31 - 1}`],
    ]
    for (const [status, ...causes] of table) {
      t.strictSame(ordered(await merge(`${gear('judged')}/status`, { status })), invalid('Gear', 'judged', causes))
    }
    t.equal((await merge(`${gear('judged')}/status`, { status: { replicas: 2 ** 31 - 1 } })).status, 200)
    const causes = ['.spec.replicas: Invalid value: -1: should be a non-negative integer']
    t.strictSame((await merge(gear('judged'), { spec: { replicas: -1 } })).body, invalid('Gear', 'judged', causes))
  })

  t.test('a Scale reads and writes replicas', async (t) => {
    await create(api, 'gears', custom('Gear', 'scaled', { spec: { size: 1 } }))
    const scale = `${gear('scaled')}/scale`
    t.match((await api('GET', scale)).body, {
      code: 500,
      reason: 'InternalError',
      message: 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    })
    const { body } = await api('PUT', scale, { body: scaleOf('scaled', { replicas: 3 }) })
    const { uid, creationTimestamp, resourceVersion } = (await api('GET', gear('scaled'))).body.metadata as JsonObject
    const metadata = { name: 'scaled', namespace, uid: uid!, resourceVersion: resourceVersion!, creationTimestamp: creationTimestamp! }
    t.strictSame(body, { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec: { replicas: 3 }, status: { replicas: 0 } })
    await merge(`${gear('scaled')}/status`, { status: { replicas: 2, selector: 'a=b' } })
    t.match((await api('GET', scale)).body, { spec: { replicas: 3 }, status: { replicas: 2, selector: 'a=b' } })
    t.match((await merge(scale, { spec: { replicas: 4 } })).body.spec, { replicas: 4 })
    const operations = [{ op: 'replace', path: '/spec/replicas', value: 5 }]
    t.equal((await api('PATCH', scale, { contentType: jsonPatch, body: operations })).status, 200)
    const { body: live } = await api('GET', gear('scaled'))
    t.match(live, { spec: { size: 1, replicas: 5 }, metadata: { generation: 4 } })
    await create(api, 'gears', custom('Gear', 'tracked', { spec: { size: 1, replicas: 1 } }))
    await merge(`${gear('tracked')}/scale`, { spec: { replicas: 2 } })
    const { managedFields } = (await api('GET', gear('tracked'))).body.metadata as { managedFields: JsonObject[] }
    t.strictSame(managedFields[0], {
      manager: 'conformance',
      operation: 'Update',
      apiVersion: `${group}/v1`,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    })
    const causes = ['.spec.replicas: Invalid value: -1: should be a non-negative integer']
    t.strictSame((await merge(scale, { spec: { replicas: -1 } })).body, invalid('Gear', 'scaled', causes))
    const stale = await api('PUT', scale, { body: scaleOf('scaled', { replicas: 1 }, { resourceVersion: '1' }) })
    t.match(stale.body, {
      code: 409,
      message: `Operation cannot be fulfilled on gears.${group} "scaled": the object has been modified; please apply your changes to the latest version and try again`,
    })
    const shown = (await api('GET', scale, { accept: table })).body as unknown as { rows: { cells: unknown[] }[] }
    t.strictSame(shown.rows[0]!.cells.slice(0, 3), ['scaled', 5, 2])
    t.match((await api('GET', `${gear('nobody')}/scale`)).body, { code: 404, message: `gears.${group} "nobody" not found` })
  })

  t.test('a status or spec that is nullable or not an object is validated by its schema', async (t) => {
    const size = { type: 'integer', minimum: 0 }
    const nullable = { nullable: true }
    const replicas = { type: 'integer', ...nullable }
    const nullables = object({ spec: object({ size, replicas }, nullable), status: object({ size, observed: replicas }, nullable) })
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.observed' }
    await define(t, api, definition('blanks', 'blanks', nullables, { subresources: { status: {}, scale } }))
    const blank = objects('blanks', 'a')
    await create(api, 'blanks', custom('blanks', 'a', { spec: null }))
    const status = `${blank}/status`
    t.match((await merge(status, { status: { size: 1 } })).body, { status: { size: 1 } })
    const refused = async (path: string, body: JsonObject, ...causes: string[]): Promise<void> => {
      const [, kind = ''] = /\/([a-z]+)\/a(?:\/|$)/.exec(path)!
      t.strictSame(ordered(await merge(path, body)), invalid(kind, 'a', causes))
    }
    await refused(status, { status: { size: -1 } }, 'status.size: Invalid value: -1: size in body should be greater than or equal to 0')
    await refused(
      status,
      { status: [] },
      'status: Invalid value: "array":  in body must be of type object: "array"',
      '.status.observed: Invalid value: 0: .status.observed accessor error: [] is of the type []interface {}, expected map[string]interface{}',
    )
    const emptied = await api('PATCH', status, { contentType: jsonPatch, body: [{ op: 'replace', path: '/status', value: null }] })
    t.strictSame([emptied.status, emptied.body.status, emptied.body.spec], [200, null, null])
    t.match((await merge(status, { status: { size: 1 } })).body, { status: { size: 1 } })
    const inTheWay = { code: 500, message: 'value cannot be set because .spec is not a map[string]interface{}' }
    t.match((await merge(`${blank}/scale`, { spec: { replicas: 1 } })).body, inTheWay)
    t.match((await api('PUT', `${blank}/scale`, { body: scaleOf('a', { replicas: 1 }) })).body, inTheWay)
    await refused(blank, { spec: { size: -1 } }, 'spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0')
    t.match((await merge(blank, { spec: { size: 1 } })).body, { spec: { size: 1 } })
    t.match((await merge(`${blank}/scale`, { spec: { replicas: 1 } })).body, { spec: { replicas: 1 } })
    const nothing = await api('PATCH', blank, { contentType: jsonPatch, body: [{ op: 'replace', path: '/spec/replicas', value: null }] })
    const cause = '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: <nil> is of the type <nil>, expected int64'
    t.strictSame(nothing.body, invalid('blanks', 'a', [cause]))

    const set = { type: 'array', items: string, 'x-kubernetes-list-type': 'set' }
    for (const [name, statusSchema, good, bad, message] of [
      ['texts', { ...string, maxLength: 2 }, 'ab', 'abc', 'status: Too long: may not be more than 2 bytes'],
      [
        'lists',
        { type: 'array', items: string },
        ['a'],
        [1],
        'status.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"',
      ],
      ['sets', { ...set, maxItems: 2 }, ['a'], ['b', 'b'], 'status[1]: Duplicate value: "b"'],
      ['maps', { type: 'object', additionalProperties: set }, { a: ['a'] }, { a: ['b', 'b'] }, 'status[a][1]: Duplicate value: "b"'],
    ] as const) {
      await define(
        t,
        api,
        definition(name, name, object({ spec: object({ size }), status: { ...statusSchema } }), { subresources: { status: {} } }),
      )
      await create(api, name, custom(name, 'a', { spec: { size: 1 } }))
      const written = await merge(`${objects(name, 'a')}/status`, { status: good as JsonValue })
      t.strictSame(written.body.status, good)
      await refused(`${objects(name, 'a')}/status`, { status: bad as JsonValue }, message)
    }
  })

  t.test('unknown and duplicate fields are refused, warned about or dropped by fieldValidation', async (t) => {
    await create(api, 'gears', custom('Gear', 'fields', { spec: { size: 1 } }))
    const { resourceVersion } = (await api('GET', gear('fields'))).body.metadata as { resourceVersion: string }
    const head = `"apiVersion":"${group}/v1","kind":"Gear"`
    const json = (name: string, more = ''): string =>
      `{${head},"metadata":{"name":"${name}","foo":1${more}},"spec":{"size":1,"size":2,"foo":1,"list":[{"a":"1","a":"2","b":1}]},"other":1}`
    const yaml = (name: string, ...more: string[]): string =>
      [`apiVersion: ${group}/v1`, 'kind: Gear', 'metadata:', `  name: ${name}`, 'spec:', '  size: 1', '  size: 2', ...more, '  list:', '  - a: x', '    a: z', ''].join('\n') // prettier-ignore
    const unknown = ['metadata.foo', 'other', 'spec.foo', 'spec.list[0].b'].map((path) => `unknown field "${path}"`)
    const duplicate = ['spec.size', 'spec.list[0].a'].map((path) => `duplicate field "${path}"`)
    const lines = (last: number): string[] => ['line 7: key "size" already set in map', `line ${last}: key "a" already set in map`]
    const body400 = 'Gear in version "v1" cannot be handled as a Gear: strict decoding error: '
    const patch422 = 'strict decoding error: '
    const requests: {
      method: string
      path: string
      contentType: string
      body: string
      warnings: string[]
      strict: string
      code: number
    }[] = [
      {
        method: 'POST',
        path: objects('gears'),
        contentType: 'application/json',
        body: json('new'),
        warnings: [...duplicate, ...unknown],
        strict: body400 + [...duplicate, ...unknown].join(', '),
        code: 400,
      },
      {
        method: 'PUT',
        path: gear('fields'),
        contentType: 'application/json',
        body: json('fields', `,"resourceVersion":"${resourceVersion}"`),
        warnings: [...duplicate, ...unknown],
        strict: body400 + [...duplicate, ...unknown].join(', '),
        code: 400,
      },
      {
        method: 'POST',
        path: objects('gears'),
        contentType: 'application/yaml',
        body: yaml('new', '  foo: 1'),
        warnings: [...lines(11), 'unknown field "spec.foo"'],
        strict: `${body400}yaml: unmarshal errors:\n  ${lines(11).join('\n  ')}, unknown field "spec.foo"`,
        code: 400,
      },
      {
        method: 'PATCH',
        path: gear('fields'),
        contentType: mergePatch,
        body: '{"spec":{"size":1,"size":2,"foo":1},"other":1}',
        warnings: ['duplicate field "spec.size"', 'unknown field "other"', 'unknown field "spec.foo"'],
        strict: `${patch422}duplicate field "spec.size", unknown field "other", unknown field "spec.foo"`,
        code: 422,
      },
      {
        method: 'PATCH',
        path: gear('fields'),
        contentType: jsonPatch,
        body: '[{"op":"add","path":"/spec/foo","value":1,"value":2}]',
        warnings: ['json patch duplicate field "[0].value"', 'unknown field "spec.foo"'],
        strict: `${patch422}json patch duplicate field "[0].value", unknown field "spec.foo"`,
        code: 422,
      },
      ...['fields', 'new'].map((name) => ({
        method: 'PATCH',
        path: gear(name),
        contentType: applyPatch,
        body: yaml(name),
        warnings: lines(10),
        strict: `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${lines(10).join('\n  ')}`,
        code: 400,
      })),
    ]
    for (const { method, path, contentType, body, warnings, strict, code } of requests) {
      const what = `${method} ${contentType}`
      const more = contentType === applyPatch ? '&fieldManager=strict&force=true' : ''
      const ask = (validation: string) => api(method, `${path}?dryRun=All${more}${validation}`, { contentType, body })
      for (const validation of ['', '&fieldValidation=Warn']) {
        const answer = await ask(validation)
        t.ok(answer.status < 300, `${what} ${answer.text}`)
        t.strictSame([...answer.warnings].sort(), [...warnings].sort(), what)
        t.notMatch(answer.body, { spec: { foo: Number } }, what)
        t.notMatch(answer.body, { metadata: { foo: Number } }, what)
      }
      const ignored = await ask('&fieldValidation=Ignore')
      t.ok(ignored.status < 300)
      t.strictSame(ignored.warnings, [])
      const refused = await ask('&fieldValidation=Strict')
      t.equal(refused.body.code, code, what)
      t.ok(String(refused.body.message).endsWith(strict), `${what} ${refused.text}`)
      if (code === 422) t.match(refused.body, { message: /^ "" is invalid: patch: Invalid value: "\{/, details: { kind: undefined, causes: [{ field: 'patch' }] } }) // prettier-ignore
    }
  })

  t.test('an applied object must match the schema, and takes ownership from others only by force', async (t) => {
    const apply = (manager: string, name: string, body: JsonObject, force = false) =>
      api('PATCH', `${gear(name)}?fieldManager=${manager}${force ? '&force=true' : ''}`, {
        contentType: applyPatch,
        body: custom('Gear', name, body),
      })
    await apply('one', 'owned', { spec: { size: 1, color: 'red' } })
    const typed = `failed to create typed patch object (/owned; ${group}/v1, Kind=Gear): `
    const table: [JsonObject, string][] = [
      [{ spec: { foo: 1 } }, '.spec.foo: field not declared in schema'],
      [{ spec: { size: 'x' } }, '.spec.size: expected numeric (int or float), got string'],
      [{ spec: { color: 1 } }, '.spec.color: expected string, got &value.valueUnstructured{Value:1}'],
      [{ spec: { inner: 1 } }, '.spec.inner: expected map, got &{1}'],
      [{ spec: { list: {} } }, '.spec.list: expected list, got &{map[]}'],
    ]
    for (const [body, problem] of table) {
      t.strictSame((await apply('two', 'owned', body)).body, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: typed + problem,
        code: 500,
      })
    }
    t.strictSame((await apply('two', 'owned', { spec: { size: 2 } })).body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.size' }] },
      code: 409,
    })
    t.match((await apply('two', 'owned', { spec: { size: 2 } }, true)).body, { spec: { size: 2, color: 'red' } })
    t.match((await apply('one', 'owned', { spec: {} })).body, { spec: { size: 2, color: undefined } })
    await merge(`${gear('owned')}?fieldManager=editor`, { spec: { color: 'blue', size: 3 } })
    t.equal(
      (await apply('two', 'owned', { spec: { color: 'green', size: 4 } })).body.message,
      `Apply failed with 2 conflicts: conflicts with "editor" using ${group}/v1:\n- .spec.color\n- .spec.size`,
    )
  })
})
