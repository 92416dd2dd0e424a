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
