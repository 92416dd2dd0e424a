import t from 'tap'
import type { KubernetesObject } from '../../src/api/object.ts'
import type { CacheViewOptions } from '../../src/cache/view.ts'
import { cacheView } from '../../src/cache/view.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { Client } from '../../src/client/client.ts'
import { defineController } from '../../src/controller/builder.ts'
import { withFinalizer } from '../../src/controller/finalizer.ts'
import type { Result } from '../../src/controller/reconciler.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { reconcileContext } from '../../src/testing/reconcile-context.ts'
import { objectOf, thing } from '../support/controller/fakes.ts'

const name = 'example.com/cleanup'

interface Changes {
  readonly finalizers?: string[]
  readonly deletionTimestamp?: string
  readonly resourceVersion?: string
  readonly uid?: string
}
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const base = objectOf(thing, 'a')
const objectWith = (changes: Changes): KubernetesObject => ({ ...base, metadata: { ...base.metadata, resourceVersion: '1', ...changes } })

interface Setup {
  readonly cached: Changes
  /**
   * The object in the API server. `undefined` means that the object does not exist. If the property is absent, the API server has the
   * cached object.
   */
  readonly stored?: Changes | undefined
  readonly finalize?: () => Promise<Result>
  /**
   * Called before each patch request is handled. `patches` is the number of earlier patch requests. `set` replaces the object in the API
   * server with `objectWith(changes)`, as a write of another client would.
   */
  readonly beforePatch?: (patches: number, set: (changes: Changes) => void) => void
}

/** Reconciles the cached object once. Returns the calls in their order, and the finalizers in the API server. */
async function reconcile({ cached, finalize = async () => undefined, beforePatch, ...rest }: Setup) {
  const calls: unknown[] = []
  let stored = 'stored' in rest ? rest.stored && objectWith(rest.stored) : objectWith(cached)
  let patches = 0
  const client = {
    async get() {
      calls.push('get')
      if (stored === undefined) throw new ApiError(failure(404, 'NotFound', 'not found'))
      return stored
    },
    async patch(_type: unknown, _key: unknown, { metadata }: { metadata: Required<Changes> }) {
      calls.push(`patch [${metadata.finalizers.join()}] at ${metadata.resourceVersion}`)
      beforePatch?.(patches, (changes) => (stored = objectWith(changes)))
      patches += 1
      if (stored === undefined) throw new ApiError(failure(404, 'NotFound', 'not found'))
      if (stored.metadata.resourceVersion !== metadata.resourceVersion) throw new ApiError(failure(409, 'Conflict', 'changed'))
      stored = {
        ...stored,
        metadata: { ...stored.metadata, finalizers: metadata.finalizers, resourceVersion: `${metadata.resourceVersion}+` },
      }
      return stored
    },
  } as unknown as Client
  const clock = new FakeClock()
  const settings = withFinalizer(
    thing,
    {
      reconcile: async (object) => {
        calls.push(
          `reconcile with [${object.metadata.finalizers?.join() ?? ''}], ${Object.isFrozen(object.metadata) ? 'frozen' : 'not frozen'}`,
        )
        return { requeueAfterMs: 7 }
      },
      finalizer: { name, finalize: async () => (calls.push('finalize'), finalize()) },
    },
    () => 0.5,
  )
  const running = settings.reconcile(objectWith(cached), reconcileContext({ client, clock })).catch((error: unknown) => ({ error }))
  await clock.advance(1_000)
  const result = await running
  return { result, calls, finalizers: stored?.metadata.finalizers }
}

t.test('a new object gets the finalizer before it is reconciled, with the finalizers of others', async (t) => {
  t.strictSame(await reconcile({ cached: { finalizers: ['other/one'] } }), {
    result: { requeueAfterMs: 7 },
    calls: [`patch [other/one,${name}] at 1`, `reconcile with [other/one,${name}], frozen`],
    finalizers: ['other/one', name],
  })
  t.strictSame((await reconcile({ cached: {} })).calls, [`patch [${name}] at 1`, `reconcile with [${name}], frozen`])
})

t.test('an object that has the finalizer is reconciled without a write', async (t) => {
  t.strictSame((await reconcile({ cached: { finalizers: [name] } })).calls, [`reconcile with [${name}], not frozen`])
})

t.test('a deleted object is finalized, and only the own finalizer is removed', async (t) => {
  t.strictSame(await reconcile({ cached: { finalizers: ['other/one', name, 'other/two'], ...deleting } }), {
    result: undefined,
    calls: ['finalize', 'patch [other/one,other/two] at 1'],
    finalizers: ['other/one', 'other/two'],
  })
})

t.test('a deleted object without the finalizer is neither reconciled nor finalized', async (t) => {
  t.strictSame(await reconcile({ cached: { finalizers: ['other/one'], ...deleting } }), {
    result: undefined,
    calls: [],
    finalizers: ['other/one'],
  })
})

t.test('the finalizer stays while finalize is not finished', async (t) => {
  const cached = { finalizers: [name], ...deleting }
  const kept = { calls: ['finalize'], finalizers: [name] }
  t.strictSame(await reconcile({ cached, finalize: async () => ({ requeueAfterMs: 5 }) }), { ...kept, result: { requeueAfterMs: 5 } })
  t.strictSame(await reconcile({ cached, finalize: async () => ({ requeue: true }) }), { ...kept, result: { requeue: true } })
  const error = new Error('still in use')
  t.strictSame(await reconcile({ cached, finalize: () => Promise.reject(error) }), { ...kept, result: { error } })
  const wrong = await reconcile({ cached, finalize: async () => ({ requeAfter: 1 }) as never })
  t.match(wrong, { ...kept, result: { error: TypeError } })
})

t.test('a finalizer that another client adds in the meantime stays', async (t) => {
  const cached = { finalizers: [name], ...deleting }
  const outcome = await reconcile({ cached, stored: { ...cached, finalizers: [name, 'other/late'], resourceVersion: '2' } })
  t.strictSame(outcome, {
    result: undefined,
    calls: ['finalize', 'patch [] at 1', 'get', 'patch [other/late] at 2'],
    finalizers: ['other/late'],
  })
})

t.test('conflicts are retried until the number of attempts is reached', async (t) => {
  const changing = (times: number) => ({
    cached: {},
    beforePatch: (patches: number, set: (changes: Changes) => void) => {
      if (patches < times) set({ resourceVersion: `2.${patches}` })
    },
  })
  t.match(await reconcile(changing(4)), { result: { requeueAfterMs: 7 }, finalizers: [name] })
  const failed = await reconcile(changing(5))
  t.match(failed.result, { error: { reason: 'Conflict' } })
  t.notOk(failed.calls.some((call) => String(call).startsWith('reconcile')))
})

t.test('an object that was deleted in the meantime gets no finalizer, and is not reconciled', async (t) => {
  const patch = `patch [${name}] at 1`
  for (const [what, stored] of [
    ['is being deleted', { ...deleting, finalizers: ['other/one'], resourceVersion: '2' }],
    ['was replaced by another object', { uid: 'another', resourceVersion: '2' }],
  ] satisfies [string, Changes][]) {
    const outcome = await reconcile({ cached: {}, stored })
    t.strictSame([outcome.result, outcome.calls], [undefined, [patch, 'get']], what)
  }
  t.strictSame((await reconcile({ cached: {}, stored: undefined })).calls, [patch])
})

t.test('a removal is complete when the object or the finalizer is gone, or the name belongs to another object', async (t) => {
  const cached = { finalizers: [name], ...deleting }
  const calls = ['finalize', 'patch [] at 1']
  t.strictSame(await reconcile({ cached, stored: undefined }), { result: undefined, calls, finalizers: undefined })
  for (const stored of [
    { ...deleting, resourceVersion: '2', finalizers: ['other/one'] },
    { uid: 'another', resourceVersion: '2', finalizers: [name] },
  ]) {
    t.strictSame(await reconcile({ cached, stored }), { result: undefined, calls: [...calls, 'get'], finalizers: stored.finalizers })
  }
})

t.test('a controller with a finalizer may patch its objects, and its settings are checked', async (t) => {
  const finalize = async () => undefined
  const controller = defineController(thing, { reconcile: finalize, finalizer: { name, finalize } })
  t.strictSame(controller.rbac, [
    { apiGroups: ['example.com'], resources: ['things'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['example.com'], resources: ['things'], verbs: ['patch'] },
  ])
  const refusal = (finalizer: unknown) => () => defineController(thing, { reconcile: finalize, finalizer: finalizer as never })
  t.throws(refusal({ name: 'cleanup', finalize }), /finalizer\.name: must have a domain, as in example\.com\/cleanup, found "cleanup"/)
  t.doesNotThrow(refusal({ name: 'cleanup.example.com', finalize }), 'a domain alone')
  t.throws(refusal({ name: 'example.com.', finalize }), /finalizer\.name: name part must consist of/)
  t.throws(refusal({ name: 'example.com/', finalize }), /finalizer\.name: name part must be non-empty/)
  t.throws(refusal({ name: 7, finalize }), /finalizer\.name: must be a string/)
  t.throws(refusal({ name }), /finalizer\.finalize: is missing/)
})

t.test('a finalizer is refused for a view that objects can leave, because they could never be deleted', async (t) => {
  const finalize = async () => undefined
  const define = (options: CacheViewOptions<KubernetesObject, KubernetesObject>) => () =>
    defineController(cacheView(thing, { ...options, metadataOnly: false }), { reconcile: finalize, finalizer: { name, finalize } })
  t.throws(define({ labels: { matchLabels: { big: 'y' } } }), {
    code: 'PRO_CONFIG_INVALID',
    message:
      'The controller "thing" is invalid: finalizer: an object that leaves the view things.example.com (labels big=y) keeps the finalizer and can never be deleted; use a view without `labels` and `fields`, and select the objects in `reconcile`.',
  })
  t.throws(define({ fields: 'metadata.name=a,status.phase!=Done' }), /an object that leaves the view/)
  t.doesNotThrow(define({ labels: {}, fields: 'metadata.name=a,metadata.namespace!=b', namespaces: ['a'] }))
  t.doesNotThrow(define({ transform: (object) => object }))
})
