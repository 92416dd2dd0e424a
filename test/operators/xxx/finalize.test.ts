/**
 * Tests of the deletion of Xxxes: the order of the steps, requests that fail, and the annotation with which a user skips a failed clean-up.
 */
import t from 'tap'
import type { Xxx } from '../../../src/operators/xxx/kind.ts'
import type { XxxOptions } from '../../../src/operators/xxx/options.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { anXxx, cleanUpName } from '../../support/xxx/objects.ts'
import { apiError, buildOf, cleanUpOf, endedJob, finalizeOnce, podOf, statusWith } from '../../support/xxx/steps.ts'

const wait = { requeueAfterMs: 30_000 }
const deleted = (name: string, uid: string): string => `delete ${name} {"propagationPolicy":"Foreground","preconditions":{"uid":"${uid}"}}`
const deletedCleanUp = deleted(cleanUpName, 'clean-up-uid')
const isBeingDeleted = { deletionTimestamp: '2026-01-01T00:09:00Z' }
const force = (value: string): object => ({ annotations: { 'test.inspur.com/force-delete': value } })

/** Returns an Xxx that is being deleted. Its status lists the files that the finalizer must remove: `names`. */
function leaving(names: readonly string[] = ['helloworld'], metadata: object = {}, spec: Partial<Xxx['spec']> = {}): Xxx {
  const object = anXxx(spec)
  return { ...object, metadata: { ...object.metadata, ...isBeingDeleted, ...metadata }, status: statusWith(names) } as Xxx
}

t.test('an Xxx without files goes at once', async (t) => {
  const { requests, events, result } = await finalizeOnce(leaving([]))
  t.strictSame([requests, events, result], [[], [], undefined])
})

t.test('the build is stopped first, and the files that it may have written are known before', async (t) => {
  const object = leaving([])
  const build = buildOf(object, endedJob('Complete'))
  const { requests, ready, after, result } = await finalizeOnce(object, { cached: [build] })
  t.strictSame(requests, ['status', deleted('build-helloworld', 'build-uid'), 'status'])
  t.equal(ready, 'False StoppingBuild: The build is being stopped.')
  t.match(after.status, { phase: 'Deleting', binaryNames: ['helloworld'] })
  t.strictSame(result, wait)
})

t.test('the clean-up waits for a Job that is being deleted and for a Pod that outlives its Job', async (t) => {
  const object = leaving()
  const build = buildOf(object, {}, isBeingDeleted)
  for (const cached of [[build], [podOf(build, { phase: 'Running' })], [podOf(build, { phase: 'Pending' })]]) {
    const { requests, ready, result } = await finalizeOnce(object, { cached })
    t.strictSame(requests, ['status'])
    t.equal(ready, 'False StoppingBuild: The build is being stopped.')
    t.strictSame(result, wait)
  }
  const { requests } = await finalizeOnce(object, { cached: [podOf(build, { phase: 'Succeeded' })] })
  t.strictSame(requests, [`create ${cleanUpName}`, 'status'])
})

t.test('the clean-up removes all files that may exist, once', async (t) => {
  const object = leaving(['a', 'helloworld'])
  const first = await finalizeOnce(object)
  t.strictSame(first.requests, [`create ${cleanUpName}`, 'status'])
  t.strictSame(first.created[0]?.spec?.template.spec?.containers[0]?.command, ['rm', '-f', '--', '/opt/a', '/opt/helloworld'])
  t.equal(first.created[0]?.metadata.ownerReferences, undefined, 'it outlives the Xxx')
  t.strictSame(first.events, [`Normal CleanupStarted: Job ${cleanUpName} removes a, helloworld`])
  t.equal(first.ready, 'False CleaningUp: Removes a, helloworld.')
  t.strictSame(first.result, wait)
  const running = cleanUpOf(object, ['a', 'helloworld'], { active: 1 })
  const second = await finalizeOnce(first.after, { cached: [running, podOf(running, { phase: 'Running' })] })
  t.strictSame([second.requests, second.events, second.result], [[], [], wait])
  const done = await finalizeOnce(first.after, { cached: [cleanUpOf(object, ['a', 'helloworld'], endedJob('Complete'))] })
  t.strictSame(done.requests, ['status'])
  t.strictSame(done.after.status?.binaryNames, [])
  t.strictSame(done.events, [`Normal CleanupDone: Job ${cleanUpName} has removed a, helloworld`])
  t.equal(done.result, undefined, 'the finalizer is removed')
})

t.test('the clean-up of another occasion is deleted, and no clean-up starts before it is gone', async (t) => {
  const object = leaving(['a', 'b'])
  for (const [what, live] of [
    ['other files', cleanUpOf(object, ['a'], endedJob('Complete'))],
    ['another generation', cleanUpOf({ ...object, metadata: { ...object.metadata, generation: 2 } }, ['a', 'b'], endedJob('Complete'))],
    ['an Xxx that is gone', cleanUpOf({ ...object, metadata: { ...object.metadata, uid: 'gone' } }, ['a', 'b'], endedJob('Complete'))],
  ] as const) {
    const { requests, events, result } = await finalizeOnce(object, { cached: [live] })
    t.strictSame(requests, [deletedCleanUp, 'status'], what)
    t.strictSame(events, [])
    t.strictSame(result, wait)
    const ending = { ...live, metadata: { ...live.metadata, ...isBeingDeleted } }
    t.strictSame((await finalizeOnce(object, { cached: [ending] })).requests, ['status'], `${what}, which is being deleted`)
  }
})

t.test('a clean-up that is being deleted is no result', async (t) => {
  const object = leaving()
  const { requests, result } = await finalizeOnce(object, {
    cached: [cleanUpOf(object, ['helloworld'], endedJob('Complete'), isBeingDeleted)],
  })
  t.strictSame([requests, result], [['status'], wait])
})

t.test('a clean-up on another node is another occasion, if the output is a folder of the node', async (t) => {
  const options: XxxOptions = { ...defaultOptions, output: { kind: 'hostPath', path: '/opt', namespaces: ['default'] } }
  const object = leaving()
  const elsewhere = { ...object, status: { ...object.status!, node: 'a' } }
  const { created } = await finalizeOnce(elsewhere, { options })
  const live = cleanUpOf(object, ['helloworld'], endedJob('Complete'), created[0]!.metadata as object)
  t.equal((await finalizeOnce(elsewhere, { options, cached: [live] })).result, undefined)
  const moved = { ...object, status: { ...object.status!, node: 'b' } }
  t.match((await finalizeOnce(moved, { options, cached: [live] })).requests, [/^delete build-helloworld-delete/])
  t.match((await finalizeOnce(moved, { options })).created[0]?.spec?.template.spec?.affinity, {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }],
      },
    },
  })
})

t.test('the clean-up under a previous name is deleted, and waited for with its Pods', async (t) => {
  const object = leaving(['helloworld'], {}, { jobName: 'renamed' })
  const before = cleanUpOf(anXxx(), ['helloworld'], { active: 1 })
  const first = await finalizeOnce(object, { cached: [before] })
  t.strictSame(first.requests, [deletedCleanUp, 'status'])
  t.strictSame(first.result, wait)
  const pod = podOf(before, { phase: 'Running' })
  t.strictSame((await finalizeOnce(object, { cached: [pod] })).requests, ['status'], 'its Pod still runs')
  t.strictSame((await finalizeOnce(object)).requests, ['create renamed-delete', 'status'])
})

t.test('the Job of another object under the name of the clean-up is a conflict, and not changed', async (t) => {
  const object = leaving()
  const other = { ...anXxx(), metadata: { ...anXxx().metadata, name: 'other', uid: 'other-uid' } }
  const own = cleanUpOf(object, ['helloworld'], endedJob('Complete'))
  const labelled = (labels: Record<string, string>): typeof own => ({ ...own, metadata: { ...own.metadata, labels } })
  const message = `The Job ${cleanUpName} belongs to another object; it is not changed.`
  for (const [what, cached] of [
    ['a Job without labels', [labelled({})]],
    ['a build', [labelled({ ...own.metadata.labels, 'test.inspur.com/task': 'build' })]],
    ['the clean-up of another Xxx', [labelled({ ...own.metadata.labels, 'test.inspur.com/xxx-uid': 'other-uid' }), other]],
  ] as const) {
    const { requests, events, cleanUpFailed, after, result } = await finalizeOnce(object, { cached })
    t.strictSame(requests, ['status'], what)
    t.strictSame(events, [`Warning CleanupFailed: ${message}`])
    t.equal(cleanUpFailed, `True NameConflict: ${message}`)
    t.equal(after.status?.phase, 'Deleting')
    t.strictSame(result, wait)
    t.strictSame((await finalizeOnce(after, { cached })).events, [], 'the status already has the reason')
  }
})

t.test('a clean-up that has failed is reported with the reason of its Job, once, and waited for', async (t) => {
  const object = leaving()
  for (const [status, failure] of [
    [
      endedJob('Failed', 'DeadlineExceeded', 'it was active too long'),
      `DeadlineExceeded: Job ${cleanUpName} has not removed helloworld: it was active too long`,
    ],
    [endedJob('Failed'), `JobFailed: Job ${cleanUpName} has not removed helloworld: `],
  ] as const) {
    const cached = [cleanUpOf(object, ['helloworld'], status)]
    const first = await finalizeOnce(object, { cached })
    t.equal(first.cleanUpFailed, `True ${failure}`)
    t.match(first.ready, /^False CleanupFailed: Job build-helloworld-delete has not removed helloworld: /)
    t.equal(first.events.length, 1)
    t.match(first.events[0], /^Warning CleanupFailed: /)
    t.strictSame(first.after.status?.binaryNames, ['helloworld'])
    t.strictSame(first.result, wait)
    const again = await finalizeOnce(first.after, { cached })
    t.strictSame([again.requests, again.events, again.result], [[], [], wait])
  }
})

t.test('a clean-up that succeeds after a failure ends the failure', async (t) => {
  const object = leaving()
  const { after } = await finalizeOnce(object, { cached: [cleanUpOf(object, ['helloworld'], endedJob('Failed'))] })
  const done = await finalizeOnce(after, { cached: [cleanUpOf(object, ['helloworld'], endedJob('Complete'))] })
  t.equal(done.cleanUpFailed, 'False AsExpected: ')
  t.equal(done.ready, 'False CleanedUp: ')
  t.equal(done.result, undefined)
})

t.test('the clean-up Job that the API server refuses is reported once, and tried again after half a minute', async (t) => {
  for (const create of [apiError(403, 'Forbidden', 'exceeded quota'), apiError(422, 'Invalid', 'exceeded quota')]) {
    const first = await finalizeOnce(leaving(), { create })
    t.strictSame(first.events, ['Warning CleanupFailed: exceeded quota'])
    t.equal(first.cleanUpFailed, 'True JobRefused: exceeded quota')
    t.strictSame(first.result, wait)
    const again = await finalizeOnce(first.after, { create })
    t.strictSame([again.requests, again.events, again.result], [[`create ${cleanUpName}`], [], wait])
  }
  const broken = apiError(500, 'InternalError')
  await t.rejects(finalizeOnce(leaving(), { create: broken }), broken)
})

t.test('in a namespace that is being deleted, the Xxx goes without a clean-up', async (t) => {
  const create = apiError(403, 'Forbidden', 'being terminated', [{ reason: 'NamespaceTerminating' }])
  const { events, result } = await finalizeOnce(leaving(['a', 'b']), { create })
  t.strictSame(events, ['Warning CleanupFailed: being terminated', 'Warning CleanupSkipped: a, b may still exist: being terminated'])
  t.equal(result, undefined)
})

t.test('the force annotation that is set before the deletion does not skip a clean-up that is possible', async (t) => {
  const object = leaving(['helloworld'], force('true'))
  const first = await finalizeOnce(object)
  t.strictSame(first.requests, [`create ${cleanUpName}`, 'status'])
  t.strictSame(first.result, wait)
  const done = await finalizeOnce(first.after, { cached: [cleanUpOf(object, ['helloworld'], endedJob('Complete'))] })
  t.strictSame(done.after.status?.binaryNames, [])
  t.equal(done.result, undefined)
})

t.test('the force annotation that is set before the deletion releases the Xxx at the first failure', async (t) => {
  const object = leaving(['helloworld'], force('true'))
  const quota = await finalizeOnce(object, { create: apiError(403, 'Forbidden', 'exceeded quota') })
  t.strictSame(quota.events, [
    'Warning CleanupFailed: exceeded quota',
    'Warning CleanupSkipped: helloworld may still exist: exceeded quota',
  ])
  t.equal(quota.result, undefined)
  const failed = await finalizeOnce(object, { cached: [cleanUpOf(object, ['helloworld'], endedJob('Failed', 'DeadlineExceeded', 'late'))] })
  t.match(failed.events, [/^Warning CleanupFailed/, /^Warning CleanupSkipped: helloworld may still exist: .*late$/])
  t.equal(failed.result, undefined)
})

t.test('the force annotation that is set after a failure releases the Xxx without another clean-up', async (t) => {
  const object = leaving()
  const { after } = await finalizeOnce(object, { create: apiError(403, 'Forbidden', 'exceeded quota') })
  const forced = (value: string): Xxx => ({ ...after, metadata: { ...after.metadata, ...force(value) } })
  const { requests, events, result } = await finalizeOnce(forced('true'))
  t.strictSame(requests, [])
  t.strictSame(events, ['Warning CleanupSkipped: helloworld may still exist: exceeded quota'])
  t.equal(result, undefined)
  for (const value of ['', 'false', 'True']) t.strictSame((await finalizeOnce(forced(value))).result, wait, `the value "${value}"`)
})

t.test('the force annotation does not skip the stop of the build', async (t) => {
  const object = leaving(['helloworld'], force('true'))
  const { after } = await finalizeOnce(leaving(), { create: apiError(403, 'Forbidden', 'exceeded quota') })
  const { requests, result } = await finalizeOnce({ ...object, status: after.status! }, { cached: [buildOf(object)] })
  t.ok(requests.includes(deleted('build-helloworld', 'build-uid')))
  t.strictSame(result, wait)
})

t.test('a namespace that has lost the output gets no clean-up', async (t) => {
  const options: XxxOptions = { ...defaultOptions, output: { kind: 'hostPath', path: '/opt', namespaces: ['other'] } }
  const { requests, cleanUpFailed, result } = await finalizeOnce(leaving(), { options })
  t.strictSame(requests, ['status'])
  t.match(cleanUpFailed, /^True OutputNotAllowed: /)
  t.strictSame(result, wait)
})

t.test('a Job that cannot be deleted is an error of the deletion', async (t) => {
  const object = leaving()
  const remove = apiError(500, 'InternalError')
  await t.rejects(finalizeOnce(object, { cached: [buildOf(object)], remove }), remove)
  await t.rejects(finalizeOnce(object, { cached: [cleanUpOf(object, ['other'])], remove }), remove)
  const renamed = leaving(['helloworld'], {}, { jobName: 'renamed' })
  await t.rejects(finalizeOnce(renamed, { cached: [cleanUpOf(anXxx(), ['helloworld'])], remove }), remove)
})
