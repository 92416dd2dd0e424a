/** Tests of mutating webhooks: their order, their reinvocation, the objects that they receive, and dry runs. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import type { Answer } from '../support/conformance/admission.ts'
import { admissionWorld, configMaps, defineWidgets, patchResponse, webhookOf } from '../support/conformance/admission.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'

const namespace = 'conformance-admission-mutation'
const group = 'mutation.example.com'
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
const api = apiOf(t, controlPlane.connection)
const { server, configure } = await admissionWorld(t, api, namespace)
await defineWidgets(t, api, group)

const widgetsPath = `/apis/${group}/v1/namespaces/${namespace}/widgets`
const configMapsPath = `/api/v1/namespaces/${namespace}/configmaps`
const widgets = [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['widgets'] }]

function widget(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a', ...metadata }, spec }
}

/** Creates a widget with `dryRun=All`. */
function create(spec: JsonObject, metadata: JsonObject = {}): Promise<RawAnswer> {
  return api('POST', `${widgetsPath}?dryRun=All`, { body: widget(spec, metadata) })
}

const tag = (value: string): JsonObject => patchResponse({ op: 'add', path: '/spec/tags/-', value })

/**
 * Returns one text for each request that a webhook has received since the last call of `seen` or `configure`. The text is `WEBHOOK TAGS`:
 * the URL path of the webhook, and the tags of the object in the request.
 */
function seen(): string[] {
  return server.take().map(({ path, request }) => {
    const { spec } = request.object as { spec: { tags?: string[] } }
    return `${path} ${(spec.tags ?? []).join('')}`.trim()
  })
}

t.test(
  'mutating webhooks are called one after another, in the order of their configuration names and their entries',
  needsOwnControlPlane,
  async (t) => {
    await configure(t, 'validating', 'conformance-a', [webhookOf(server, 'validate', widgets)])
    await configure(t, 'mutating', 'conformance-b', [webhookOf(server, 'z', widgets), webhookOf(server, 'y', widgets)])
    await configure(t, 'mutating', 'conformance-a', [webhookOf(server, 'x', widgets)])
    await configure(t, 'mutating', 'conformance-b.a', [webhookOf(server, 'w', widgets)])
    for (const path of ['w', 'x', 'y', 'z']) server.answer(path, tag(path))
    const { body } = await create({ tags: ['0'] })
    t.strictSame(body.spec, { color: 'red', tags: ['0', 'x', 'z', 'y', 'w'] })
    t.strictSame(seen(), ['x 0', 'z 0x', 'y 0xz', 'w 0xzy', 'validate 0xzyw'])
  },
)

t.test('validating webhooks are called in parallel', needsOwnControlPlane, async (t) => {
  await configure(t, 'validating', 'one', [webhookOf(server, 'a', widgets), webhookOf(server, 'b', widgets)])
  await configure(t, 'validating', 'two', [webhookOf(server, 'c', widgets)])
  const waiting: (() => void)[] = []
  const together: Answer = (call, response) => {
    waiting.push(() => void response.end(JSON.stringify({ ...call.review, response: { uid: call.request.uid, allowed: true } })))
    // The webhooks respond only after all three calls have arrived. If the API server did not call the webhooks in parallel, the request
    // would fail.
    if (waiting.length === 3) for (const answer of waiting) answer()
    return undefined
  }
  for (const path of ['a', 'b', 'c']) server.answer(path, together)
  t.equal((await create({})).status, 201)
  t.strictSame(
    server
      .take()
      .map(({ path }) => path)
      .toSorted(),
    ['a', 'b', 'c'],
  )
})

t.test('a mutated object is defaulted, pruned and validated before validating webhooks are called', needsOwnControlPlane, async (t) => {
  await configure(t, 'mutating', 'mutate', [webhookOf(server, 'one', widgets), webhookOf(server, 'two', widgets)])
  await configure(t, 'validating', 'validate', [webhookOf(server, 'last', widgets)])
  const specs = () => Object.fromEntries(server.take().map(({ path, request }) => [path, (request.object as JsonObject).spec]))

  server.answer('one', patchResponse({ op: 'replace', path: '/spec', value: { size: 7, other: 1 } }))
  const { body } = await create({ size: 0, color: 'blue', unknown: 1 })
  t.strictSame(body.spec, { size: 7, color: 'red' })
  // Unknown fields are not pruned between mutating webhooks, so the later webhooks receive the field `other`. The stored object and the
  // response do not contain this field.
  t.strictSame(specs(), {
    one: { size: 0, color: 'blue' },
    two: { size: 7, other: 1, color: 'red' },
    last: { size: 7, other: 1, color: 'red' },
  })

  server.answer('one', patchResponse({ op: 'add', path: '/spec/size', value: 0 }))
  const refused = await create({ size: 1 })
  const message = 'spec.size in body should be greater than or equal to 1'
  t.match(refused.body, {
    message: `Widget.${group} "a" is invalid: spec.size: Invalid value: 0: ${message}`,
    reason: 'Invalid',
    details: {
      name: 'a',
      group,
      kind: 'Widget',
      causes: [{ reason: 'FieldValueInvalid', message: `Invalid value: 0: ${message}`, field: 'spec.size' }],
    },
    code: 422,
  })
  t.strictSame(specs(), { one: { size: 1, color: 'red' }, two: { size: 0, color: 'red' } })
})

t.test('a webhook with reinvocationPolicy IfNeeded is called again after a later change', needsOwnControlPlane, async (t) => {
  const changes = (): JsonObject => tag('+')
  const nothing: JsonObject = { allowed: true }
  const same = patchResponse({ op: 'replace', path: '/spec/color', value: 'red' })
  const undefaulted = patchResponse({ op: 'remove', path: '/spec/color' })
  const cases: { what: string; again: string; answers: Record<string, Answer | JsonObject>; calls: string }[] = [
    { what: 'no webhook changes anything', again: 'abc', answers: {}, calls: 'abc' },
    { what: 'a change reinvokes earlier webhooks only', again: 'abc', answers: { b: changes() }, calls: 'abca' },
    { what: 'the last webhook changes the object', again: 'abc', answers: { c: changes() }, calls: 'abcab' },
    { what: 'no webhook has the policy IfNeeded', again: '', answers: { c: changes() }, calls: 'abc' },
    { what: 'one webhook has the policy IfNeeded', again: 'b', answers: { c: changes() }, calls: 'abcb' },
    { what: 'only the first webhook changes the object', again: 'abc', answers: { a: changes() }, calls: 'abc' },
    {
      what: 'all webhooks change the object, each time',
      again: 'abc',
      answers: { a: changes(), b: changes(), c: changes() },
      calls: 'abcabc',
    },
    { what: 'two webhooks change the object, each time', again: 'ab', answers: { a: changes(), b: changes() }, calls: 'abcab' },
    { what: 'a patch without effect', again: 'abc', answers: { c: same }, calls: 'abc' },
    { what: 'a patch that defaulting reverts', again: 'abc', answers: { c: undefaulted }, calls: 'abcab' },
    { what: 'an empty patch', again: 'abc', answers: { c: patchResponse() }, calls: 'abc' },
    {
      what: 'a call that failed and is ignored',
      again: 'ac',
      answers: { a: (_call, response) => void response.writeHead(500).end(), c: changes() },
      calls: 'abca',
    },
    { what: 'no change', again: 'abc', answers: { a: nothing, c: nothing }, calls: 'abc' },
  ]
  for (const { what, again, answers, calls } of cases)
    await t.test(what, async (t) => {
      const webhooks = ['a', 'b', 'c'].map((path) =>
        webhookOf(server, path, widgets, { failurePolicy: 'Ignore', reinvocationPolicy: again.includes(path) ? 'IfNeeded' : 'Never' }),
      )
      await configure(t, 'mutating', 'again', webhooks)
      for (const [path, answer] of Object.entries(answers)) server.answer(path, answer)
      t.equal((await create({ tags: ['0'] })).status, 201)
      t.equal(
        server
          .take()
          .map(({ path }) => path)
          .join(''),
        calls,
      )
    })
})

t.test('a webhook that did not match at first is not reinvoked', needsOwnControlPlane, async (t) => {
  const late = webhookOf(server, 'late', widgets, { reinvocationPolicy: 'IfNeeded', objectSelector: { matchLabels: { late: 'yes' } } })
  const gone = webhookOf(server, 'gone', widgets, {
    reinvocationPolicy: 'IfNeeded',
    objectSelector: { matchExpressions: [{ key: 'late', operator: 'DoesNotExist' }] },
  })
  await configure(t, 'mutating', 'late', [
    late,
    gone,
    webhookOf(server, 'label', widgets),
    webhookOf(server, 'after', widgets, { objectSelector: { matchLabels: { late: 'yes' } } }),
  ])
  server.answer('label', patchResponse({ op: 'add', path: '/metadata/labels', value: { late: 'yes' } }))
  t.equal((await create({})).status, 201)
  t.strictSame(
    server.take().map(({ path }) => path),
    ['gone', 'label', 'after'],
  )
})

t.test('a dry run calls webhooks without side effects and stores nothing', needsOwnControlPlane, async (t) => {
  const hooks = ['None', 'NoneOnDryRun'].map((sideEffects) => webhookOf(server, sideEffects.toLowerCase(), configMaps, { sideEffects }))
  await configure(t, 'mutating', 'dry', hooks)
  const body = { metadata: { name: 'dry' } }
  const asked = () => server.take().map(({ path, request }) => `${path} ${String(request.operation)} ${String(request.dryRun)}`)
  t.equal((await api('POST', `${configMapsPath}?dryRun=All`, { body })).status, 201)
  t.strictSame(asked(), ['none CREATE true', 'noneondryrun CREATE true'])
  t.equal((await api('GET', `${configMapsPath}/dry`)).status, 404)
  t.equal((await api('POST', configMapsPath, { body })).status, 201)
  t.strictSame(asked(), ['none CREATE false', 'noneondryrun CREATE false'])
  t.equal((await api('DELETE', `${configMapsPath}/dry?dryRun=All`)).status, 200)
  t.equal((await api('DELETE', `${configMapsPath}/dry`, { body: { dryRun: ['All'] } })).status, 200)
  t.strictSame(asked(), ['none DELETE true', 'noneondryrun DELETE true', 'none DELETE true', 'noneondryrun DELETE true'])
  t.equal((await api('DELETE', `${configMapsPath}/dry`)).status, 200)
})
