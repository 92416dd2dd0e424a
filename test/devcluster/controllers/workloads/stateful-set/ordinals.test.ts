import t from 'tap'
import { isInRange, isMember, ordinalOf } from '../../../../../src/devcluster/controllers/workloads/stateful-set/ordinals.ts'
import { podWith, statefulSetWith } from '../../../../support/workloads/objects.ts'

t.test('a Pod belongs to a StatefulSet by its name', (t) => {
  const cases: readonly (readonly [string, number | undefined, boolean])[] = [
    ['web-0', 0, true],
    ['web-12', 12, true],
    ['web-007', 7, true],
    ['web-2147483647', 2_147_483_647, true],
    ['web-2147483648', undefined, true],
    ['web', undefined, false],
    ['web-a', undefined, false],
    ['web-1-2', 2, false],
    ['other-1', 1, false],
    ['web-', undefined, false],
  ]
  for (const [name, ordinal, belongs] of cases) {
    const pod = podWith({ name })
    t.strictSame([ordinalOf(pod), isMember(statefulSetWith({}), pod)], [ordinal, belongs], name)
  }
  t.end()
})

t.test('the ordinals begin with the first one', (t) => {
  const set = statefulSetWith({ replicas: 2, ordinals: { start: 3 } })
  t.strictSame(
    [2, 3, 4, 5].map((ordinal) => isInRange(set, ordinal)),
    [false, true, true, false],
  )
  t.notOk(isInRange(statefulSetWith({ replicas: 0 }), 0))
  t.end()
})
