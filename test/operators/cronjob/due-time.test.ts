/** Tests of the decision whether a Job of a CronJob is due. The tests use boundary values, e.g. the last millisecond before a deadline. */
import t from 'tap'
import { dueTime } from '../../../src/operators/cronjob/due-time.ts'
import { parseSchedule } from '../../../src/operators/cronjob/schedule.ts'
import { minute } from '../../support/cronjob/objects.ts'

const parsed = parseSchedule('* * * * *')
if (!('next' in parsed)) throw new Error('the schedule is refused')
const schedule = parsed
const time = Date.parse('2026-01-01T12:00:00Z')

interface Case {
  readonly since?: number
  readonly now?: number
  readonly isActive?: boolean
  readonly startingDeadlineSeconds?: number
  readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace'
}
function due({ since = time - minute, now = time, isActive = false, concurrencyPolicy = 'Allow', ...deadline }: Case = {}) {
  return dueTime({ concurrencyPolicy, ...deadline } as never, { schedule, since, now, isActive })
}

t.test('a time is due from its own millisecond on, until a Job of it exists', async (t) => {
  t.match(due(), { time, action: 'run', deadline: Infinity })
  t.equal(due({ now: time - 1 }), undefined)
  t.match(due({ now: time + minute - 1 }), { time })
  t.match(due({ now: time + minute }), { time: time + minute }, 'the earlier one is skipped')
  t.equal(due({ since: time }), undefined)
  t.match(due({ since: time - 1 }), { time })
})

t.test('a time is late when its deadline has passed, and not before', async (t) => {
  const startingDeadlineSeconds = 10
  t.match(due({ startingDeadlineSeconds, now: time + 9999 }), { action: 'run', deadline: time + 10_000 })
  t.match(due({ startingDeadlineSeconds, now: time + 10_000 }), { action: 'late', deadline: time + 10_000 })
  t.match(due({ startingDeadlineSeconds: 0 }), { action: 'late' })
})

t.test('a time waits only with Forbid, and only for an active Job', async (t) => {
  for (const concurrencyPolicy of ['Allow', 'Forbid', 'Replace'] as const)
    for (const isActive of [true, false])
      t.equal(due({ concurrencyPolicy, isActive })?.action, concurrencyPolicy === 'Forbid' && isActive ? 'wait' : 'run')
  const late = { concurrencyPolicy: 'Forbid', isActive: true, startingDeadlineSeconds: 10, now: time + 10_000 } as const
  t.equal(due(late)?.action, 'late', 'a deadline counts while it waits')
})

t.test('more than a hundred missed times within the deadline are many', async (t) => {
  t.equal(due({ since: time - 100 * minute })?.isManyMissed, false)
  t.equal(due({ since: time - 101 * minute })?.isManyMissed, true)
  let calls = 0
  const next = (after: number): number => {
    if (++calls > 102) throw new Error('the times of many years are counted')
    return schedule.next(after)
  }
  const counted = { ...schedule, next }
  const afterYears = dueTime({ concurrencyPolicy: 'Allow' } as never, { schedule: counted, since: 0, now: time, isActive: false })
  t.equal(afterYears?.isManyMissed, true)
  const since = time - 1000 * minute
  t.equal(due({ since, startingDeadlineSeconds: 100 * 60 })?.isManyMissed, false)
  t.equal(due({ since, startingDeadlineSeconds: 101 * 60 })?.isManyMissed, true)
})
