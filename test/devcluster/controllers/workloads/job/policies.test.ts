import t from 'tap'
import type { Pod } from '../../../../../src/api/builtin.ts'
import {
  failureCounts,
  newlyFailedIndexes,
  podsToReplace,
  replacementDelayMs,
} from '../../../../../src/devcluster/controllers/workloads/job/failed-indexes.ts'
import { IndexSet } from '../../../../../src/devcluster/controllers/workloads/job/index-set.ts'
import { countsOf } from '../../../../../src/devcluster/controllers/workloads/job/counts.ts'
import { earlySuccessOf, failureOf } from '../../../../../src/devcluster/controllers/workloads/job/outcome.ts'
import { countsAsFailure, failJobMessage, failsIndex } from '../../../../../src/devcluster/controllers/workloads/job/pod-failure-policy.ts'
import { satisfiedRule } from '../../../../../src/devcluster/controllers/workloads/job/success-policy.ts'
import { jobWith, podWith } from '../../../../support/workloads/objects.ts'

interface FailedTraits {
  readonly name?: string
  readonly index?: number
  /** The exit codes of the containers `main`, `other`, … in this order. Undefined means that the container is running. */
  readonly exitCodes?: readonly (number | undefined)[]
  readonly initExitCode?: number
  readonly conditions?: readonly object[]
  readonly failures?: string
  readonly ignored?: string
  readonly endedAt?: number
}

function failed({ name = 'a', index, exitCodes = [], ...traits }: FailedTraits): Pod {
  const pod = podWith({ name, phase: 'Failed', ...(index !== undefined && { index }) })
  const finishedAt = new Date((traits.endedAt ?? 0) * 1000).toISOString()
  const status = (container: string, exitCode: number | undefined): object => ({
    name: container,
    state: exitCode === undefined ? { running: {} } : { terminated: { exitCode, finishedAt } },
  })
  const counts = {
    ...(traits.failures !== undefined && { 'batch.kubernetes.io/job-index-failure-count': traits.failures }),
    ...(traits.ignored !== undefined && { 'batch.kubernetes.io/job-index-ignored-failure-count': traits.ignored }),
  }
  return {
    ...pod,
    metadata: { ...pod.metadata, namespace: 'ns', annotations: { ...pod.metadata.annotations, ...counts } },
    status: {
      ...pod.status,
      conditions: traits.conditions ?? [],
      containerStatuses: exitCodes.map((exitCode, position) => status(['main', 'other'][position]!, exitCode)),
      initContainerStatuses: traits.initExitCode === undefined ? [] : [status('init', traits.initExitCode)],
    },
  } as unknown as Pod
}

const withRule = (onExitCodes: object, action = 'FailJob') => jobWith({ podFailurePolicy: { rules: [{ action, onExitCodes }] } })

t.test('exit codes match one container that has failed', async (t) => {
  const fails = (onExitCodes: object, traits: FailedTraits): boolean =>
    failJobMessage(withRule(onExitCodes), [failed(traits)]) !== undefined
  const is = (values: number[], containerName?: string) => ({ operator: 'In', values, ...(containerName && { containerName }) })
  const isNot = (values: number[], containerName?: string) => ({ ...is(values, containerName), operator: 'NotIn' })
  t.ok(fails(is([1, 2]), { exitCodes: [2] }))
  t.notOk(fails(is([1, 2]), { exitCodes: [3] }))
  t.ok(fails(is([2]), { exitCodes: [0, 2] }))
  t.notOk(fails(is([2], 'main'), { exitCodes: [0, 2] }))
  t.ok(fails(is([2], 'other'), { exitCodes: [0, 2] }))
  t.ok(fails(is([5]), { initExitCode: 5 }))
  t.notOk(fails(isNot([5]), { exitCodes: [0, undefined] }), 'neither a success nor a running container matches')
  t.ok(fails(isNot([5]), { exitCodes: [6] }))
  t.notOk(fails(isNot([6]), { exitCodes: [6] }))
  t.notOk(fails({ operator: 'Other', values: [6] }, { exitCodes: [6] }))
})

t.test('the first rule that matches decides', async (t) => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    { action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [1, 2] } },
  ]
  const job = jobWith({ podFailurePolicy: { rules } })
  const decided = (traits: FailedTraits): unknown[] => {
    const pod = failed(traits)
    return [countsAsFailure(job, pod), failsIndex(job, pod), failJobMessage(job, [pod])]
  }
  const condition = (status: string) => [{ type: 'DisruptionTarget', status }]
  t.strictSame(decided({ exitCodes: [2], conditions: condition('True') }), [false, false, undefined])
  t.strictSame(decided({ exitCodes: [1], conditions: condition('False') }), [true, true, undefined])
  const message = 'Container main for pod ns/a failed with exit code 2 matching FailJob rule at index 2'
  t.strictSame(decided({ exitCodes: [2] }), [true, false, message])
  t.strictSame(decided({ exitCodes: [3] }), [true, false, undefined])
  t.strictSame(failJobMessage(jobWith({}), [failed({ exitCodes: [2] })]), undefined)
})

t.test('a rule of a success policy needs all of its indexes, or enough of them', async (t) => {
  const met = (rules: object[], succeeded: number[]): number | undefined =>
    satisfiedRule(jobWith({ completions: 9, successPolicy: { rules } }), IndexSet.of(succeeded))
  const rules = [{ succeededIndexes: '0-2,5' }, { succeededIndexes: '4-8', succeededCount: 2 }, { succeededCount: 6 }]
  t.equal(met(rules, [0, 1, 2]), undefined)
  t.equal(met(rules, [0, 1, 2, 5]), 0)
  t.equal(met(rules, [3, 4, 8]), 1)
  t.equal(met(rules, [0, 1, 2, 3, 4, 9]), 2)
  t.equal(met([{ succeededCount: 0 }], []), undefined, 'one index must have succeeded')
  t.equal(met([{ succeededIndexes: 'x', succeededCount: 0 }], [1]), undefined, 'an invalid list of indexes')
  const job = jobWith({ completionMode: 'Indexed', completions: 9, successPolicy: { rules } }, { completedIndexes: '0-2,5' })
  t.match(earlySuccessOf(job, countsOf(job)), {
    target: 'SuccessCriteriaMet',
    reason: 'SuccessPolicy',
    message: 'Matched rules at index 0',
  })
})

const ignoreFive = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [5] } }] }
const perIndex = (fields: object = {}, status: object = {}) =>
  jobWith({ completionMode: 'Indexed', completions: 4, backoffLimitPerIndex: 1, ...fields }, status)

t.test('an index fails with more failures than its limit', async (t) => {
  const pods = [
    failed({ index: 0, failures: '0' }),
    failed({ index: 1, failures: '1' }),
    failed({ index: 2, failures: '9', exitCodes: [5] }),
    failed({ index: 4, failures: '9' }),
    failed({ failures: '9' }),
    failed({ index: 3, failures: 'many' }),
  ]
  t.strictSame(newlyFailedIndexes(perIndex(), pods), [1, 2])
  t.strictSame(newlyFailedIndexes(perIndex({ podFailurePolicy: ignoreFive }), pods), [1], 'ignored failures do not count')
})

t.test('the last failed Pod of an index is replaced, unless the index is active or has ended', async (t) => {
  const pods = [
    failed({ name: 'a', index: 0, failures: '0', exitCodes: [1], endedAt: 10 }),
    failed({ name: 'b', index: 0, failures: '1', exitCodes: [1], endedAt: 20 }),
    failed({ name: 'c', index: 1, exitCodes: [1] }),
    failed({ name: 'd', index: 2, exitCodes: [1] }),
    failed({ name: 'e', index: 7, exitCodes: [1] }),
  ]
  const current = [...pods, podWith({ name: 'f', index: 2 })]
  const replaced = (job: ReturnType<typeof jobWith>) =>
    [...podsToReplace(job, pods, new Set([1]), current)].map(([index, { metadata }]) => [index, metadata.name])
  t.strictSame(replaced(perIndex()), [[0, 'b']])
  t.strictSame(replaced(jobWith({ completions: 4 })), [], 'without a limit per index')
})

t.test('a Pod has the number of failures before it', async (t) => {
  const [count, ignored] = ['batch.kubernetes.io/job-index-failure-count', 'batch.kubernetes.io/job-index-ignored-failure-count']
  const job = perIndex({ podFailurePolicy: ignoreFive })
  t.strictSame(failureCounts(jobWith({}), undefined), {})
  t.strictSame(failureCounts(job, undefined), { [count]: '0' })
  t.strictSame(failureCounts(job, failed({ failures: '2', exitCodes: [1] })), { [count]: '3' })
  t.strictSame(failureCounts(job, failed({ failures: '2', exitCodes: [5] })), { [count]: '2', [ignored]: '1' })
  t.strictSame(failureCounts(job, failed({ failures: '2', ignored: '4', exitCodes: [1] })), { [count]: '3', [ignored]: '4' })
  t.strictSame(failureCounts(job, failed({ failures: '99999999999', exitCodes: [1] })), { [count]: '1' }, 'a number that is no int32')
})

t.test('all failures of an index delay its next Pod', async (t) => {
  const delay = (traits: FailedTraits): number => replacementDelayMs(failed({ exitCodes: [1], endedAt: 100, ...traits }), 105_000)
  t.equal(replacementDelayMs(undefined, 0), 0)
  t.equal(delay({}), 5000)
  t.equal(delay({ failures: '1', ignored: '1' }), 35_000)
})

t.test('failed indexes fail the Job when there are too many, or no other index is left', async (t) => {
  const reason = (fields: object, status: object): string | undefined => {
    const job = perIndex({ backoffLimit: 2 ** 31 - 1, ...fields }, status)
    return failureOf(job, [], 0, countsOf(job), 0)?.reason
  }
  t.equal(reason({}, { failedIndexes: '0-2' }), undefined)
  t.equal(reason({}, { failedIndexes: '0-2', completedIndexes: '3' }), 'FailedIndexes')
  t.equal(reason({}, { failedIndexes: '', completedIndexes: '0-3' }), undefined)
  t.equal(reason({ maxFailedIndexes: 1 }, { failedIndexes: '1' }), undefined)
  t.equal(reason({ maxFailedIndexes: 1 }, { failedIndexes: '1,3' }), 'MaxFailedIndexesExceeded')
  t.equal(reason({ maxFailedIndexes: 0 }, { failedIndexes: '1' }), 'MaxFailedIndexesExceeded')
})
