import t from 'tap'
import { failure } from '../../../src/api/status.ts'
import { invalid } from '../../../src/api/field-error.ts'
import type { AdmissionContext } from '../../../src/webhook/definition/definition.ts'
import { fixture, handlers, widgetObject } from '../../support/webhook/fixture.ts'

const good = widgetObject({ size: 3, image: 'i' })

t.test('a valid object is allowed, an invalid one is refused', async (t) => {
  const { ask } = await fixture(t)
  t.strictSame(await ask('validate', { object: good }), { uid: 'uid-1', allowed: true })
  t.match(await ask('validate', { object: widgetObject({ size: 3, image: 'i', note: 'bad' }) }), {
    allowed: false,
    status: { code: 422, reason: 'Invalid' },
  })
  t.match(await ask('validate', { object: widgetObject({ size: 'x' }) }), {
    allowed: false,
    status: { details: { causes: [{ field: 'spec.image' }, { field: 'spec.size' }] } },
  })
})

t.test('errors of validate and validateInCluster are combined; a returned Status is passed on', async (t) => {
  const { ask } = await fixture(t, {
    ...handlers,
    validateInCluster: async (object) =>
      object.spec.image === 'secret' ? failure(403, 'Forbidden', 'you may not') : [invalid('spec.image', object.spec.image, 'unknown')],
  })
  const both = await ask('validate', { object: widgetObject({ size: 3, image: 'x', note: 'bad' }) })
  t.strictSame(
    both.status?.details?.causes?.map(({ field }) => field),
    ['spec.image', 'spec.note'],
  )
  t.match(await ask('validate', { object: widgetObject({ size: 3, image: 'secret' }) }), {
    allowed: false,
    status: { code: 403, reason: 'Forbidden', message: 'you may not' },
  })
})

t.test('the deletion of a collection has no name in the request: the name is that of the old object', async (t) => {
  const names: string[] = []
  const { ask } = await fixture(t, {
    validateDelete: (_object, { name }) => {
      names.push(name)
      return []
    },
  })
  t.match(await ask('validate', { operation: 'DELETE', name: undefined, object: null, oldObject: good }), { allowed: true })
  t.strictSame(names, ['w'])
})

t.test('a delete is allowed unless validateDelete refuses it', async (t) => {
  const { ask } = await fixture(t)
  t.match(await ask('validate', { operation: 'DELETE', oldObject: good }), { allowed: true })
  const strict = await fixture(t, {
    validateDelete: (object) => (object.metadata.labels?.keep === 'yes' ? failure(403, 'Forbidden', 'is kept') : []),
  })
  t.match(await strict.ask('validate', { operation: 'DELETE', oldObject: good }), { allowed: true })
  t.match(await strict.ask('validate', { operation: 'DELETE', oldObject: widgetObject({}, { labels: { keep: 'yes' } }) }), {
    allowed: false,
    status: { message: 'is kept' },
  })
})

t.test('a delete without an old object is allowed without calling validateDelete', async (t) => {
  let called = 0
  const { ask } = await fixture(t, { validateDelete: () => ((called += 1), failure(403, 'Forbidden', 'is kept')) })
  t.match(await ask('validate', { operation: 'DELETE', name: 'w', object: null, oldObject: null }), { allowed: true })
  t.equal(called, 0)
})

t.test('handlers receive the context of the request', async (t) => {
  let seen: AdmissionContext | undefined
  const { ask } = await fixture(t, {
    validateInCluster: (_object, _old, context) => {
      seen = context
      context.warn('careful')
      context.warn('careful')
      context.warn('')
      context.logger.info('said by the handler')
      return []
    },
  })
  const answer = await ask('validate', {
    operation: 'UPDATE',
    object: good,
    oldObject: good,
    dryRun: true,
    userInfo: { username: 'joe', groups: ['a'], extra: { x: ['y'] } },
  })
  t.strictSame(answer, { uid: 'uid-1', allowed: true, warnings: ['careful'] })
  t.match(seen, {
    operation: 'UPDATE',
    dryRun: true,
    namespace: 'ns',
    name: 'w',
    subResource: '',
    user: { username: 'joe', groups: ['a'], extra: { x: ['y'] } },
    oldObject: good,
  })
})

t.test('a subresource is not validated by rules of the spec', async (t) => {
  const { ask } = await fixture(t)
  t.match(await ask('validate', { operation: 'UPDATE', subResource: 'status', object: widgetObject({ size: 'x' }), oldObject: good }), {
    allowed: true,
  })
})

t.test('an error of a handler is returned and logged', async (t) => {
  const { ask, entries, metrics } = await fixture(t, {
    validate: () => {
      throw new Error('broken', { cause: new Error('disk full') })
    },
  })
  t.strictSame(
    (await ask('validate', { object: good })).status,
    failure(500, 'InternalError', 'the webhook for Widget.apps.example.com failed: broken: disk full'),
  )
  t.match(
    entries.find(({ level }) => level === 'error'),
    { uid: 'uid-1', err: { message: /broken/, stack: /disk full/ } },
  )
  t.match(await metrics.registry.metrics(), /controller_runtime_webhook_panics_total 1/)
})
