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
import { recordingLogger } from '../../support/recording-logger.ts'
import { aMyPod, livePodOf } from '../../support/mypod/objects.ts'

interface Script {
  /**
   * The age of the Pod in milliseconds. Default: 50,000. If a Pod is still starting and younger than `startMs` of the reconciler, the
   * reconciler does not write the status yet. The default age is greater than `startMs`, so the reconciler writes the status.
   */
  readonly ageMs?: number
  /** The Pod in the cache. */
  readonly cached?: Pod
  /** The Pod that the API server returns for a get or patch request. Default: the Pod in the cache. */
  readonly live?: Pod
  /** The error with which a create or patch request for the Pod fails. */
  readonly refuse?: Error
  /** The error with which a delete request for the Pod, or a write of the status, fails. */
  readonly refuseLast?: ApiError
  /**
   * The error with which a delete request for the Pod fails. Unlike `refuseLast`, `refuseDelete` does not make writes of the status fail.
   */
  readonly refuseDelete?: ApiError
}

/** Runs one reconcile with a scripted client. Returns the requests, the Events and the result of the reconcile. */
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
      if (script.refuseDelete !== undefined && verb === 'delete') throw script.refuseDelete
      return answer
    }
  const client = {
    create: write('create', livePodOf(object, { status: { phase: 'Pending' } })),
    patch: write('patch', script.live ?? script.cached),
    delete: write('delete', {}),
    patchStatus: write('patchStatus', {}),
    get: async (...all: unknown[]) => (reads.push(all), script.live),
  } as unknown as Client
  const recorded: string[] = []
  const { logger, lines } = recordingLogger()
  const context = {
    client,
    cache: { get: (...all: unknown[]) => (reads.push(all), script.cached), list: () => [] },
    logger,
    signal: new AbortController().signal,
    reconcileID: 'id',
    clock: new FakeClock(Date.parse('2026-01-01T00:00:10Z') + (script.ageMs ?? 50_000)),
    events: {
      event(about: unknown, type: string, reason: string, message: string) {
        events.push(reason)
        recorded.push(`${about === object ? '' : 'of another object: '}${type} ${reason}: ${message}`)
      },
    },
  } as unknown as ReconcileContext
  const result = await reconcileMyPod(object, context)
  const status = writes.find(([verb]) => verb === 'patchStatus')?.[2] as
    { status: Pick<NonNullable<MyPod['status']>, 'conditions'> } | undefined
  const conditions = status?.status.conditions?.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
  return { verbs: writes.map(([verb]) => verb), writes, reads, events, recorded, lines, conditions, result }
}

function condition(type: string, status: 'True' | 'False') {
  return { type, status, reason: 'Any', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
}

/** Returns the error with which the reconcile fails. */
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

t.test('the status reports a starting Pod only after two seconds, so that one write suffices for most Pods', async (t) => {
  const object = aMyPod()
  const starting = livePodOf(object, { status: { phase: 'Pending' } })
  const unready = { ...object, status: { conditions: [condition('Ready', 'False'), condition('Degraded', 'False')] } }
  for (const waiting of [object, unready]) {
    const created = await reconcile(waiting, { ageMs: 0 })
    t.strictSame([created.verbs, created.result], [['create'], { requeueAfterMs: 2_000 }])
    const later = await reconcile(waiting, { cached: starting, ageMs: 1_400 })
    t.strictSame([later.verbs, later.result], [[], { requeueAfterMs: 600 }])
    const late = await reconcile(waiting, { cached: starting, ageMs: 2_000 })
    t.strictSame([late.verbs, late.result], [['patchStatus'], undefined])
  }
  for (const type of ['Ready', 'Degraded']) {
    const status = { conditions: [condition(type, 'True')] }
    const { verbs } = await reconcile({ ...object, status }, { cached: starting, ageMs: 0 })
    t.strictSame(verbs, ['patchStatus'], `a status that is ${type} is no longer true`)
  }
  t.strictSame(
    (await reconcile(object, { cached: livePodOf(object), ageMs: 0 })).verbs,
    ['patchStatus'],
    'a running Pod is reported at once',
  )
  const ahead = await reconcile(object, { cached: starting, ageMs: -60_000 })
  t.strictSame(ahead.verbs, ['patchStatus'], 'nothing waits for a clock of the API server that is ahead')
})

t.test('in steady state nothing is written', async (t) => {
  const object = aMyPod()
  const cached = livePodOf(object)
  const first = await reconcile(object, { cached })
  t.strictSame(first.verbs, ['patchStatus'])
  const { status } = first.writes[0]![2] as { status: NonNullable<MyPod['status']> }
  t.strictSame((await reconcile({ ...object, status }, { cached })).verbs, [])
})

t.test('a deleted MyPod is ignored', async (t) => {
  t.strictSame((await reconcile(aMyPod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).verbs, [])
})

t.test('a Pod with the same name and another owner is never changed', async (t) => {
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
    t.strictSame(result, { requeueAfterMs: 10_000 })
  }
})

t.test('NotFound on the delete of the Pod or the write of the status is no failure', async (t) => {
  const notFound = apiError(404, 'NotFound')
  const evicted = livePodOf(aMyPod(), { status: { phase: 'Failed', reason: 'Evicted' } })
  const { verbs, events } = await reconcile(aMyPod(), { cached: evicted, refuseLast: notFound })
  t.strictSame(verbs, ['delete', 'patchStatus'])
  t.strictSame(events, ['Recreating'])
  const broken = apiError(500, 'InternalError')
  for (const script of [{ cached: evicted, refuseLast: broken }, { refuseLast: broken }]) t.equal(await failureOf(aMyPod(), script), broken)
})

t.test('a Pod that cannot be deleted is an error of the reconcile', async (t) => {
  const object = aMyPod()
  const cached = livePodOf(object, { status: { phase: 'Failed', reason: 'Evicted' } })
  for (const refuseDelete of [apiError(403, 'Forbidden'), apiError(409, 'Conflict'), apiError(500, 'InternalError')])
    t.equal(await failureOf(object, { cached, refuseDelete }), refuseDelete)
  const { verbs } = await reconcile(object, { cached, refuseDelete: apiError(404, 'NotFound') })
  t.strictSame(verbs, ['delete', 'patchStatus'])
})

t.test('a stale cache creates no second Pod', async (t) => {
  const object = aMyPod()
  const { verbs } = await reconcile(object, { live: livePodOf(object), refuse: apiError(409, 'AlreadyExists') })
  t.strictSame(verbs, ['create', 'patchStatus'])
})

t.test('a Pod that the API server refuses is reported in the status and retried rarely', async (t) => {
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

t.test('other errors are retried by the queue', async (t) => {
  for (const error of [apiError(500, 'InternalError'), apiError(409, 'Conflict'), new Error('not from the API server')])
    t.equal(await failureOf(aMyPod(), { refuse: error }), error)
})

t.test('a change that the running Pod cannot have deletes this Pod, once', async (t) => {
  const before = aMyPod()
  const after = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1', command: ['true'] }] } })
  const { verbs, writes, events } = await reconcile(after, { cached: livePodOf(before) })
  t.strictSame(verbs, ['delete', 'patchStatus'])
  t.match(writes[0]?.[2], { preconditions: { uid: 'pod' } })
  t.strictSame(events, ['Recreating'])
  const ending = livePodOf(before, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
  t.strictSame((await reconcile(after, { cached: ending })).verbs, ['patchStatus'])
})

t.test('an update that the API server refuses recreates the Pod', async (t) => {
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

t.test('creating a Pod is reported by event and condition', async (t) => {
  const object = aMyPod()
  const { writes, reads, recorded, lines, conditions, result } = await reconcile(object)
  t.strictSame(reads, [[podType, key]])
  t.strictSame(writes[0], ['create', podFor(object)])
  t.strictSame(writes[1]![1], key)
  t.strictSame(recorded, ['Normal Created: pod a created'])
  t.strictSame(lines, ['info: created the Pod'])
  t.strictSame(conditions, [fine, starting, 'Ready False PodPending: The Pod is not ready.'])
  t.equal(result, undefined)
  t.match(writes[1]![2], { status: { conditions: [{ lastTransitionTime: '2026-01-01T00:01:00Z' }] } })
})

t.test('the conditions follow the phase of the Pod', async (t) => {
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
    const {
      verbs,
      conditions: found,
      recorded,
      result,
    } = await reconcile(object, { cached: livePodOf(object, { ...(status && { status }) }) })
    t.strictSame([verbs, found, recorded, result], [['patchStatus'], conditions, [], undefined], JSON.stringify(status))
  }
})

t.test('a Pod that its node has terminated is recreated, for each of these reasons', async (t) => {
  const object = aMyPod()
  for (const reason of ['Evicted', 'NodeLost', 'Preempting', 'Preempted', 'NodeShutdown', 'Terminated']) {
    const { writes, recorded, lines, conditions, result } = await reconcile(object, {
      cached: livePodOf(object, { status: { phase: 'Failed', reason } }),
    })
    t.strictSame(writes[0], ['delete', key, { preconditions: { uid: 'pod' } }])
    t.strictSame(recorded, [`Normal Recreating: pod a is created anew: it failed with ${reason}`])
    t.strictSame(lines, ['info: deleted the Pod to create it anew'])
    t.equal(conditions![1], `Progressing True Recreating: The Pod is created anew: it failed with ${reason}.`)
    t.equal(result, undefined)
  }
})

t.test('the reason to recreate a Pod is in the event', async (t) => {
  const cached = livePodOf(aMyPod())
  const other = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1', command: ['true'] }] } })
  t.strictSame((await reconcile(other, { cached })).recorded, [
    'Normal Recreating: pod a is created anew: the Pod spec changed in fields that a running Pod cannot change',
  ])
  const image = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } })
  t.strictSame((await reconcile(image, { cached, refuse: apiError(422, 'Invalid') })).recorded, [
    'Normal Recreating: pod a is created anew: the API server refused to change it in place',
  ])
  const ending = livePodOf(aMyPod(), { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
  const waiting = await reconcile(other, { cached: ending })
  t.strictSame([waiting.recorded, waiting.result], [[], undefined])
  t.equal(waiting.conditions![1], 'Progressing True Recreating: The old Pod is going away.')
})

t.test('a Pod that is updated in place is patched, and its status follows', async (t) => {
  const cached = livePodOf(aMyPod(), { status: { phase: 'Pending' } })
  const { writes, recorded, lines, conditions } = await reconcile(aMyPod({ podLabels: { a: 'b' } }), { cached })
  const [verb, about, patch] = writes[0]!
  t.strictSame([verb, about], ['patch', key])
  t.match(patch, { metadata: { labels: { a: 'b' }, resourceVersion: '5' } })
  t.strictSame([recorded, lines], [[], ['info: updated the Pod in place']])
  t.strictSame(conditions?.slice(0, 2), [fine, starting])
  for (const error of [apiError(409, 'Conflict'), apiError(403, 'Forbidden'), apiError(500, 'InternalError')])
    t.equal(await failureOf(aMyPod({ podLabels: { a: 'b' } }), { cached, refuse: error }), error)
})

t.test('a name conflict and a refused Pod are reported, and retried', async (t) => {
  const foreign = livePodOf(aMyPod({}, { uid: 'other' }))
  const message = 'The Pod a exists and is not owned by this MyPod; it is not changed.'
  const conflict = await reconcile(aMyPod(), { live: foreign, refuse: apiError(409, 'AlreadyExists') })
  t.strictSame(conflict.recorded, [`Warning NameConflict: ${message}`])
  t.strictSame(conflict.conditions, [`Degraded True NameConflict: ${message}`, settled, `Ready False NameConflict: ${message}`])
  t.strictSame(conflict.reads, [
    [podType, key],
    [podType, key],
  ])
  const refused = await reconcile(aMyPod(), { refuse: apiError(403, 'Forbidden', 'exceeded quota') })
  t.strictSame(refused.recorded, ['Warning PodCreateFailed: exceeded quota'])
  t.strictSame(refused.lines, ['warn: the API server refused the Pod: exceeded quota'])
  t.strictSame(refused.conditions, [
    'Degraded True PodCreateFailed: exceeded quota',
    settled,
    'Ready False PodCreateFailed: exceeded quota',
  ])
})

t.test('the Event of a reason is recorded once', async (t) => {
  const conflict = { cached: livePodOf(aMyPod({}, { uid: 'other' })) }
  const refusal = { refuse: apiError(403, 'Forbidden', 'exceeded quota') }
  const taken = 'The Pod a exists and is not owned by this MyPod; it is not changed.'
  for (const [reason, message, script, requeueAfterMs] of [
    ['NameConflict', taken, conflict, 10_000],
    ['PodCreateFailed', 'exceeded quota', refusal, 30_000],
  ] as const) {
    const withStatus = (status: object): MyPod => ({ ...aMyPod(), status: { conditions: [status] } }) as MyPod
    const known = { type: 'Degraded', status: 'True', reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }
    const { events, result } = await reconcile(withStatus(known), script)
    t.strictSame([events, result], [[], { requeueAfterMs }], reason)
    for (const change of [{ status: 'False' }, { message: 'other' }, { reason: 'Other' }])
      t.strictSame((await reconcile(withStatus({ ...known, ...change }), script)).events, [reason], JSON.stringify(change))
  }
})

t.test('a MyPod that is gone when its status is written is no failure', async (t) => {
  const { verbs, writes } = await reconcile(aMyPod(), { refuseLast: apiError(404, 'NotFound') })
  t.strictSame(verbs, ['create', 'patchStatus'])
  t.strictSame(writes[1]![1], key)
})

t.test('the Pod of another owner is a conflict in each of its states, and is never deleted', async (t) => {
  const other = aMyPod({ podLabels: { of: 'another' } }, { uid: 'other' })
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  for (const [what, foreign] of [
    ['without an owner', livePodOf(other, { metadata: { ownerReferences: [] } })],
    ['being deleted', livePodOf(other, { metadata: { deletionTimestamp } })],
    ['evicted', livePodOf(other, { status: { phase: 'Failed', reason: 'Evicted' } })],
    [
      'with another spec',
      livePodOf(aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1', command: ['a'] }] } }, { uid: 'other' })),
    ],
  ] as const) {
    const { verbs, events, writes, conditions, result } = await reconcile(aMyPod(), { cached: foreign })
    t.strictSame([verbs, events, result], [['patchStatus'], ['NameConflict'], { requeueAfterMs: 10_000 }], what)
    t.match(conditions, [/^Degraded True NameConflict/, settled, /^Ready False NameConflict/])
    t.notOk('podPhase' in (writes[0]![2] as { status: object }).status, 'the status of this Pod is not reported')
  }
})

/** Returns the MyPod with the status that the reconcile has written. */
function after(object: MyPod, { writes }: Awaited<ReturnType<typeof reconcile>>): MyPod {
  const [, , patch] = writes.find(([verb]) => verb === 'patchStatus')!
  return { ...object, status: (patch as { status: NonNullable<MyPod['status']> }).status }
}

t.test('a retry that ends as before writes nothing, and a retry that succeeds ends the condition Degraded at once', async (t) => {
  const foreign = livePodOf(aMyPod({}, { uid: 'other' }))
  for (const [script, verbs, result] of [
    [{ refuse: apiError(403, 'Forbidden', 'exceeded quota') }, ['create'], { requeueAfterMs: 30_000 }],
    [{ refuse: apiError(422, 'Invalid', 'bad name') }, ['create'], { requeueAfterMs: 30_000 }],
    [{ cached: foreign }, [], { requeueAfterMs: 10_000 }],
  ] as const) {
    const degraded = after(aMyPod(), await reconcile(aMyPod(), script))
    const again = await reconcile(degraded, script)
    t.strictSame([again.verbs, again.result], [verbs, result])
    const other = await reconcile(degraded, { refuse: apiError(403, 'Forbidden', 'exceeded another quota') })
    t.equal(other.conditions?.[0], 'Degraded True PodCreateFailed: exceeded another quota')
    const created = await reconcile(degraded, { ageMs: 0 })
    t.strictSame(created.verbs, ['create', 'patchStatus'])
    t.strictSame(created.conditions?.slice(0, 2), [fine, starting])
    t.strictSame(created.events, ['Created'])
  }
})

t.test('the status of a Pod that is being deleted has its phase and addresses until it is gone', async (t) => {
  const object = aMyPod()
  const { writes, conditions } = await reconcile(object, {
    cached: livePodOf(object, { metadata: { deletionTimestamp: '2026-01-01T00:00:50Z' } }),
  })
  t.match(writes[0]![2], { status: { podPhase: 'Running', podIp: '10.0.0.1', nodeIp: '1.2.3.4' } })
  t.equal(conditions?.[2], 'Ready False PodTerminating: The Pod is being deleted.')
})

t.test('a Pod that is recreated for its spec is reported by condition, and a failed delete is an error of the reconcile', async (t) => {
  const cached = livePodOf(aMyPod())
  const object = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:1', command: ['true'] }] } })
  const { conditions, result } = await reconcile(object, { cached })
  t.match(conditions?.[1], /^Progressing True Recreating: The Pod is created anew: the Pod spec changed/)
  t.equal(result, undefined)
  const refuseDelete = apiError(500, 'InternalError')
  t.equal(await failureOf(object, { cached, refuseDelete }), refuseDelete)
  const image = aMyPod({ podSpec: { containers: [{ name: 'main', image: 'x:2' }] } })
  t.equal(await failureOf(image, { cached, refuse: apiError(422, 'Invalid'), refuseDelete }), refuseDelete)
})

t.test('after a patch, the status is that of the Pod that the API server returns', async (t) => {
  const cached = livePodOf(aMyPod(), { status: { phase: 'Pending' } })
  const object = aMyPod({ podLabels: { a: 'b' } })
  const { writes, conditions } = await reconcile(object, { cached, live: livePodOf(object) })
  t.match(writes[1]![2], { status: { podPhase: 'Running' } })
  t.strictSame(conditions, [fine, settled, ready])
})
