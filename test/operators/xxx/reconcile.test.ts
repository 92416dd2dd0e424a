/** Tests of the reconciler of Xxxes when requests fail, or other clients have changed objects. */
import t from 'tap'
import { findCondition } from '../../../src/api/conditions.ts'
import type { XxxOptions } from '../../../src/operators/xxx/options.ts'
import { defaultOptions } from '../../../src/operators/xxx/options.ts'
import { anXxx, cleanUpName } from '../../support/xxx/objects.ts'
import { apiError, buildOf, cleanUpOf, endedJob, podOf, reconcileOnce, statusWith } from '../../support/xxx/steps.ts'

const retry = { requeueAfterMs: 30_000 }
const deleted = (name: string, uid: string): string => `delete ${name} {"propagationPolicy":"Foreground","preconditions":{"uid":"${uid}"}}`
const deletedBuild = deleted('build-helloworld', 'build-uid')
const deletedCleanUp = deleted(cleanUpName, 'clean-up-uid')
const isBeingDeleted = { deletionTimestamp: '2026-01-01T00:09:00Z' }
const hostPath: XxxOptions = { ...defaultOptions, output: { kind: 'hostPath', path: '/opt', namespaces: ['default'] } }

t.test('a build begins with its Job, its event and a status that names the Job', async (t) => {
  const { requests, events, after, ready, cleanUpFailed, result } = await reconcileOnce(anXxx())
  t.strictSame(requests, ['create build-helloworld', 'status'])
  t.strictSame(events, ['Normal JobCreated: Job build-helloworld builds helloworld'])
  t.match(after.status, { phase: 'Building', jobName: 'build-helloworld', observedGeneration: 1 })
  t.equal(ready, 'False JobRunning: Job build-helloworld has not ended yet.')
  t.equal(cleanUpFailed, 'False AsExpected: ')
  t.equal(result, undefined)
})

t.test('the status is about the generation that was reconciled', async (t) => {
  const object = { ...anXxx(), metadata: { ...anXxx().metadata, generation: 7 }, status: statusWith([]) }
  const { after } = await reconcileOnce(object)
  t.equal(after.status?.observedGeneration, 7)
  t.strictSame(
    after.status?.conditions?.map(({ observedGeneration }) => observedGeneration),
    [7, 7],
  )
})

t.test('a Job that the API server refuses is reported once, and tried again after half a minute', async (t) => {
  for (const [code, reason] of [
    [403, 'Forbidden'],
    [422, 'Invalid'],
  ] as const) {
    const create = apiError(code, reason, 'exceeded quota')
    const first = await reconcileOnce(anXxx(), { create })
    t.strictSame(first.events, ['Warning JobRefused: exceeded quota'])
    t.equal(first.ready, 'False JobRefused: exceeded quota')
    t.equal(first.after.status?.phase, 'Failed')
    t.strictSame(first.result, retry)
    const again = await reconcileOnce(first.after, { create })
    t.strictSame(again.requests, ['create build-helloworld'], 'the status already has the reason')
    t.strictSame(again.events, [])
    t.strictSame(again.result, retry)
    const other = await reconcileOnce(first.after, { create: apiError(code, reason, 'exceeded another quota') })
    t.strictSame(other.events, ['Warning JobRefused: exceeded another quota'])
    const accepted = await reconcileOnce(first.after)
    t.equal(accepted.ready, 'False JobRunning: Job build-helloworld has not ended yet.')
  }
})

t.test('a namespace that is being deleted is the reason for the refusal', async (t) => {
  const create = apiError(403, 'Forbidden', 'being terminated', [{ reason: 'NamespaceTerminating' }])
  t.strictSame((await reconcileOnce(anXxx(), { create })).events, ['Warning NamespaceTerminating: being terminated'])
})

t.test('other errors of the API server are errors of the reconcile, and a Job that exists already is not', async (t) => {
  for (const create of [apiError(500, 'InternalError'), apiError(409, 'Conflict'), new Error('connection refused')])
    await t.rejects(reconcileOnce(anXxx(), { create }), create)
  const { requests, events, result } = await reconcileOnce(anXxx(), { create: apiError(409, 'AlreadyExists') })
  t.strictSame([requests, events, result], [['create build-helloworld'], [], undefined], 'the event of this Job is another reconcile')
})

t.test('the Job of another object is a conflict, which is reported once, and checked again after half a minute', async (t) => {
  const foreign = buildOf(anXxx(), {}, { ownerReferences: [], labels: {}, annotations: {} })
  const message = 'The Job build-helloworld belongs to another object; it is not changed.'
  for (const job of [foreign, { ...foreign, metadata: { ...foreign.metadata, ...isBeingDeleted } }]) {
    const { requests, events, ready, after, result } = await reconcileOnce(anXxx(), { cached: [job] })
    t.strictSame(requests, ['status'])
    t.strictSame(events, [`Warning NameConflict: ${message}`])
    t.equal(ready, `False NameConflict: ${message}`)
    t.equal(after.status?.phase, 'Failed')
    t.strictSame(result, retry)
    const again = await reconcileOnce(after, { cached: [job] })
    t.strictSame([again.requests, again.events, again.result], [[], [], retry])
  }
})

t.test('a namespace without the output gets no build', async (t) => {
  const options: XxxOptions = { ...defaultOptions, output: { kind: 'hostPath', path: '/opt', namespaces: ['other'] } }
  const { requests, events, ready, result } = await reconcileOnce(anXxx(), { options, cached: [buildOf(anXxx())] })
  t.strictSame(requests, ['status'])
  t.match(events, [/^Warning OutputNotAllowed: Xxxes of the namespace "default" may not write to the node/])
  t.match(ready, /^False OutputNotAllowed: /)
  t.strictSame(result, retry)
})

t.test('a Job that does not build the current spec is replaced, by uid and after its Pods', async (t) => {
  const object = anXxx()
  for (const outdated of [
    buildOf(anXxx({ buildCommand: 'make' })),
    buildOf(object, {}, { annotations: {} }),
    buildOf(object, {}, { annotations: { ...buildOf(object).metadata.annotations, 'test.inspur.com/binary-name': 'other' } }),
  ]) {
    const { requests, events, ready, result } = await reconcileOnce(object, { cached: [outdated] })
    t.strictSame(requests, ['status', deletedBuild])
    t.strictSame(events, [
      'Normal JobReplaced: Job build-helloworld is replaced by build-helloworld, because it does not build the current spec',
    ])
    t.equal(ready, 'False ReplacingJob: Job build-helloworld is being deleted.')
    t.equal(result, undefined)
  }
})

t.test('a Job under the previous name is replaced, also when it builds the same program', async (t) => {
  const object = anXxx({ jobName: 'renamed' })
  const { requests, events } = await reconcileOnce(object, { cached: [buildOf(object, {}, { name: 'build-helloworld' })] })
  t.strictSame(requests, ['status', deletedBuild])
  t.match(events, [/^Normal JobReplaced: Job build-helloworld is replaced by renamed,/])
})

t.test('a Job that is being deleted is waited for, without a request or an event', async (t) => {
  const cached = [buildOf(anXxx(), endedJob('Complete'), isBeingDeleted)]
  const first = await reconcileOnce(anXxx(), { cached })
  t.strictSame(first.requests, ['status', 'status'], 'the file is written into the status, and then the wait')
  t.strictSame(first.events, [])
  t.equal(first.ready, 'False ReplacingJob: Job build-helloworld is being deleted.')
  t.strictSame((await reconcileOnce(first.after, { cached })).requests, [])
})

t.test('a Job that has gone or was replaced when it is deleted is no failure, and any other error is one', async (t) => {
  const cached = [buildOf(anXxx({ buildCommand: 'make' }))]
  for (const remove of [apiError(404, 'NotFound'), apiError(409, 'Conflict')])
    await t.resolves(reconcileOnce(anXxx(), { cached, remove }), remove.reason)
  for (const remove of [apiError(403, 'Forbidden'), apiError(500, 'InternalError'), new Error('connection refused')])
    await t.rejects(reconcileOnce(anXxx(), { cached, remove }), remove)
})

t.test('the end of a build is an event once', async (t) => {
  for (const [status, phase, ready, events] of [
    [
      endedJob('Complete'),
      'Succeeded',
      'True BuildSucceeded: Job build-helloworld has built helloworld.',
      ['Normal BuildSucceeded: Job build-helloworld has built helloworld.'],
    ],
    [
      endedJob('Failed', 'BackoffLimitExceeded', 'it has reached the limit'),
      'Failed',
      'False BuildFailed: Job build-helloworld has failed: it has reached the limit',
      ['Warning BuildFailed: Job build-helloworld has failed: it has reached the limit'],
    ],
  ] as const) {
    const cached = [buildOf(anXxx(), status)]
    const first = await reconcileOnce(anXxx(), { cached })
    t.strictSame([first.ready, first.events, first.result], [ready, events, undefined])
    t.match(first.after.status, { phase, jobName: 'build-helloworld', binaryNames: ['helloworld'] })
    t.equal(first.after.status?.builtBinaryName, phase === 'Succeeded' ? 'helloworld' : undefined)
    const again = await reconcileOnce(first.after, { cached })
    t.strictSame([again.requests, again.events], [[], []], 'nothing is written at rest')
  }
})

t.test('a condition of a Job that is not True is not its end', async (t) => {
  const conditions = (['Complete', 'Failed'] as const).map((type) => ({ type, status: 'False' as const }))
  const { ready } = await reconcileOnce(anXxx(), { cached: [buildOf(anXxx(), { conditions })] })
  t.equal(ready, 'False JobRunning: Job build-helloworld has not ended yet.')
})

t.test('a file is written into the status as soon as the build may have made it, and not before', async (t) => {
  const build = buildOf(anXxx())
  const namesWith = async (status: object, pod?: object): Promise<readonly string[]> => {
    const job = { ...build, status }
    const { after } = await reconcileOnce(anXxx(), { cached: pod === undefined ? [job] : [job, podOf(job, pod)] })
    return after.status?.binaryNames ?? []
  }
  const state = (state: object): object => ({ phase: 'Pending', containerStatuses: [{ name: 'golang', state }] })
  for (const [status, pod] of [
    [{ succeeded: 1 }],
    [{ failed: 1 }],
    [{}, { phase: 'Running' }],
    [{}, { phase: 'Succeeded' }],
    [{}, { phase: 'Failed' }],
    [{}, state({ running: { startedAt: '2026-01-01T00:00:00Z' } })],
    [{}, state({ terminated: { exitCode: 1 } })],
  ] as const)
    t.strictSame(await namesWith(status, pod), ['helloworld'], JSON.stringify([status, pod]))
  for (const pod of [undefined, {}, { phase: 'Pending' }, state({ waiting: { reason: 'ErrImagePull' } })])
    t.strictSame(await namesWith({ active: 1 }, pod), [], JSON.stringify(pod))
})

t.test('the Pod of a clean-up is no sign that the build has started', async (t) => {
  const pod = podOf(cleanUpOf(anXxx(), ['old']), { phase: 'Running' }, 'a')
  const { after } = await reconcileOnce(anXxx(), { cached: [buildOf(anXxx()), pod] })
  t.strictSame(after.status?.binaryNames ?? [], [])
  t.equal(after.status?.node, undefined)
})

t.test('the node of the latest build is kept while the next one waits for a node, and replaced when it has one', async (t) => {
  const object = { ...anXxx(), status: statusWith(['helloworld'], { node: 'a' }) }
  const build = buildOf(object)
  const nodeWith = async (...pods: ReturnType<typeof podOf>[]): Promise<string | undefined> =>
    (await reconcileOnce(object, { cached: [build, ...pods] })).after.status?.node
  t.equal(await nodeWith(), 'a')
  t.equal(await nodeWith(podOf(build, { phase: 'Pending' }, 'b')), 'a', 'a build that has not started has no file there')
  t.equal(await nodeWith(podOf(build, { phase: 'Running' }, 'b')), 'b')
  const over = { ...build, status: endedJob('Complete') }
  const { after } = await reconcileOnce(object, { cached: [over] })
  t.equal(after.status?.node, 'a', 'the Pod may be gone')
})

t.test('the next build is bound to the node of the files, if the output is a folder of the node', async (t) => {
  const object = { ...anXxx(), status: statusWith(['helloworld'], { node: 'a' }) }
  const affinityOf = async (options: XxxOptions, found = object): Promise<unknown> =>
    (await reconcileOnce(found, { options })).created[0]?.spec?.template.spec?.affinity
  t.match(await affinityOf(hostPath), {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
      },
    },
  })
  t.equal(await affinityOf(hostPath, { ...object, status: statusWith([], { node: 'a' }) }), undefined, 'there are no files')
  t.equal(await affinityOf(defaultOptions), undefined)
  t.equal(await affinityOf({ ...defaultOptions, output: { kind: 'claim', name: 'programs' } }), undefined)
})

t.test('a build waits for a clean-up that has not ended, which is deleted, and for each Pod that may still write', async (t) => {
  const cleanUp = cleanUpOf(anXxx(), ['old'])
  const first = await reconcileOnce(anXxx(), { cached: [cleanUp] })
  t.strictSame(first.requests, [deletedCleanUp, 'status'])
  t.equal(first.ready, `False Waiting: Waits for the end of ${cleanUpName}.`)
  t.equal(first.result, undefined)
  const ending = cleanUpOf(anXxx(), ['old'], {}, isBeingDeleted)
  t.strictSame((await reconcileOnce(first.after, { cached: [ending] })).requests, [], 'it is deleted once')
  const over = cleanUpOf(anXxx(), ['old'], endedJob('Complete'))
  for (const phase of ['Pending', 'Running', undefined]) {
    const { requests, ready } = await reconcileOnce(anXxx(), { cached: [over, podOf(over, phase === undefined ? {} : { phase })] })
    t.strictSame([requests, ready], [['status'], `False Waiting: Waits for the end of ${cleanUpName}-pod.`], phase ?? 'without a phase')
  }
  for (const phase of ['Succeeded', 'Failed'])
    t.strictSame(
      (await reconcileOnce(anXxx(), { cached: [over, podOf(over, { phase })] })).requests,
      ['create build-helloworld', 'status'],
      'a clean-up that has ended is kept: its result can still be seen',
    )
})

t.test('before a build, the files of builds that failed are removed, and the program of the latest good build is kept', async (t) => {
  const object = { ...anXxx(), status: statusWith(['bad', 'good', 'helloworld', 'worse'], { builtBinaryName: 'good' }) }
  const { requests, created, events, ready, result } = await reconcileOnce(object)
  t.strictSame(requests, [`create ${cleanUpName}`, 'status'])
  t.strictSame(created[0]?.spec?.template.spec?.containers[0]?.command, ['rm', '-f', '--', '/opt/bad', '/opt/worse'])
  t.strictSame(events, [`Normal CleanupStarted: Job ${cleanUpName} removes bad, worse`])
  t.equal(ready, 'False CleaningUp: Removes bad, worse.')
  t.equal(result, undefined)
  const over = cleanUpOf(object, ['bad', 'worse'], endedJob('Complete'))
  const done = await reconcileOnce(object, { cached: [over] })
  t.strictSame(done.after.status?.binaryNames, ['good', 'helloworld'])
  t.strictSame(done.events, [`Normal CleanupDone: Job ${cleanUpName} has removed bad, worse`])
  t.strictSame(done.result, { requeue: true }, 'no event would start the build')
})

t.test('after a build, the files of the programs before are removed', async (t) => {
  const object = { ...anXxx(), status: statusWith(['helloworld', 'old'], { builtBinaryName: 'old' }) }
  const build = buildOf(object, endedJob('Complete'))
  const { requests, after, result } = await reconcileOnce(object, { cached: [build] })
  t.strictSame(requests, [`create ${cleanUpName}`, 'status'])
  t.match(after.status, { phase: 'Succeeded', builtBinaryName: 'helloworld', binaryNames: ['helloworld', 'old'] })
  t.equal(result, undefined)
  const over = cleanUpOf(object, ['old'], endedJob('Complete'))
  const done = await reconcileOnce(object, { cached: [build, over] })
  t.match(done.after.status, { phase: 'Succeeded', binaryNames: ['helloworld'] })
  t.strictSame(done.after.status?.binaryNames, ['helloworld'])
})

t.test('a clean-up that cannot be created is reported once, while the program is ready, and tried again', async (t) => {
  const object = { ...anXxx(), status: statusWith(['helloworld', 'old'], { builtBinaryName: 'helloworld' }) }
  const cached = [buildOf(object, endedJob('Complete'))]
  const create = apiError(403, 'Forbidden', 'exceeded quota')
  const first = await reconcileOnce(object, { cached, create })
  t.equal(first.cleanUpFailed, 'True JobRefused: exceeded quota')
  t.match(first.ready, /^True BuildSucceeded/)
  t.ok(first.events.includes('Warning CleanupFailed: exceeded quota'))
  t.strictSame(first.result, retry)
  const again = await reconcileOnce(first.after, { cached, create })
  t.strictSame([again.events, again.result], [[], retry])
  const other = await reconcileOnce(first.after, { cached, create: apiError(403, 'Forbidden', 'exceeded another quota') })
  t.strictSame(other.events, ['Warning CleanupFailed: exceeded another quota'])
  const running = await reconcileOnce(first.after, { cached })
  t.equal(running.cleanUpFailed, 'True JobRefused: exceeded quota', 'the failure is reported until a clean-up succeeds')
  const done = await reconcileOnce(first.after, { cached: [...cached, cleanUpOf(object, ['old'], endedJob('Complete'))] })
  t.equal(done.cleanUpFailed, 'False AsExpected: ')
})

t.test('a failure of a clean-up ends when no file is unwanted any more', async (t) => {
  const object = { ...anXxx(), status: statusWith(['helloworld', 'old'], { builtBinaryName: 'helloworld' }) }
  const create = apiError(403, 'Forbidden', 'exceeded quota')
  const { after } = await reconcileOnce(object, { cached: [buildOf(object, endedJob('Complete'))], create })
  const wanted = { ...after, status: { ...after.status!, binaryNames: ['helloworld'] } }
  const { cleanUpFailed } = await reconcileOnce(wanted, { cached: [buildOf(wanted, endedJob('Complete'))] })
  t.equal(cleanUpFailed, 'False AsExpected: ')
})

t.test('a clean-up that exists already is no event', async (t) => {
  const object = { ...anXxx(), status: statusWith(['helloworld', 'old'], { builtBinaryName: 'old' }) }
  const cached = [buildOf(object, endedJob('Complete'))]
  const { events } = await reconcileOnce(object, { cached, create: apiError(409, 'AlreadyExists') })
  t.notOk(events.some((event) => event.includes('Cleanup')))
})

t.test('only names of files that the schema accepts reach the status and a command', async (t) => {
  const object = { ...anXxx(), status: statusWith(['../etc', 'b', '-rf', 'a', '..'], { builtBinaryName: 'none' }) }
  const { created, after } = await reconcileOnce(object)
  t.strictSame(created[0]?.spec?.template.spec?.containers[0]?.command, ['rm', '-f', '--', '/opt/a', '/opt/b'])
  t.strictSame(after.status?.binaryNames, ['a', 'b'])
  const annotations = { 'test.inspur.com/binary-name': '../etc' }
  const { after: other } = await reconcileOnce(anXxx(), { cached: [buildOf(anXxx(), endedJob('Complete'), { annotations })] })
  t.strictSame(other.status?.binaryNames ?? [], [])
})

t.test('the name of a file that is too long for a file is ignored as a whole, not shortened to another name', async (t) => {
  const annotationsOf = (name: string): object => ({ annotations: { 'test.inspur.com/binary-name': name } })
  const namesWith = async (name: string): Promise<readonly string[]> => {
    const { after } = await reconcileOnce(anXxx(), { cached: [buildOf(anXxx(), endedJob('Complete'), annotationsOf(name))] })
    return after.status?.binaryNames ?? []
  }
  t.strictSame(await namesWith('a'.repeat(255)), ['a'.repeat(255)])
  t.strictSame(await namesWith('a'.repeat(256)), [])
})

t.test('without files, the list of files and the node are not written', async (t) => {
  const { after } = await reconcileOnce(anXxx(), { cached: [buildOf(anXxx())] })
  t.strictSame(Object.keys(after.status ?? {}).sort(), ['conditions', 'jobName', 'observedGeneration', 'phase'])
  t.equal(findCondition(after.status?.conditions, 'Ready')?.lastTransitionTime, '2026-01-01T00:10:00Z')
})
