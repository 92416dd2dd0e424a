import t from 'tap'
import { pod as podType } from '../../../src/api/builtin.ts'
import type { Pod } from '../../../src/api/builtin.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Client } from '../../../src/client/client.ts'
import type { ReconcileContext } from '../../../src/controller/reconciler.ts'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { podFor } from '../../../src/operators/mypod/pod.ts'
import { reconcileMyPod } from '../../../src/operators/mypod/reconciler.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingLogger } from '../../support/certs-recording-logger.ts'
import { aMyPod, livePodOf } from '../../support/mypod.ts'

interface Script {
  /** The Pod in the cache. */
  readonly cached?: Pod
  /** The Pod at the API server, when the cache is behind. */
  readonly live?: Pod
  /** What a create or patch of the Pod is refused with. */
  readonly refuse?: Error
  /** What deleting the Pod, or writing the status, is refused with. */
  readonly refuseLast?: ApiError
}

/** Runs one reconcile against a scripted API and gives the writes, the events and the result. */
async function reconcile(object: MyPod, script: Script = {}) {
  const writes: [string, ...unknown[]][] = []
  const reads: unknown[] = []
  const events: string[] = []
  const write =
    (verb: string, answer: unknown) =>
    async (_type: unknown, ...args: unknown[]) => {
      writes.push([verb, ...args])
      if (script.refuse !== undefined && (verb === 'create' || verb === 'patch')) throw script.refuse
      if (script.refuseLast !== undefined && (verb === 'delete' || verb === 'patchStatus')) throw script.refuseLast
      return answer
    }
  const client = {
    create: write('create', livePodOf(object, { status: { phase: 'Pending' } })),
    patch: write('patch', script.cached),
    delete: write('delete', {}),
    patchStatus: write('patchStatus', {}),
    get: async (...all: unknown[]) => (reads.push(all), script.live),
  } as unknown as Client
  const told: string[] = []
  const { logger, lines } = recordingLogger()
  const context = {
    client,
    cache: { get: (...all: unknown[]) => (reads.push(all), script.cached), list: () => [] },
    logger,
    signal: new AbortController().signal,
    reconcileID: 'id',
    clock: new FakeClock('2026-01-01T00:01:00Z'),
    events: {
      event(about: unknown, type: string, reason: string, message: string) {
        events.push(reason)
        told.push(`${about === object ? '' : 'of another object: '}${type} ${reason}: ${message}`)
      },
    },
  } as unknown as ReconcileContext
  const result = await reconcileMyPod(object, context)
  const status = writes.find(([verb]) => verb === 'patchStatus')?.[2] as
    { status: Pick<NonNullable<MyPod['status']>, 'conditions'> } | undefined
  const conditions = status?.status.conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
  return { verbs: writes.map(([verb]) => verb), writes, reads, events, told, lines, conditions, result }
}

/** What a reconcile throws. */
async function failureOf(...all: Parameters<typeof reconcile>): Promise<unknown> {
  try {
    return await reconcile(...all)
  } catch (error) {
    return error
  }
}

const apiError = (code: number, reason: string, message = 'no'): ApiError => new ApiError(failure(code, reason, message))

t.test('a MyPod without a Pod gets one', async (t) => {
  const { verbs, events } = await reconcile(aMyPod())
  t.strictSame(verbs, ['create', 'patchStatus'])
  t.strictSame(events, ['Created'])
})

t.test('in steady state nothing is written', async (t) => {
  const object = aMyPod()
  const cached = livePodOf(object)
  const first = await reconcile(object, { cached })
  t.strictSame(first.verbs, ['patchStatus'])
  const { status } = first.writes[0]![2] as { status: NonNullable<MyPod['status']> }
  t.strictSame((await reconcile({ ...object, status }, { cached })).verbs, [])
})

t.test('a MyPod that goes away is left alone', async (t) => {
  t.strictSame((await reconcile(aMyPod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).verbs, [])
})

t.test('a foreign Pod of that name is never touched', async (t) => {
  const foreign = livePodOf(aMyPod({}, { uid: 'other' }))
  for (const script of [{ cached: foreign }, { live: foreign, refuse: apiError(409, 'AlreadyExists') }]) {
    const { verbs, writes, events, result } = await reconcile(aMyPod(), script)
    t.strictSame(
      verbs.filter((verb) => verb !== 'create'),
      ['patchStatus'],
    )
    t.match(writes.at(-1)?.[2], {
      status: { conditions: [{ type: 'Degraded', status: 'True', reason: 'NameConflict' }, { type: 'Progressing' }, { type: 'Ready' }] },
    })
    t.strictSame(events, ['NameConflict'])
    t.strictSame(result, { requeue: true })
  }
})

t.test('what is gone by the time it is deleted, or its status is written, is no failure', async (t) => {
  const notFound = apiError(404, 'NotFound')
  const evicted = livePodOf(aMyPod(), { status: { phase: 'Failed', reason: 'Evicted' } })
  const { verbs, events } = await reconcile(aMyPod(), { cached: evicted, refuseLast: notFound })
  t.strictSame(verbs, ['delete', 'patchStatus'])
  t.strictSame(events, ['Recreating'])
  const broken = apiError(500, 'InternalError')
  for (const script of [{ cached: evicted, refuseLast: broken }, { refuseLast: broken }]) t.equal(await failureOf(aMyPod(), script), broken)
})

t.test('a cache that is behind creates no second Pod', async (t) => {
  const object = aMyPod()
  const { verbs } = await reconcile(object, { live: livePodOf(object), refuse: apiError(409, 'AlreadyExists') })
  t.strictSame(verbs, ['create', 'patchStatus'])
})

t.test('a Pod that the API server refuses is told in the status and tried again seldom', async (t) => {
  for (const [code, reason] of [
    [422, 'Invalid'],
    [403, 'Forbidden'],
  ] as const) {
    const { writes, events, result } = await reconcile(aMyPod(), {
      refuse: apiError(code, reason, 'violates PodSecurity "restricted:latest"'),
    })
    t.match(writes.at(-1)?.[2], {
      status: {
        conditions: [
          { type: 'Degraded', status: 'True', reason: 'PodCreateFailed', message: /PodSecurity/ },
          { type: 'Progressing' },
          { type: 'Ready' },
        ],
      },
    })
    t.strictSame(events, ['PodCreateFailed'])
    t.strictSame(result, { requeueAfterMs: 30_000 })
  }
})

t.test('another failure goes to the queue', async (t) => {
  for (const error of [apiError(500, 'InternalError'), apiError(409, 'Conflict'), new Error('not from the API server')])
    t.equal(await failureOf(aMyPod(), { refuse: error }), error)
})

t.test('a change that a running Pod cannot follow deletes this very Pod, and only once', async (t) => {
  const before = aMyPod()
  const after = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1', command: ['true'] }] } })
  const { verbs, writes, events } = await reconcile(after, { cached: livePodOf(before) })
  t.strictSame(verbs, ['delete', 'patchStatus'])
  t.match(writes[0]?.[2], { preconditions: { uid: 'pod' } })
  t.strictSame(events, ['Recreating'])
  const ending = livePodOf(before, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
  t.strictSame((await reconcile(after, { cached: ending })).verbs, ['patchStatus'])
})

t.test('an in-place change that the API server refuses makes the Pod anew', async (t) => {
  const cached = livePodOf(aMyPod())
  const after = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } })
  t.strictSame((await reconcile(after, { cached, refuse: apiError(422, 'Invalid') })).verbs, ['patch', 'delete', 'patchStatus'])
  t.strictSame((await reconcile(after, { cached })).verbs, ['patch', 'patchStatus'])
})

t.test('an evicted Pod is replaced, a finished one is kept', async (t) => {
  const object = aMyPod()
  t.strictSame((await reconcile(object, { cached: livePodOf(object, { status: { phase: 'Failed', reason: 'Evicted' } }) })).verbs, [
    'delete',
    'patchStatus',
  ])
  t.strictSame((await reconcile(object, { cached: livePodOf(object, { status: { phase: 'Failed' } }) })).verbs, ['patchStatus'])
  t.strictSame((await reconcile(object, { cached: livePodOf(object, { status: { phase: 'Succeeded' } }) })).verbs, ['patchStatus'])
})

const key = { namespace: 'ns', name: 'a' }
const [fine, settled, ready] = ['Degraded False AsExpected: ', 'Progressing False AsExpected: ', 'Ready True PodReady: ']
const starting = 'Progressing True Creating: The Pod is starting.'

t.test('a Pod is created as the MyPod asks for it, and that is told', async (t) => {
  const object = aMyPod()
  const { writes, reads, told, lines, conditions, result } = await reconcile(object)
  t.strictSame(reads, [[podType, key]])
  t.strictSame(writes[0], ['create', podFor(object)])
  t.strictSame(writes[1]![1], key)
  t.strictSame(told, ['Normal Created: pod a created'])
  t.strictSame(lines, ['info: created the Pod'])
  t.strictSame(conditions, [fine, 'Progressing True Creating: The Pod was created.', 'Ready False PodPending: The Pod is not ready.'])
  t.equal(result, undefined)
  t.match(writes[1]![2], { status: { conditions: [{ lastTransitionTime: '2026-01-01T00:01:00Z' }] } })
})

t.test('a Pod is as far as its phase says', async (t) => {
  const object = aMyPod()
  for (const [status, conditions] of [
    [undefined, [fine, settled, ready]],
    [{}, [fine, starting, 'Ready False PodPending: The Pod is not ready.']],
    [{ phase: 'Pending' }, [fine, starting, 'Ready False PodPending: The Pod is not ready.']],
    [{ phase: 'Running' }, [fine, settled, 'Ready False PodRunning: The Pod is not ready.']],
    [{ phase: 'Succeeded' }, [fine, settled, 'Ready False PodSucceeded: The Pod is not ready.']],
    [{ phase: 'Failed' }, [fine, settled, 'Ready False PodFailed: The Pod is not ready.']],
    [{ phase: 'Failed', reason: 'Other' }, [fine, settled, 'Ready False PodFailed: The Pod is not ready.']],
    [{ phase: 'Running', reason: 'Evicted' }, [fine, settled, 'Ready False PodRunning: The Pod is not ready.']],
  ] as const) {
    const { verbs, conditions: found, told, result } = await reconcile(object, { cached: livePodOf(object, { ...(status && { status }) }) })
    t.strictSame([verbs, found, told, result], [['patchStatus'], conditions, [], undefined], JSON.stringify(status))
  }
})

t.test('a Pod that was taken away by its node is made anew, for whatever reason', async (t) => {
  const object = aMyPod()
  for (const reason of ['Evicted', 'NodeLost', 'Preempting', 'Preempted', 'NodeShutdown', 'Terminated']) {
    const { writes, told, lines, conditions, result } = await reconcile(object, {
      cached: livePodOf(object, { status: { phase: 'Failed', reason } }),
    })
    t.strictSame(writes[0], ['delete', key, { preconditions: { uid: 'pod' } }])
    t.strictSame(told, [`Normal Recreating: pod a is created anew: it failed with ${reason}`])
    t.strictSame(lines, ['info: deleted the Pod to create it anew'])
    t.equal(conditions![1], `Progressing True Recreating: The Pod is created anew: it failed with ${reason}.`)
    t.equal(result, undefined)
  }
})

t.test('what a running Pod cannot follow is told with why', async (t) => {
  const cached = livePodOf(aMyPod())
  const other = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1', command: ['true'] }] } })
  t.strictSame((await reconcile(other, { cached })).told, [
    'Normal Recreating: pod a is created anew: the Pod spec changed in fields that a running Pod cannot change',
  ])
  const image = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } })
  t.strictSame((await reconcile(image, { cached, refuse: apiError(422, 'Invalid') })).told, [
    'Normal Recreating: pod a is created anew: the API server refused to change it in place',
  ])
  const ending = livePodOf(aMyPod(), { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
  const waiting = await reconcile(other, { cached: ending })
  t.strictSame([waiting.told, waiting.result], [[], undefined])
  t.equal(waiting.conditions![1], 'Progressing True Recreating: The old Pod is going away.')
})

t.test('a Pod that changes in place is patched, with what it then is in the status', async (t) => {
  const cached = livePodOf(aMyPod(), { status: { phase: 'Pending' } })
  const { writes, told, lines, conditions } = await reconcile(aMyPod({ podLabels: { a: 'b' } }), { cached })
  const [verb, about, patch] = writes[0]!
  t.strictSame([verb, about], ['patch', key])
  t.match(patch, { metadata: { labels: { a: 'b' }, resourceVersion: '5' } })
  t.strictSame([told, lines], [[], ['info: updated the Pod in place']])
  t.strictSame(conditions?.slice(0, 2), [fine, starting])
  for (const error of [apiError(409, 'Conflict'), apiError(403, 'Forbidden'), apiError(500, 'InternalError')])
    t.equal(await failureOf(aMyPod({ podLabels: { a: 'b' } }), { cached, refuse: error }), error)
})

t.test('what cannot be helped is told, and tried again', async (t) => {
  const foreign = livePodOf(aMyPod({}, { uid: 'other' }))
  const message = 'The Pod a exists and is not owned by this MyPod; it is not changed.'
  const conflict = await reconcile(aMyPod(), { live: foreign, refuse: apiError(409, 'AlreadyExists') })
  t.strictSame(conflict.told, [`Warning NameConflict: ${message}`])
  t.strictSame(conflict.conditions, [`Degraded True NameConflict: ${message}`, settled, `Ready False NameConflict: ${message}`])
  t.strictSame(conflict.reads, [
    [podType, key],
    [podType, key],
  ])
  const refused = await reconcile(aMyPod(), { refuse: apiError(403, 'Forbidden', 'exceeded quota') })
  t.strictSame(refused.told, ['Warning PodCreateFailed: exceeded quota'])
  t.strictSame(refused.lines, ['warn: the API server refused the Pod: exceeded quota'])
  t.strictSame(refused.conditions, [
    'Degraded True PodCreateFailed: exceeded quota',
    settled,
    'Ready False PodCreateFailed: exceeded quota',
  ])
})

t.test('a MyPod that has gone by the time its status is written is no failure', async (t) => {
  const { verbs, writes } = await reconcile(aMyPod(), { refuseLast: apiError(404, 'NotFound') })
  t.strictSame(verbs, ['create', 'patchStatus'])
  t.strictSame(writes[1]![1], key)
})
