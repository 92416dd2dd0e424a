import t from 'tap'
import type { KubernetesObject, ObjectKey } from '../../src/api/object.ts'
import { failure } from '../../src/api/status.ts'
import { ApiError } from '../../src/client/api-error.ts'
import { objectReconciler } from '../../src/controller/object-reconciler.ts'
import type { ReconcileContext, Result } from '../../src/controller/reconciler.ts'
import { recordingLogger } from '../support/cache-log.ts'
import { objectOf, thing } from '../support/controller-fakes.ts'

const key = { namespace: 'ns', name: 'a' }
const object = objectOf(thing, 'a')

interface Given {
  readonly cached?: KubernetesObject
  /** What the API server answers. */
  readonly get?: () => Promise<unknown>
  readonly deleted?: (key: ObjectKey) => Promise<Result>
  readonly gone?: readonly string[]
}
async function reconcile({ cached, get, deleted, gone = [] }: Given) {
  const events: unknown[] = []
  const seenGone = new Set(gone)
  const { logger, lines } = recordingLogger()
  const context = {
    cache: { get: (type: unknown, asked: ObjectKey) => (events.push(['cache', type === thing, asked]), cached) },
    client: { get: (type: unknown, asked: ObjectKey) => (events.push(['get', type === thing, asked]), get!()) },
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
  return { result, events: events.slice(1), lines, left: [...seenGone] }
}
const notFound = (): Promise<never> => Promise.reject(new ApiError(failure(404, 'NotFound', 'x')))

t.test('an object of the cache is reconciled, and was not gone for good', async (t) => {
  t.strictSame(await reconcile({ cached: object, gone: ['ns/a', 'ns/b'], deleted: async () => undefined }), {
    result: { requeueAfterMs: 7 },
    events: [['reconcile', true, true]],
    lines: [],
    left: ['ns/b'],
  })
})

t.test('one that is missing is nothing to do where nobody asks to know', async (t) => {
  t.strictSame(await reconcile({ gone: ['ns/a'] }), { result: undefined, events: [], lines: [], left: [] })
})

t.test('one whose deletion was seen is gone', async (t) => {
  const given = await reconcile({ gone: ['ns/a', 'ns/b'], deleted: async () => ({ requeueAfterMs: 9 }) })
  t.strictSame(given, { result: { requeueAfterMs: 9 }, events: [['deleted', key, true, 2]], lines: [], left: ['ns/b'] })
})

t.test('one that the API server does not have either is gone', async (t) => {
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

t.test('one that the API server has comes again', async (t) => {
  const { result, events, lines } = await reconcile({ get: async () => object, deleted: async () => void t.fail('is there') })
  t.strictSame([result, events], [{ requeue: true }, [['get', true, key]]])
  t.strictSame(lines, [{ level: 'debug', msg: 'the object is there, and the cache does not have it yet' }])
})

t.test('an answer that says neither is an error', async (t) => {
  const error = new ApiError(failure(403, 'Forbidden', 'no'))
  t.strictSame((await reconcile({ get: () => Promise.reject(error), deleted: async () => undefined })).result, { error })
})

t.test('what could not be dealt with is still gone at the next try', async (t) => {
  const error = new Error('not yet')
  const { result, left } = await reconcile({ gone: ['ns/a'], deleted: () => Promise.reject(error) })
  t.strictSame([result, left], [{ error }, ['ns/a']])
})
