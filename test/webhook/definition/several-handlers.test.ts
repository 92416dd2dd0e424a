/** Tests of several handlers for one kind. Their results are combined in one AdmissionResponse. */
import t from 'tap'
import { pod } from '../../../src/api/builtin.ts'
import { forbidden, invalid } from '../../../src/api/field-error.ts'
import type { DeepReadonly } from '../../../src/api/json.ts'
import { failure } from '../../../src/api/status.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { Incoming, WebhookHandlers } from '../../../src/webhook/definition/definition.ts'
import { anyResource } from '../../../src/webhook/definition/subresource.ts'
import { fixture, patchOf, review, widget, widgetObject } from '../../support/webhook/fixture.ts'
import type { Fixture, ReviewAnswer, ReviewedRequest, Widget } from '../../support/webhook/fixture.ts'

type Handlers = WebhookHandlers<Widget>

async function withHandlers(test: Parameters<typeof fixture>[0], ...all: readonly Handlers[]): Promise<Fixture> {
  return fixture(test, {}, { webhooks: all.map((handlers) => defineWebhook(widget, handlers)) })
}

function noted(object: DeepReadonly<Incoming<Widget>>, note: string): DeepReadonly<Incoming<Widget>> {
  return { ...object, spec: { ...object.spec, note: `${object.spec.note ?? ''}${note}` } }
}

t.test('defaulters run in declared order, each on the result of the previous one', async (t) => {
  const { ask } = await withHandlers(
    t,
    { default: (object) => noted(object, 'a') },
    { validate: () => [] },
    { default: async (object) => noted(object, `b${object.spec.size}`) },
    { default: (object) => object },
  )
  const answer = await ask('mutate', { object: widgetObject({ image: 'i' }) })
  t.match(
    patchOf(answer).find(({ path }) => path === '/spec/note'),
    { op: 'add', value: 'ab3' },
  )
})

t.test('after a defaulter that returns a value of the wrong type, no other is called', async (t) => {
  const called: string[] = []
  const { ask } = await withHandlers(
    t,
    { default: (object) => ({ ...object, spec: { ...object.spec, size: 'many' as never } }) },
    { default: (object) => (called.push('second'), object) },
  )
  const { status } = await ask('mutate', { object: widgetObject({ image: 'i' }) })
  t.match(status?.details?.causes, [{ field: 'spec.size', reason: 'FieldValueTypeInvalid' }])
  t.strictSame(called, [])
})

t.test('after a defaulter that fails on an invalid object, no other is called', async (t) => {
  const called: string[] = []
  const { ask } = await withHandlers(
    t,
    { default: () => Promise.reject(new Error('oops')) },
    { default: (object) => (called.push('second'), object) },
  )
  const { status } = await ask('mutate', { object: widgetObject({ image: 'i', size: 10 }) })
  t.match(status?.details?.causes, [{ field: 'spec.size' }])
  t.strictSame(called, [])
})

t.test('errors of all handlers and of the schema are combined, sorted by field', async (t) => {
  const all: readonly Handlers[] = [
    { validate: () => [invalid('spec.note', 'x', 'first')] },
    { validate: () => [invalid('spec.image', 'x', 'second')], validateInCluster: () => [forbidden('metadata.name', 'cluster')] },
  ]
  const { ask } = await withHandlers(t, ...all)
  const fieldsOf = async (verb: 'mutate' | 'validate', spec: object): Promise<unknown> =>
    (await ask(verb, { object: widgetObject(spec as never) })).status?.details?.causes?.map(({ field }) => field)
  t.strictSame(await fieldsOf('mutate', { image: 'i', size: 10 }), ['spec.image', 'spec.note', 'spec.size'])
  t.strictSame(await fieldsOf('mutate', { image: 'i' }), ['metadata.name', 'spec.image', 'spec.note'])
  t.strictSame(await fieldsOf('validate', { image: 'i', size: 1 }), ['metadata.name', 'spec.image', 'spec.note'])
})

t.test('a later handler does not undo a denial', async (t) => {
  const allow: Handlers = { validate: () => [], validateInCluster: () => [], validateDelete: () => [] }
  const fail = (): never => {
    throw new Error('boom')
  }
  const object = widgetObject({ image: 'i', size: 1 })
  const deny: Handlers = { validateInCluster: () => [forbidden('spec', 'no')], validateDelete: () => [forbidden('spec', 'stays')] }
  const no = failure(403, 'Forbidden', 'no')
  const cases: readonly (readonly [string, readonly Handlers[], Partial<ReviewAnswer['status']>])[] = [
    ['one that allows', [deny, allow], { code: 422 }],
    ['one that fails', [deny, { validateInCluster: fail, validateDelete: fail }], { code: 422 }],
    ['one that has another response', [{ validateInCluster: () => no, validateDelete: () => no }, deny], { code: 403 }],
    ['one that gives a status of its own', [deny, { validateInCluster: () => no, validateDelete: () => no }], { code: 403 }],
    ['one before that allows', [allow, deny], { code: 422 }],
  ]
  for (const [what, all, status] of cases) {
    const { ask } = await withHandlers(t, ...all)
    t.match(await ask('validate', { object }), { allowed: false, status }, what)
    t.match(
      await ask('validate', { operation: 'DELETE', object: null, oldObject: object }),
      { allowed: false, status },
      `deleting: ${what}`,
    )
  }
  const early = await withHandlers(t, { validate: () => [forbidden('spec', 'no')] }, { validate: fail })
  t.match(await early.ask('mutate', { object }), { allowed: false, status: { code: 422 } })
  const broken = await withHandlers(t, allow, { validateInCluster: fail })
  t.match(await broken.ask('validate', { object }), { allowed: false, status: { code: 500 } })
})

t.test('each handler is called for its own operations', async (t) => {
  const called: string[] = []
  const on = (name: string): Handlers => ({ validate: (_object, _old, { operation }) => (called.push(`${name} ${operation}`), []) })
  const webhooks = [defineWebhook(widget, { ...on('creates'), operations: ['CREATE'] }), defineWebhook(widget, on('both'))]
  const { ask } = await fixture(t, {}, { webhooks })
  const object = widgetObject({ image: 'i', size: 1 })
  await ask('validate', { object })
  await ask('validate', { operation: 'UPDATE', object, oldObject: object })
  t.strictSame(called, ['creates CREATE', 'both CREATE', 'both UPDATE'])
})

t.test('warnings and audit annotations of all handlers are in the response, also in a denial', async (t) => {
  const { ask, entries } = await withHandlers(
    t,
    {
      validate: (_object, _old, { warn, audit }) => {
        warn('one')
        audit('first', '1')
        return []
      },
    },
    {
      validateInCluster: (_object, _old, context) => {
        context.warn('two')
        context.audit('second', '2')
        context.audit('first', 'other')
        return [forbidden('spec', 'no')]
      },
    },
  )
  const answer = await ask('validate', { object: widgetObject({ image: 'i', size: 1 }) })
  t.match(answer, { allowed: false, warnings: ['one', 'two'], auditAnnotations: { first: '1', second: '2' } })
  t.match(
    entries.find(({ level }) => level === 'warn'),
    { key: 'first', kept: '1', dropped: 'other', uid: 'uid-1' },
  )
})

t.test('subresources and types without a schema', async (t) => {
  const seen: unknown[] = []
  const webhooks = [
    defineWebhook(widget, {
      subresource: 'status',
      validate: (object, old) => (seen.push([object.status, old?.status]), [invalid('status.ready', 'x', 'is not so')]),
    }),
    defineWebhook(pod, {
      subresource: 'exec',
      default: (options) => ({ ...options, container: 'main' }),
      validateInCluster: ({ command }, _old, { name }) =>
        command[0] === 'rm' ? failure(403, 'Forbidden', `nothing is removed in ${name}`) : [],
    }),
    defineWebhook(pod, {
      default: (object) => ({ ...object, spec: { ...object.spec!, hostNetwork: false } }),
      validate: ({ spec }) => (spec?.hostNetwork === true ? [forbidden('spec.hostNetwork', 'not here')] : []),
    }),
    defineWebhook(anyResource, {
      subresource: 'scale',
      validate: ({ spec }) => (spec?.replicas === 0 ? [forbidden('spec.replicas', 'never')] : []),
    }),
  ]
  const { server } = await fixture(t, {}, { webhooks })
  const send = async (url: string, request: ReviewedRequest): Promise<{ code: number; text: string; answer: ReviewAnswer }> => {
    const { statusCode, body } = await server.app.inject({ method: 'POST', url, payload: review(request) })
    return {
      code: statusCode,
      text: body,
      answer: statusCode === 200 ? (JSON.parse(body) as { response: ReviewAnswer }).response : ({} as ReviewAnswer),
    }
  }
  const pods = { group: '', version: 'v1', resource: 'pods' }
  const exec = {
    operation: 'CONNECT',
    kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    resource: pods,
    subResource: 'exec',
    name: 'p',
  }
  const options = { apiVersion: 'v1', kind: 'PodExecOptions', command: ['rm', 'x'] }

  t.test('are served at their own paths', async (t) => {
    t.strictSame(server.paths, [
      '/validate-apps-example-com-v1-widget/status',
      '/mutate--v1-pod/exec',
      '/validate--v1-pod/exec',
      '/mutate--v1-pod',
      '/validate--v1-pod',
      '/validate-any/scale',
    ])
  })
  t.test('a status is not validated by the schema', async (t) => {
    const object = { ...widgetObject({ size: 99 }), status: { ready: true } }
    const { answer } = await send('/validate-apps-example-com-v1-widget/status', {
      operation: 'UPDATE',
      subResource: 'status',
      object,
      oldObject: widgetObject({}),
    })
    t.match(answer.status?.details?.causes, [{ field: 'status.ready' }])
    t.strictSame(seen, [[{ ready: true }, undefined]])
  })
  t.test('a CONNECT is validated with its options', async (t) => {
    t.match((await send('/validate--v1-pod/exec', { ...exec, object: options })).answer, {
      allowed: false,
      status: { message: 'nothing is removed in p', code: 403 },
    })
    t.match((await send('/validate--v1-pod/exec', { ...exec, object: { ...options, command: ['ls'] } })).answer, { allowed: true })
    t.match(
      (await send('/validate--v1-pod/exec', { ...exec, object: null })).answer,
      { allowed: false },
      'a CONNECT without options is validated too',
    )
    t.strictSame(patchOf((await send('/mutate--v1-pod/exec', { ...exec, object: options })).answer), [
      { op: 'add', path: '/container', value: 'main' },
    ])
  })
  t.test('an object without a schema is validated by the handlers alone', async (t) => {
    const kind = { group: '', version: 'v1', kind: 'Pod' }
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [], hostNetwork: true } }
    const { answer } = await send('/validate--v1-pod', { kind, resource: pods, object })
    t.match(answer, {
      allowed: false,
      status: { message: 'Pod "w" is invalid: spec.hostNetwork: Forbidden: not here', details: { kind: 'Pod' } },
    })
    t.strictSame(patchOf((await send('/mutate--v1-pod', { kind, resource: pods, object })).answer), [
      { op: 'replace', path: '/spec/hostNetwork', value: false },
    ])
  })
  t.test('a webhook for any resource is called for every resource with the subresource', async (t) => {
    const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
    const object = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 0 } }
    const request = { operation: 'UPDATE', kind, subResource: 'scale', object, oldObject: object }
    t.match(
      (await send('/validate-any/scale', { ...request, resource: { group: 'apps', version: 'v1', resource: 'deployments' } })).answer,
      {
        allowed: false,
        status: { details: { group: 'autoscaling', kind: 'Scale' } },
      },
    )
  })
  t.test('a review at the wrong path is refused with 400', async (t) => {
    const wrong = [
      [{ ...exec, subResource: 'attach' }, 'pods/attach in version v1'],
      [{ ...exec, resource: { ...pods, resource: 'nodes' } }, 'nodes/exec in version v1'],
      [{ ...exec, resource: undefined, subResource: '' }, ' in version '],
    ] as const
    for (const [request, sent] of wrong) {
      const { code, text } = await send('/validate--v1-pod/exec', { ...request, object: options })
      t.equal(code, 400)
      t.match(text, `/validate--v1-pod/exec reviews pods/exec in version v1, and was sent ${sent}`)
    }
  })
})
