import t from 'tap'
import type { Pod } from '../../../../../src/api/builtin.ts'
import { ReplacementDelays } from '../../../../../src/devcluster/controllers/workloads/job/replacement-delays.ts'

/** Returns a Pod whose container ended at this second. */
function endedAt(second: number): Pod {
  const state = { terminated: { exitCode: 1, finishedAt: new Date(second * 1000).toISOString() } }
  return { metadata: { name: 'a' }, status: { containerStatuses: [{ name: 'main', state }] } } as unknown as Pod
}

const remaining = (delays: ReplacementDelays, second: number): number => delays.remainingMs('a/b', second * 1000) / 1000

t.test('the delay doubles with each failure, up to ten minutes', async (t) => {
  const delays = new ReplacementDelays()
  t.equal(remaining(delays, 100), 0)
  delays.record('a/b', [], [endedAt(100)])
  t.equal(remaining(delays, 100), 10)
  t.equal(remaining(delays, 104), 6)
  t.equal(remaining(delays, 111), 0)
  delays.record('a/b', [], [endedAt(200), endedAt(205)])
  t.equal(remaining(delays, 205), 40)
  for (let second = 300; second < 310; second += 1) delays.record('a/b', [], [endedAt(second)])
  t.equal(remaining(delays, 309), 600)
})

t.test('a success ends the delay, unless a Pod failed after it', async (t) => {
  const delays = new ReplacementDelays()
  delays.record('a/b', [], [endedAt(100), endedAt(101)])
  delays.record('a/b', [endedAt(110)], [endedAt(105)])
  t.equal(remaining(delays, 111), 0)
  delays.record('a/b', [endedAt(120)], [endedAt(121)])
  t.equal(remaining(delays, 121), 10)
  delays.forget('a/b')
  t.equal(remaining(delays, 121), 0)
})

/** Returns the number of seconds until a failed Pod may be replaced. The current time is 100 s after 1970-01-01T00:00:00Z. */
function remainingAfter(pod: object): number {
  const delays = new ReplacementDelays()
  delays.record('a/b', [], [pod as unknown as Pod])
  return remaining(delays, 100)
}

const at = (second: number): string => new Date(second * 1000).toISOString()
const ended = (second: number): object => ({ state: { terminated: { exitCode: 1, finishedAt: at(second) } } })
const running = { state: { running: {} } }

t.test('without times of its containers, a Pod ended when it became unready, was deleted or was created', async (t) => {
  const metadata = { creationTimestamp: at(95) }
  t.equal(remainingAfter({ metadata, status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(99) }] } }), 9)
  t.equal(remainingAfter({ metadata: { ...metadata, deletionTimestamp: at(127), deletionGracePeriodSeconds: 30 } }), 7)
  t.equal(remainingAfter({ metadata }), 5)
})

t.test('the times of containers count only if all containers have ended', async (t) => {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: at(99) }]
  const podOf = (...containerStatuses: readonly object[]): object => ({ metadata: {}, status: { conditions, containerStatuses } })
  t.equal(remainingAfter(podOf(ended(92), ended(96), ended(94))), 6)
  t.equal(remainingAfter(podOf(ended(92), running)), 9)
  t.equal(remainingAfter(podOf(running, ended(92))), 9)
  t.equal(remainingAfter(podOf(ended(92), { state: { terminated: { exitCode: 1 } } })), 9)
})

t.test('a Pod with sidecars ended with its last sidecar', async (t) => {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: at(99) }]
  const initContainers = [{ name: 'first' }, { name: 'side', restartPolicy: 'Always' }]
  const podOf = (containerStatuses: readonly object[], first: object, side: object): object => ({
    metadata: {},
    spec: { initContainers },
    status: { conditions, containerStatuses, initContainerStatuses: [{ name: 'first', ...first }, { name: 'side', ...side }] }, // prettier-ignore
  })
  t.equal(remainingAfter(podOf([ended(92)], ended(98), ended(95))), 5, 'an ordinary init container does not count')
  t.equal(remainingAfter(podOf([ended(92)], ended(91), running)), 9)
  t.equal(remainingAfter(podOf([ended(97)], running, ended(93))), 7)
})
