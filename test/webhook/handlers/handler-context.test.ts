/** Tests of the context that handlers receive: request fields, client, cache, warnings, audit annotations. */
import t from 'tap'
import { configMap, node, pod } from '../../../src/api/builtin.ts'
import { Cache } from '../../../src/cache/cache.ts'
import { cacheView } from '../../../src/cache/view.ts'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { accessReviewRule } from '../../../src/client/is-allowed.ts'
import { AccessReviews } from '../../../src/webhook/handlers/requester-access.ts'
import { AdmissionCache } from '../../../src/webhook/handlers/admission-cache.ts'
import type { ProcessCache } from '../../../src/webhook/handlers/admission-cache.ts'
import type { AdmissionContext } from '../../../src/webhook/definition/context.ts'
import type { WebhookDefinition } from '../../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { Call } from '../../../src/webhook/handlers/call.ts'
import { HandlerContext } from '../../../src/webhook/handlers/handler-context.ts'
import { readReview } from '../../../src/webhook/review/admission-review.ts'
import type { AdmissionRequest } from '../../../src/webhook/review/admission-review.ts'
import { ScriptedClient } from '../../support/client/fake-cluster.ts'
import { recordingLogger } from '../../support/recording-logger.ts'
import { eventually } from '../../support/eventually.ts'
import { fixture, review, widget, widgetObject } from '../../support/webhook/fixture.ts'

const object = widgetObject({ size: 3, image: 'i' })

t.test('the context has the resource and the options of the request', async (t) => {
  const seen: AdmissionContext[] = []
  const { ask } = await fixture(t, { validateInCluster: (_object, _old, context) => (seen.push(context), []) })
  const options = { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions', fieldManager: 'kubectl', dryRun: ['All'] }
  await ask('validate', { object, options })
  await ask('validate', { object })
  t.strictSame(seen[0]!.resource, { group: 'apps.example.com', version: 'v1', resource: 'widgets' })
  t.strictSame(
    seen.map((context) => context.options),
    [options, {}],
  )
})

t.test('an audit annotation key that the API server would drop is an error of the handler', async (t) => {
  for (const [key, message] of [
    ['a/b', /"a\/b" is not a valid key of an audit annotation: must not contain a slash/],
    ['', /name part must be non-empty/],
    ['-a', /must start and end with an alphanumeric character/],
    ['a'.repeat(64), /must be no more than 63 bytes/],
  ] as const) {
    const { ask } = await fixture(t, { validateInCluster: (_object, _old, { audit }) => (audit(key, 'x'), []) })
    t.match(await ask('validate', { object }), { allowed: false, status: { code: 500, message } }, key)
  }
})

/**
 * Returns a context for the request, the `Call` with which the context was created, and the list in which the logger of the `Call` records
 * its entries.
 */
function contextOf(request: Partial<AdmissionRequest> = {}): { context: HandlerContext; entries: Record<string, unknown>[]; call: Call } {
  const { logger, entries } = recordingLogger('debug')
  const call: Call = {
    client: {} as Client,
    cache: new AdmissionCache(undefined),
    access: new AccessReviews(new FakeClock()),
    logger,
    signal: new AbortController().signal,
  }
  return {
    context: new HandlerContext({ ...readReview(Buffer.from(JSON.stringify(review({ object })))).request, ...request }, object, call),
    entries,
    call,
  }
}

t.test('the context has the fields of the request', async (t) => {
  const fields = {
    operation: 'UPDATE',
    dryRun: true,
    namespace: 'n',
    name: 'a',
    resource: { group: 'g', version: 'v2', resource: 'things' },
    subResource: 'status',
  } as const
  const { context, call } = contextOf({ ...fields, userInfo: { username: 'joe' } })
  const { operation, dryRun, namespace, name, resource, subResource, user, oldObject, signal } = context
  t.strictSame({ operation, dryRun, namespace, name, resource, subResource }, fields)
  t.strictSame(user, { username: 'joe' })
  t.equal(oldObject, object)
  t.equal(signal, call.signal)
})

t.test('warnings are deduplicated, at most 64, and cut to 4096 characters', async (t) => {
  const { context } = contextOf()
  t.equal(context.collected(), undefined)
  context.warn('')
  t.equal(context.collected(), undefined, 'an empty warning is dropped')
  context.warn('a')
  context.warn('a')
  context.warn('b'.repeat(4097))
  t.strictSame(context.collected(), { warnings: ['a', 'b'.repeat(4096)] })
  for (let index = 3; index <= 65; index += 1) context.warn(`${index}`)
  const { warnings } = context.collected()!
  t.strictSame([warnings!.length, warnings!.at(-1)], [64, '64'])
})

t.test('warnings and audit annotations of each webhook are collected in the request, and the first value of a key wins', async (t) => {
  const { context, entries } = contextOf()
  const ofWebhook = context.of(defineWebhook(widget))
  ofWebhook.audit('a', '1')
  ofWebhook.audit('a', '1')
  t.strictSame(entries, [], 'the same value again is not logged')
  context.audit('a', '2')
  context.audit('b', '')
  t.strictSame(context.collected(), { auditAnnotations: { a: '1', b: '' } }, 'without warnings')
  ofWebhook.warn('w')
  t.strictSame(context.collected(), { warnings: ['w'], auditAnnotations: { a: '1', b: '' } })
  t.equal(entries.length, 1)
  const { level, msg, key, kept, dropped } = entries[0]!
  t.strictSame(
    { level, msg, key, kept, dropped },
    { level: 'warn', msg: 'an audit annotation has another value already', key: 'a', kept: '1', dropped: '2' },
  )
})

t.test('the logger of a context adds the fields of the request', async (t) => {
  const { context, entries } = contextOf({ operation: 'UPDATE' })
  t.equal(context.logger, context.logger, 'the logger is created once')
  context.logger.info('hello')
  const { uid, kind, namespace, name, operation, msg } = entries[0]!
  t.strictSame(
    { uid, kind, namespace, name, operation, msg },
    { uid: 'uid-1', kind: 'Widget', namespace: 'ns', name: 'w', operation: 'UPDATE', msg: 'hello' },
  )
})

t.test('the client and the cache of a context are created once', async (t) => {
  const context = contextOf().context.of(defineWebhook(widget, { subresource: 'scale', validate: () => [] }))
  t.equal(context.client, context.client)
  t.equal(context.cache, context.cache)
  t.throws(() => context.cache.list(pod), {
    code: 'PRO_INPUT',
    message: /^pods is not in the `reads` of the webhook for Widget\.apps\.example\.com\/scale: /,
  })
})

t.test('an access review defaults to the namespace of the request', async (t) => {
  const namespaces: unknown[] = []
  const client = {
    create: async (_type: unknown, { spec }: { spec: { resourceAttributes: { namespace: string } } }) => {
      namespaces.push(spec.resourceAttributes.namespace)
      return { status: { allowed: true } }
    },
  } as unknown as Client
  const { ask } = await fixture(
    t,
    {
      async validateInCluster(_object, _old, { requesterCan }) {
        for (const more of [{}, { namespace: 'other' }, { namespace: '' }]) await requesterCan({ verb: 'create', type: pod, ...more })
        // Nodes are cluster-scoped, so `requesterCan` ignores the namespace. All of these calls therefore share one SubjectAccessReview.
        for (const more of [{}, { namespace: 'other' }]) await requesterCan({ verb: 'get', type: node, ...more })
        return []
      },
      rbac: [accessReviewRule],
    },
    { client },
  )
  t.match(await ask('validate', { object }), { allowed: true })
  t.match(await ask('validate', { object }), { allowed: true })
  t.strictSame(namespaces, ['ns', 'other', '', ''], 'answers are shared between requests')
})

t.test('each handler has the client of its operator, or of the server, and shares the rest of the request', async (t) => {
  const calls: unknown[] = []
  const clientOf = (operator: string): Client =>
    ({
      get: async (_type: unknown, _key: unknown, { signal }: { signal: AbortSignal }) => void calls.push([operator, signal]),
      create: async () => (calls.push(operator), { status: { allowed: true } }),
    }) as unknown as Client
  const seen: AdmissionContext[] = []
  const record = async (operator: string, context: AdmissionContext<unknown>): Promise<[]> => {
    seen.push(context)
    const { client, warn, audit, requesterCan } = context
    await client.get(configMap, { name: 'c' })
    warn(`of ${operator}`)
    audit('seen-by', operator)
    t.equal(await requesterCan({ verb: operator, type: pod }), true)
    return []
  }
  const webhookOf = (operator: string): WebhookDefinition =>
    defineWebhook(widget, {
      validateInCluster: (_object, _old, context) => record(operator, context),
      validateDelete: (_object, context) => record(operator, context),
      rbac: [accessReviewRule],
    })
  const webhooks = [{ ...webhookOf('one'), client: clientOf('one') }, { ...webhookOf('two'), client: clientOf('two') }, webhookOf('server')]
  const { ask } = await fixture(t, {}, { webhooks, client: clientOf('server') })
  const expected = { allowed: true, warnings: ['of one', 'of two', 'of server'], auditAnnotations: { 'seen-by': 'one' } }
  const options = { fieldManager: 'kubectl' }
  t.match(await ask('validate', { operation: 'UPDATE', object, oldObject: object, options }), expected)
  t.strictSame(
    calls,
    ['one', 'two', 'server'].flatMap((operator, at) => [[operator, seen[at]!.signal], operator]),
    'their requests have the signal of the review',
  )
  for (const context of seen) {
    const { operation, dryRun, namespace, name, subResource, oldObject, user } = context
    t.strictSame(
      { operation, dryRun, namespace, name, subResource },
      { operation: 'UPDATE', dryRun: false, namespace: 'ns', name: 'w', subResource: '' },
    )
    t.strictSame(context.options, options)
    t.strictSame(oldObject, object)
    t.equal(user.username, 'jane')
    t.equal(context.signal, seen[0]!.signal)
  }
  t.match(await ask('validate', { operation: 'DELETE', object: null, oldObject: object }), expected)
})

/** Returns a cache of ConfigMaps. The cache becomes synced when `fill` is called. */
function fakeCache(): { cache: ProcessCache; fill: () => void } {
  const filled = Promise.withResolvers<void>()
  const informer = { synced: false, whenSynced: () => filled.promise }
  const cache: ProcessCache = {
    namespaces: [],
    informer: () => informer,
    get: (_type, { name }) => (name === 'there' ? ({ data: { a: 'b' } } as never) : undefined),
    list: () => [],
  }
  return {
    cache,
    fill() {
      informer.synced = true
      filled.resolve()
    },
  }
}

t.test('a cached read throws until the cache is filled', async (t) => {
  const { cache, fill } = fakeCache()
  const reader = new AdmissionCache(cache)
  t.throws(() => reader.get(configMap, { name: 'there' }), {
    code: 'PRO_INPUT',
    message: /configmaps have not all arrived in the cache yet/,
  })
  fill()
  t.match(reader.get(configMap, { name: 'there' }), { data: { a: 'b' } })
  t.strictSame(reader.list(configMap), [])
  t.equal(reader.get(configMap, { name: 'gone' }), undefined)
  t.throws(() => new AdmissionCache(undefined).get(pod, { name: 'p' }), {
    code: 'PRO_INPUT',
    message: /^pods cannot be read: this process has no cache/,
  })
})

t.test('the admission cache waits for all types, with the signal of the review', async (t) => {
  const calls: unknown[] = []
  const arrived = new Map([configMap, node].map((type) => [type as unknown, Promise.withResolvers<void>()]))
  const cache = {
    informer: (type: unknown) => ({
      synced: false,
      whenSynced: (until: AbortSignal) => (calls.push([type, until]), arrived.get(type)!.promise),
    }),
  } as unknown as ProcessCache
  const { signal } = new AbortController()
  let filled = false
  const filling = new AdmissionCache(cache).whenFilled([configMap, node], signal).then(() => (filled = true))
  t.strictSame(
    calls.map((each) => (each as unknown[])[1] === signal),
    [true, true],
  )
  t.strictSame(
    calls.map((each) => (each as unknown[])[0]),
    [configMap, node],
  )
  arrived.get(node)!.resolve()
  await new Promise(setImmediate)
  t.equal(filled, false)
  arrived.get(configMap)!.resolve()
  await filling
  await new AdmissionCache(undefined).whenFilled([configMap], signal)
  await new AdmissionCache(cache).whenFilled([], signal)
  t.equal(calls.length, 2)
})

t.test('a cached read passes on its key and options', async (t) => {
  const calls: unknown[] = []
  const object = { metadata: { name: 'a' } }
  const cache = {
    namespaces: ['a'],
    informer: () => ({ synced: true }),
    get: (...all: unknown[]) => (calls.push(all), object),
    list: (...all: unknown[]) => (calls.push(all), [object]),
  } as unknown as ProcessCache
  const reader = new AdmissionCache(cache)
  const options = { namespace: 'a', labelSelector: { matchLabels: { b: 'c' } } }
  t.equal(reader.get(configMap, { namespace: 'a', name: 'x' }), object)
  t.strictSame(reader.list(configMap, options), [object])
  t.strictSame(calls, [
    [configMap, { namespace: 'a', name: 'x' }],
    [configMap, options],
  ])
  t.throws(() => reader.list(configMap, { labelSelector: { matchLabels: { b: 'c' } } }), {
    code: 'PRO_INPUT',
    message: 'configmaps of all namespaces are not in the cache, which is limited to "a": list one of these namespaces, or use the client.',
  })
})

t.test('a webhook can read only the types in its own `reads`', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: silentLogger() })
  for (const type of [configMap, node, pod]) cache.informer(type)
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  t.teardown(() => (stop.abort(), running))
  await cache.whenSynced()
  // The cache of this process contains all three types. A webhook must nevertheless read only the types in its own `reads`. If another
  // process runs the webhook without the other webhooks and controllers, the cache of that process contains only the types in these
  // `reads`.
  const webhooks = [
    defineWebhook(widget, { reads: [node], validateInCluster: () => [] }),
    defineWebhook(widget, {
      reads: [configMap],
      validateInCluster(_object, _old, { cache }) {
        t.strictSame(cache.list({ ...configMap }), [], 'also by another descriptor of the type')
        for (const type of [node, pod])
          t.throws(() => cache.list(type), {
            code: 'PRO_INPUT',
            message: `${type.plural} is not in the \`reads\` of the webhook for Widget.apps.example.com: name it there, or read it with the client.`,
          })
        t.throws(() => cache.get(node, { name: 'n' }), { code: 'PRO_INPUT' })
        return []
      },
    }),
  ]
  const { ask } = await fixture(t, {}, { webhooks, cache })
  t.match(await ask('validate', { object }), { allowed: true })
})

t.test('a cached read outside the cached namespaces, or without a namespace, throws', async (t) => {
  const cache = new Cache(new ScriptedClient().client, { logger: silentLogger(), namespaces: ['a'] })
  for (const type of [configMap, node]) cache.informer(type)
  const stop = new AbortController()
  const running = cache.start(stop.signal)
  t.teardown(() => (stop.abort(), running))
  await cache.whenSynced()
  const reader = new AdmissionCache(cache)
  const some = {
    code: 'PRO_INPUT',
    message: /^configmaps of all namespaces are not in the cache, which is limited to "a": list one of these/,
  }
  t.throws(() => reader.list(configMap), some)
  t.throws(() => reader.list(configMap, { namespace: '' }), some)
  t.strictSame(reader.list(configMap, { namespace: 'a' }), [])
  t.strictSame(reader.list(node), [], 'cluster-scoped types are cached as a whole')
  const view = cacheView(configMap, { namespaces: ['b'] })
  await cache.informer(view).whenSynced()
  t.strictSame(reader.list(view), [], 'the view names its namespaces itself')
  t.strictSame(reader.list(node, { namespace: 'b' }), [])
  const other = { code: 'PRO_INPUT', message: /^configmaps of the namespace "b" are not in the cache, which is limited to "a"/ }
  t.throws(() => reader.list(configMap, { namespace: 'b' }), other)
  t.throws(() => reader.get(configMap, { namespace: 'b', name: 'x' }), other)
  t.throws(() => reader.get(configMap, { name: 'x' }), { code: 'PRO_INPUT', message: /^configmaps have a namespace: name it/ })
  t.equal(reader.get(configMap, { namespace: 'a', name: 'x' }), undefined)
})

t.test('a handler with `reads` is called once they are filled', async (t) => {
  const { cache, fill } = fakeCache()
  const log: string[] = []
  const { ask } = await fixture(
    t,
    {
      reads: [configMap],
      validateInCluster: (_object, _old, context) => (
        log.push(`asked: ${context.cache.get(configMap, { name: 'there' })?.data?.['a']}`),
        []
      ),
      validateDelete: (_object, context) => (log.push(`deleted: ${context.cache.list(configMap).length}`), []),
    },
    { cache },
  )
  const answers = [ask('validate', { object }), ask('validate', { operation: 'DELETE', object: null, oldObject: object })]
  await new Promise((resolve) => setImmediate(resolve))
  log.push('filled')
  fill()
  for (const answer of await Promise.all(answers)) t.match(answer, { allowed: true })
  t.equal(log[0], 'filled')
  t.strictSame(log.slice(1).sort(), ['asked: b', 'deleted: 0'])
})

t.test('a handler whose `reads` do not arrive in time is not called', async (t) => {
  const { cache } = fakeCache()
  const clock = new FakeClock()
  const { ask } = await fixture(t, { reads: [configMap], validateInCluster: () => t.fail('was called') as never }, { cache, clock })
  const answer = ask('validate', { object }, '?timeout=1s')
  await eventually(() => clock.pending > 0)
  await clock.advance(1000)
  t.match(await answer, { allowed: false, status: { code: 504 } })
})
