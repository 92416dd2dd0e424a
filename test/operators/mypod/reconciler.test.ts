import t from 'tap'
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
  readonly refuse?: ApiError
  /** What deleting the Pod, or writing the status, is refused with. */
  readonly refuseLast?: ApiError
  /** What deleting the Pod alone is refused with. */
  readonly refuseDelete?: ApiError
}

/** Runs one reconcile against a scripted API and gives the writes, the events and the result. */
async function reconcile(object: MyPod, script: Script = {}) {
  const writes: [string, ...unknown[]][] = []
  const events: string[] = []
  const told: string[] = []
  const { logger, entries } = recordingLogger()
  const write =
    (verb: string, answer: unknown) =>
    async (_type: unknown, ...args: unknown[]) => {
      writes.push([verb, ...args])
      if (script.refuse !== undefined && (verb === 'create' || verb === 'patch')) throw script.refuse
      if (script.refuseLast !== undefined && (verb === 'delete' || verb === 'patchStatus')) throw script.refuseLast
      if (script.refuseDelete !== undefined && verb === 'delete') throw script.refuseDelete
      return answer
    }
  const client = {
    create: write('create', livePodOf(object, { status: { phase: 'Pending' } })),
    patch: write('patch', script.cached),
    delete: write('delete', {}),
    patchStatus: write('patchStatus', {}),
    get: async () => script.live,
  } as unknown as Client
  const context = {
    client,
    cache: { get: () => script.cached, list: () => [] },
    logger,
    signal: new AbortController().signal,
    reconcileID: 'id',
    clock: new FakeClock(),
    events: {
      event: (_object: unknown, type: string, reason: string, message: string) => {
        events.push(reason)
        told.push(`${type} ${reason}: ${message}`)
      },
    },
  } as unknown as ReconcileContext
  const result = await reconcileMyPod(object, context)
  const logged = entries.map(({ level, time: _, ...rest }) => ({ level, ...rest }))
  return { verbs: writes.map(([verb]) => verb), writes, events, told, logged, result }
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
  await t.rejects(reconcile(aMyPod(), { cached: evicted, refuseDelete: apiError(500, 'InternalError') }), { message: /no/ })
  await t.rejects(reconcile(aMyPod(), { refuseLast: apiError(500, 'InternalError') }), { message: /no/ })
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
  await t.rejects(reconcile(aMyPod(), { refuse: apiError(500, 'InternalError') }), { message: /no/ })
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

/** The conditions that are true, or not as expected, of the status that was written. */
function conditions(writes: readonly [string, ...unknown[]][]): string[] {
  const { status } = writes.at(-1)![2] as { status: { conditions: { type: string; status: string; reason: string; message: string }[] } }
  return status.conditions
    .filter(({ reason }) => reason !== 'AsExpected')
    .map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`)
}

t.test('each step is told as an event, in the log and in the status', async (t) => {
  const object = aMyPod()
  const key = { namespace: 'ns', name: 'a' }
  const created = await reconcile(object)
  t.strictSame(created.told, ['Normal Created: pod a created'])
  t.strictSame(created.logged, [{ level: 'info', msg: 'created the Pod' }])
  t.strictSame(conditions(created.writes), [
    'Progressing=True Creating: The Pod was created.',
    'Ready=False PodPending: The Pod is not ready.',
  ])
  t.strictSame(created.writes[0]!.slice(1), [podFor(object)])
  t.strictSame(created.writes[1]![1], key)
  t.equal(created.result, undefined)

  const refused = await reconcile(object, { refuse: apiError(403, 'Forbidden', 'quota') })
  t.strictSame(refused.told, ['Warning PodCreateFailed: quota'])
  t.strictSame(refused.logged, [{ level: 'warn', reason: 'Forbidden', msg: 'the API server refused the Pod: quota' }])
  t.strictSame(conditions(refused.writes), ['Degraded=True PodCreateFailed: quota', 'Ready=False PodCreateFailed: quota'])

  const why = 'it failed with Evicted'
  const evicted = await reconcile(object, { cached: livePodOf(object, { status: { phase: 'Failed', reason: 'Evicted' } }) })
  t.strictSame(evicted.told, [`Normal Recreating: pod a is created anew: ${why}`])
  t.strictSame(evicted.logged, [{ level: 'info', why, msg: 'deleted the Pod to create it anew' }])
  t.strictSame(conditions(evicted.writes)[0], `Progressing=True Recreating: The Pod is created anew: ${why}.`)
  t.strictSame(evicted.writes[0]!.slice(1), [key, { preconditions: { uid: 'pod' } }])
  t.equal(evicted.result, undefined)

  const after = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } })
  const patched = await reconcile(after, { cached: livePodOf(object) })
  t.strictSame(patched.told, [])
  t.strictSame(patched.logged, [{ level: 'info', msg: 'updated the Pod in place' }])
  t.strictSame(patched.writes[0]![1], key)
  t.strictSame(conditions(patched.writes), ['Ready=True PodReady: '])
  const inPlace = await reconcile(after, { cached: livePodOf(object), refuse: apiError(422, 'Invalid') })
  t.strictSame(inPlace.told, ['Normal Recreating: pod a is created anew: the API server refused to change it in place'])
  await t.rejects(reconcile(after, { cached: livePodOf(object), refuse: apiError(409, 'Conflict') }), { message: 'no' })

  const foreign = await reconcile(object, { cached: livePodOf(aMyPod({}, { uid: 'other' })) })
  const message = 'The Pod a exists and does not belong to this MyPod; it is left alone.'
  t.strictSame(foreign.told, [`Warning NameConflict: ${message}`])
  t.strictSame(conditions(foreign.writes), [`Degraded=True NameConflict: ${message}`, `Ready=False NameConflict: ${message}`])

  const leaving = await reconcile(object, { cached: livePodOf(object, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }) })
  t.strictSame(conditions(leaving.writes)[0], 'Progressing=True Recreating: The old Pod is going away.')
})

t.test('a Pod is starting until it has another phase than Pending', async (t) => {
  const object = aMyPod()
  for (const [status, starting] of [
    [{}, true],
    [{ phase: 'Pending' }, true],
    [{ phase: 'Running' }, false],
    [{ phase: 'Failed', reason: 'Error' }, false],
    [{ phase: 'Running', reason: 'Evicted' }, false],
  ] as const) {
    const { writes, verbs } = await reconcile(object, { cached: livePodOf(object, { status }) })
    t.strictSame(verbs, ['patchStatus'])
    t.equal(conditions(writes)[0] === 'Progressing=True Creating: The Pod is starting.', starting, JSON.stringify(status))
  }
})

t.test('whatever a node takes a Pod away for, it is replaced', async (t) => {
  const object = aMyPod()
  for (const reason of ['Evicted', 'NodeLost', 'Preempting', 'Preempted', 'NodeShutdown', 'Terminated'])
    t.strictSame((await reconcile(object, { cached: livePodOf(object, { status: { phase: 'Failed', reason } }) })).verbs, [
      'delete',
      'patchStatus',
    ])
})
