import t from 'tap'
import type { Pod, Service } from '../../../../src/api/builtin.ts'
import { TriggerTimes } from '../../../../src/devcluster/controllers/endpoints/trigger-times.ts'

const at = (second: number): string => `2026-01-01T00:00:0${second}Z`
const service = { metadata: { name: 'web', namespace: 'a', creationTimestamp: at(0) } } as unknown as Service
const pod = (name: string, second: number): Pod =>
  ({ metadata: { name }, status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at(second) }] } }) as unknown as Pod

t.test('the first change is the creation of the Service, and further ones are the earliest changes of its Pods', async (t) => {
  const times = new TriggerTimes()
  t.equal(times.next(service, [pod('p', 1)]), at(0))
  t.equal(times.next(service, [pod('p', 1)]), undefined)
  t.equal(times.next(service, [pod('p', 4), pod('q', 3)]), at(3))
  t.equal(times.next(service, []), undefined, 'a deleted Pod is no change')
  times.forget('a/web')
  t.equal(times.next(service, []), at(0))
})
