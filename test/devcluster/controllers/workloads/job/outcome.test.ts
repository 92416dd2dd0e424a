import t from 'tap'
import { countsOf } from '../../../../../src/devcluster/controllers/workloads/job/counts.ts'
import {
  deadlineInMs,
  earlierOutcome,
  failureOf,
  isFinished,
  successOf,
} from '../../../../../src/devcluster/controllers/workloads/job/outcome.ts'
import { jobWith, podWith } from '../../../../support/workloads/objects.ts'

t.test('a Job fails with more failed Pods than its back-off limit', async (t) => {
  const reason = (failed: number): string | undefined =>
    failureOf(jobWith({ backoffLimit: 2 }), [], failed, countsOf(jobWith({})), 0)?.reason
  t.strictSame([reason(2), reason(3)], [undefined, 'BackoffLimitExceeded'])
})

t.test('restarts count when the containers are restarted', async (t) => {
  const reason = (backoffLimit: number, restarts: number, restartPolicy = 'OnFailure', phase = 'Running'): string | undefined => {
    const job = jobWith({ backoffLimit, template: { spec: { restartPolicy } } })
    const pods = [podWith({ name: 'a', restarts, phase }), podWith({ name: 'b', restarts: 1 })]
    return failureOf(job, pods, 0, countsOf(job), 0)?.reason
  }
  t.equal(reason(4, 2), undefined)
  t.equal(reason(4, 3), 'BackoffLimitExceeded')
  t.equal(reason(4, 3, 'Never'), undefined)
  t.equal(reason(4, 3, 'OnFailure', 'Succeeded'), undefined)
  t.equal(reason(0, 0), 'BackoffLimitExceeded')
})

t.test('the deadline runs from the start, but not while the Job is suspended', async (t) => {
  const status = { startTime: new Date(10_000).toISOString() }
  t.equal(deadlineInMs(jobWith({ activeDeadlineSeconds: 5 }, status), 12_000), 3000)
  t.equal(failureOf(jobWith({ activeDeadlineSeconds: 5 }, status), [], 0, countsOf(jobWith({})), 14_999), undefined)
  t.equal(failureOf(jobWith({ activeDeadlineSeconds: 5 }, status), [], 0, countsOf(jobWith({})), 15_000)?.reason, 'DeadlineExceeded')
  t.equal(deadlineInMs(jobWith({ activeDeadlineSeconds: 5, suspend: true }, status), 90_000), undefined)
  t.equal(deadlineInMs(jobWith({ activeDeadlineSeconds: 5 }), 90_000), undefined)
  t.equal(deadlineInMs(jobWith({}, status), 90_000), undefined)
})

t.test('a Job succeeds with enough successes, when no Pod runs any more', async (t) => {
  const is = (completions: number | undefined, succeeded: number, active: number): boolean =>
    successOf(jobWith({ completions }), succeeded, active) !== undefined
  t.strictSame([is(2, 1, 0), is(2, 2, 1), is(2, 2, 0), is(2, 3, 0), is(0, 0, 0)], [false, false, true, true, true])
  t.strictSame([is(undefined, 0, 0), is(undefined, 1, 1), is(undefined, 1, 0)], [false, false, true])
})

t.test('an outcome that has been decided stands', async (t) => {
  const withCondition = (type: string, status = 'True') => jobWith({}, { conditions: [{ type, status, reason: 'R', message: 'M' }] })
  for (const target of ['FailureTarget', 'SuccessCriteriaMet'])
    t.strictSame(earlierOutcome(withCondition(target)), { target, reason: 'R', message: 'M' })
  t.equal(earlierOutcome(withCondition('FailureTarget', 'False')), undefined)
  t.strictSame([isFinished(withCondition('Complete')), isFinished(withCondition('Failed'))], [true, true])
  t.strictSame([isFinished(withCondition('Complete', 'False')), isFinished(withCondition('Suspended'))], [false, false])
})
