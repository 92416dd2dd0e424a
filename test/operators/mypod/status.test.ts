import t from 'tap'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { statusPatch } from '../../../src/operators/mypod/status.ts'
import { aMyPod, livePodOf } from '../../support/mypod.ts'

const now = Date.parse('2026-01-01T00:01:00Z')

t.test('the status is that of the Pod', async (t) => {
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

t.test('a status that is right is not written again', async (t) => {
  const owner = aMyPod()
  const { status } = statusPatch(owner, livePodOf(owner), {}, now)!
  t.equal(statusPatch({ ...owner, status: status as NonNullable<MyPod['status']> }, livePodOf(owner), {}, now + 60_000), undefined)
})

t.test('without a Pod the fields about it are removed', async (t) => {
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
  t.strictSame(Object.keys(others), ['observedGeneration', 'conditions'], 'what was not there is not removed')
})

t.test('a Pod that is not ready says why', async (t) => {
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

const expected = { status: 'False', reason: 'AsExpected', message: '', observedGeneration: 1, lastTransitionTime: '2026-01-01T00:01:00Z' }

t.test('the whole of it: what is not known is left out, and each condition is told', async (t) => {
  const owner = aMyPod()
  const waiting = livePodOf(owner, { status: {} })
  const ready = { ...expected, type: 'Ready', reason: 'PodPending', message: 'The Pod is not ready.' }
  const creating = { reason: 'Creating', message: 'The Pod is starting.' } as const
  t.strictSame(JSON.parse(JSON.stringify(statusPatch(owner, waiting, { progressing: creating }, now))), {
    status: {
      createdTimestamp: 1767225610,
      observedGeneration: 1,
      conditions: [{ ...expected, type: 'Degraded' }, { ...expected, type: 'Progressing', status: 'True', ...creating }, ready],
    },
  })
  const degraded = { reason: 'NameConflict', message: 'taken' } as const
  t.strictSame(JSON.parse(JSON.stringify(statusPatch(owner, undefined, { degraded }, now))), {
    status: {
      observedGeneration: 1,
      conditions: [
        { ...expected, type: 'Degraded', status: 'True', ...degraded },
        { ...expected, type: 'Progressing' },
        { ...expected, type: 'Ready', ...degraded },
      ],
    },
  })
  t.match(statusPatch(owner, undefined, {}, now)!.status.conditions, [
    {},
    {},
    { type: 'Ready', status: 'False', reason: 'NoPod', message: 'There is no Pod yet.' },
  ])
  t.match(statusPatch(owner, livePodOf(owner), {}, now)!.status.conditions, [{}, {}, { type: 'Ready', status: 'True', message: '' }])
  const silent = livePodOf(owner, { status: { phase: 'Running', conditions: [{ type: 'Other', status: 'True' }, { type: 'Ready', status: 'False' }] } }) // prettier-ignore
  t.match(statusPatch(owner, silent, {}, now)!.status.conditions, [{}, {}, { reason: 'PodRunning', message: 'The Pod is not ready.' }])
})

t.test('each difference is written: another generation, another address, and when it became so', async (t) => {
  const owner = aMyPod()
  const { status } = statusPatch(owner, livePodOf(owner), {}, now)!
  const current = { ...owner, status: status as NonNullable<MyPod['status']> }
  const later = now + 60_000
  const moved = livePodOf(owner)
  moved.status!.hostIP = '5.6.7.8'
  t.match(statusPatch(current, moved, {}, later), { status: { nodeIp: '5.6.7.8', conditions: status.conditions as object[] } })
  const next = { ...current, metadata: { ...current.metadata, generation: 2 } }
  const patched = statusPatch(next, livePodOf(owner), {}, later)!.status
  t.equal(patched.observedGeneration, 2)
  t.match(patched.conditions, [
    { observedGeneration: 2, lastTransitionTime: '2026-01-01T00:01:00Z' },
    { observedGeneration: 2, lastTransitionTime: '2026-01-01T00:01:00Z' },
    { observedGeneration: 2, lastTransitionTime: '2026-01-01T00:01:00Z' },
  ])
  const unready = livePodOf(owner, { status: { phase: 'Running', podIP: '10.0.0.1', hostIP: '1.2.3.4' } })
  t.match(statusPatch(current, unready, {}, later)!.status.conditions, [
    { lastTransitionTime: '2026-01-01T00:01:00Z' },
    { lastTransitionTime: '2026-01-01T00:01:00Z' },
    { type: 'Ready', lastTransitionTime: '2026-01-01T00:02:00Z' },
  ])
})
