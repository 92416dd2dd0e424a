import t from 'tap'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { effectiveMergePatch } from '../../../src/api/merge-patch.ts'
import { statusOf } from '../../../src/operators/mypod/status.ts'
import { aMyPod, livePodOf } from '../../support/mypod/objects.ts'

const now = Date.parse('2026-01-01T00:01:00Z')

/** Returns the body of the request that `patchStatusIfChanged` would send. Returns undefined when it would send no request. */
function statusPatch(...[object, ...others]: Parameters<typeof statusOf>): { status: object } | undefined {
  const status = effectiveMergePatch(object.status, statusOf(object, ...others))
  return status && { status }
}

t.test('the status follows the Pod', async (t) => {
  const owner = aMyPod()
  t.match(statusPatch(owner, livePodOf(owner), {}, now), {
    status: {
      podPhase: 'Running',
      podIp: '10.0.0.1',
      nodeIp: '1.2.3.4',
      createdTimestamp: 1767225610,
      observedGeneration: 1,
      conditions: [
        { type: 'Degraded', status: 'False' },
        { type: 'Progressing', status: 'False' },
        { type: 'Ready', status: 'True', reason: 'PodReady', lastTransitionTime: '2026-01-01T00:01:00Z' },
      ],
    },
  })
})

t.test('an unchanged status is not written', async (t) => {
  const owner = aMyPod()
  const { status } = statusPatch(owner, livePodOf(owner), {}, now)!
  t.equal(statusPatch({ ...owner, status: status as NonNullable<MyPod['status']> }, livePodOf(owner), {}, now + 60_000), undefined)
})

t.test('without a Pod its fields are removed', async (t) => {
  const owner = { ...aMyPod(), status: { podPhase: 'Running', podIp: '10.0.0.1' } }
  const patch = statusPatch(owner, undefined, { degraded: { reason: 'PodCreateFailed', message: 'quota' } }, now)
  t.match(patch, {
    status: {
      conditions: [
        { type: 'Degraded', status: 'True', reason: 'PodCreateFailed', message: 'quota' },
        {},
        { type: 'Ready', status: 'False', reason: 'PodCreateFailed' },
      ],
    },
  })
  const { podPhase, podIp, ...others } = JSON.parse(JSON.stringify(patch)).status
  t.strictSame([podPhase, podIp], [null, null])
  t.strictSame(Object.keys(others), ['observedGeneration', 'conditions'], 'absent fields are not removed')
})

t.test('a Pod that is being deleted is not ready, although its containers still run', async (t) => {
  const owner = aMyPod()
  const ending = livePodOf(owner, { metadata: { deletionTimestamp: '2026-01-01T00:00:50Z' } })
  const conditions = [{}, {}, { type: 'Ready', status: 'False', reason: 'PodTerminating', message: 'The Pod is being deleted.' }]
  t.match(statusPatch(owner, ending, {}, now), { status: { conditions } })
})

t.test('a Pod that is not ready has a reason', async (t) => {
  const owner = aMyPod()
  const pending = livePodOf(owner, { status: { phase: 'Pending' } })
  t.match(statusPatch(owner, pending, {}, now), {
    status: { podPhase: 'Pending', conditions: [{}, {}, { type: 'Ready', status: 'False', reason: 'PodPending' }] },
  })
  const unready = livePodOf(owner, {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'main' }] },
  })
  t.match(statusPatch(owner, unready, {}, now), { status: { conditions: [{}, {}, { reason: 'ContainersNotReady', message: 'main' }] } })
})

type Patch = { status: Record<string, unknown> & { conditions: Record<string, string>[] } }
const patchOf = (...all: Parameters<typeof statusPatch>): Patch['status'] => (statusPatch(...all) as unknown as Patch).status

t.test('the complete status of a ready Pod', async (t) => {
  const owner = aMyPod({}, { generation: 7 })
  const condition = { lastTransitionTime: '2026-01-01T00:01:00Z', observedGeneration: 7, message: '' }
  t.strictSame(patchOf(owner, livePodOf(owner), {}, now), {
    podPhase: 'Running',
    podIp: '10.0.0.1',
    nodeIp: '1.2.3.4',
    createdTimestamp: 1767225610,
    observedGeneration: 7,
    conditions: [
      { type: 'Degraded', status: 'False', reason: 'AsExpected', ...condition },
      { type: 'Progressing', status: 'False', reason: 'AsExpected', ...condition },
      { type: 'Ready', status: 'True', reason: 'PodReady', ...condition },
    ],
  })
})

t.test('each difference in the status is written', async (t) => {
  const owner = aMyPod()
  const { conditions, ...right } = patchOf(owner, livePodOf(owner), {}, now)
  const writes = (status: object, pod = livePodOf(owner)): boolean =>
    statusPatch({ ...owner, status: status as NonNullable<MyPod['status']> }, pod, {}, now) !== undefined
  t.equal(writes({ ...right, conditions }), false)
  for (const field of Object.keys(right)) t.equal(writes({ ...right, conditions, [field]: 'other' }), true, field)
  t.equal(writes({ ...right, conditions: conditions.slice(1) }), true)
  t.equal(writes({ ...right, conditions, observedGeneration: 0 }), true)
  t.equal(
    writes({ ...right, conditions }, livePodOf(owner, { metadata: { creationTimestamp: '2026-01-01T00:00:10.900Z' } })),
    false,
    'in whole seconds',
  )
})

t.test('a Pod without an address has none in the status, and a lost address is removed', async (t) => {
  const owner = aMyPod()
  const pod = livePodOf(owner, { status: {} })
  const { podPhase, podIp, nodeIp, createdTimestamp } = patchOf(owner, pod, {}, now)
  t.strictSame([podPhase, podIp, nodeIp, createdTimestamp], [undefined, undefined, undefined, 1767225610])
  const before = { ...owner, status: { podPhase: 'Running', podIp: '10.0.0.1', nodeIp: '1.2.3.4' } }
  const after = patchOf(before, pod, {}, now)
  t.strictSame([after['podPhase'], after['podIp'], after['nodeIp']], [null, null, null])
})

t.test('without a Pod the MyPod is not ready, with the reason', async (t) => {
  const owner = aMyPod()
  const conditionsOf = (...[pod, outcome]: [Parameters<typeof statusPatch>[1], Parameters<typeof statusPatch>[2]]): string[] =>
    patchOf(owner, pod, outcome, now).conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
  const progressing = { reason: 'Creating', message: 'soon' } as const
  t.strictSame(conditionsOf(undefined, { progressing }), [
    'Degraded False AsExpected: ',
    'Progressing True Creating: soon',
    'Ready False NoPod: There is no Pod yet.',
  ])
  t.strictSame(conditionsOf(undefined, { degraded: { reason: 'NameConflict', message: 'taken' } }), [
    'Degraded True NameConflict: taken',
    'Progressing False AsExpected: ',
    'Ready False NameConflict: taken',
  ])
  const conditions = [
    { type: 'Initialized', status: 'True' },
    { type: 'Ready', status: 'False' },
  ]
  t.equal(
    conditionsOf(livePodOf(owner, { status: { phase: 'Failed', conditions } }), {})[2],
    'Ready False PodFailed: The Pod is not ready.',
  )
})

t.test('an unchanged condition keeps its lastTransitionTime', async (t) => {
  const owner = aMyPod()
  const { conditions, ...status } = patchOf(owner, livePodOf(owner), {}, now)
  const later = patchOf(
    { ...owner, status: { ...status, conditions } as never },
    livePodOf(owner, { status: { phase: 'Running' } }),
    {},
    now + 60_000,
  )
  t.strictSame(
    later.conditions.map(({ type, lastTransitionTime }) => `${type} ${lastTransitionTime}`),
    ['Degraded 2026-01-01T00:01:00Z', 'Progressing 2026-01-01T00:01:00Z', 'Ready 2026-01-01T00:02:00Z'],
  )
})
