import t from 'tap'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import type { CacheViewSelection } from '../../src/cache/view.ts'
import { cacheView } from '../../src/cache/view.ts'
import { objectReconciler } from '../../src/controller/object-reconciler.ts'
import type { ReconcileContext, Result } from '../../src/controller/reconciler.ts'
import { TerminalError } from '../../src/controller/reconciler.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { objectOf, thing } from '../support/controller/fakes.ts'

const key = { namespace: 'ns', name: 'a' }
const object = objectOf(thing, 'a')

interface Setup {
  readonly cached?: KubernetesObject
  /** Resolves with the object that the API server returns, or rejects with the error of the request. */
  readonly get?: () => Promise<unknown>
  readonly deleted?: (key: ObjectKey) => Promise<Result>
  readonly gone?: readonly string[]
}
async function reconcile({ cached, get, deleted, gone = [] }: Setup) {
  const events: unknown[] = []
  const seenGone = new Set(gone)
  const { logger, entries } = recordingLogger('debug')
  const context = {
    cache: { get: (type: unknown, requested: ObjectKey) => (events.push(['cache', type === thing, requested]), cached) },
    client: { get: (type: unknown, requested: ObjectKey) => (events.push(['get', type === thing, requested]), get!()) },
    logger,
  } as unknown as ReconcileContext
  const settings = {
    reconcile: async (given: unknown, with_: unknown) => {
      events.push(['reconcile', given === cached, with_ === context])
      return { requeueAfterMs: 7 }
    },
    ...(deleted === undefined
      ? {}
      : {
          deleted: (asked: ObjectKey, with_: unknown) => {
            events.push(['deleted', asked, with_ === context, seenGone.size])
            return deleted(asked)
          },
        }),
  }
  const result = await objectReconciler(thing, settings as never, seenGone)(key, context).catch((error: unknown) => ({ error }))
  const [read, ...others] = events
  t.strictSame(read, ['cache', true, key], 'the object is first read from the cache by its key')
  return { result, events: others, entries, left: [...seenGone] }
}
const notFound = (): Promise<never> => Promise.reject(new ApiError(failure(404, 'NotFound', 'x')))

t.test('a cached object is reconciled, and its recorded deletion is discarded', async (t) => {
  t.strictSame(await reconcile({ cached: object, gone: ['ns/a', 'ns/b'], deleted: async () => undefined }), {
    result: { requeueAfterMs: 7 },
    events: [['reconcile', true, true]],
    entries: [],
    left: ['ns/b'],
  })
})

t.test('a missing object without a deleted handler is a success', async (t) => {
  t.strictSame(await reconcile({ gone: ['ns/a'] }), { result: undefined, events: [], entries: [], left: [] })
})

t.test('an object whose deletion was seen is deleted', async (t) => {
  const outcome = await reconcile({ gone: ['ns/a', 'ns/b'], deleted: async () => ({ requeueAfterMs: 9 }) })
  t.strictSame(outcome, { result: { requeueAfterMs: 9 }, events: [['deleted', key, true, 2]], entries: [], left: ['ns/b'] })
})

t.test('an object that the API server does not have either is deleted', async (t) => {
  const { result, events } = await reconcile({ get: notFound, deleted: async () => undefined })
  t.strictSame(
    [result, events],
    [
      undefined,
      [
        ['get', true, key],
        ['deleted', key, true, 0],
      ],
    ],
  )
})

t.test('an object that the API server has is requeued', async (t) => {
  const { result, events, entries } = await reconcile({ get: async () => object, deleted: async () => void t.fail('is there') })
  t.strictSame([result, events], [{ requeue: true }, [['get', true, key]]])
  t.strictSame(entries, [{ level: 'debug', msg: 'the object is there, and the cache does not have it yet' }])
})

t.test('any other answer is an error', async (t) => {
  const error = new ApiError(failure(403, 'Forbidden', 'no'))
  t.strictSame((await reconcile({ get: () => Promise.reject(error), deleted: async () => undefined })).result, { error })
})

t.test('a deletion whose handler fails is still deleted on retry', async (t) => {
  const error = new Error('not yet')
  const { result, left } = await reconcile({ gone: ['ns/a'], deleted: () => Promise.reject(error) })
  t.strictSame([result, left], [{ error }, ['ns/a']])
})

t.test('a deletion whose handler fails for good is forgotten', async (t) => {
  for (const error of [new TerminalError('no'), new Error('no', { cause: new TerminalError('no') })]) {
    const { result, left } = await reconcile({ gone: ['ns/a', 'ns/b'], deleted: () => Promise.reject(error) })
    t.strictSame([result, left], [{ error }, ['ns/b']])
  }
})

t.test('an object that exists outside the view of the controller is neither reconciled nor deleted', async (t) => {
  for (const [options, listed, asked, expected] of [
    [
      { labels: { matchLabels: { a: 'b' } } },
      [],
      { fieldSelector: 'metadata.name=a', labelSelector: { matchLabels: { a: 'b' } } },
      undefined,
    ],
    [{ fields: 'status.phase=x' }, [object], { fieldSelector: 'status.phase=x,metadata.name=a' }, { requeue: true }],
    [{ namespaces: ['other'] }, [object], undefined, undefined],
    [{ namespaces: ['ns'] }, [], undefined, { requeue: true }],
    [{ metadataOnly: true as const }, [], undefined, { requeue: true }],
  ] as const) {
    const lists: unknown[] = []
    const called: unknown[] = []
    const context = {
      cache: { get: () => undefined },
      client: { get: async () => object, list: async (_type: unknown, given: unknown) => (lists.push(given), { items: listed }) },
      logger: recordingLogger().logger,
    } as unknown as ReconcileContext
    const settings = { reconcile: async () => void called.push('reconcile'), deleted: async () => void called.push('deleted') }
    const view = cacheView(thing, options as CacheViewSelection)
    t.strictSame(await objectReconciler(view, settings, new Set())(key, context), expected, JSON.stringify(options))
    t.strictSame(lists, asked === undefined ? [] : [{ namespace: 'ns', limit: 1, ...asked }])
    t.strictSame(called, [])
  }
})
