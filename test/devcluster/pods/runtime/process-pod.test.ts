/** Tests of a Pod whose driver starts no real processes. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { PodSandbox } from '../../../../src/devcluster/pods/driver.ts'
import { ContainerStartError } from '../../../../src/devcluster/pods/driver.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'
import { FakeSources } from '../../../support/pods/fake-sources.ts'
import { eventsOf, podWithoutProcesses, startRun } from '../../../support/pods/pod-without-processes.ts'

t.test('a container that is being started while its Pod is destroyed leaves no files', async (t) => {
  const services = Promise.withResolvers<[]>()
  const isAsked = Promise.withResolvers<void>()
  const objects = new FakeSources()
  objects.services = () => {
    isAsked.resolve()
    return services.promise
  }
  const { pod, stateFolder, destroy } = await podWithoutProcesses(t, {}, { objects })
  const run = startRun(pod)
  await isAsked.promise
  const removed = destroy()
  services.resolve([])
  await removed
  await until('the container has ended', () => Number.isFinite(run.exit.at))
  t.notOk(existsSync(join(stateFolder, 'pods', pod.pod.metadata.uid)))
  t.notOk(existsSync(join(stateFolder, 'logs', pod.pod.metadata.uid)))
})

t.test('the start of a container that is stopped is aborted', async (t) => {
  const isStarting = Promise.withResolvers<void>()
  const start: PodSandbox['start'] = ({ signal }) => {
    isStarting.resolve()
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new ContainerStartError('aborted'))))
  }
  const { pod } = await podWithoutProcesses(t, {}, { start })
  const run = startRun(pod)
  await isStarting.promise
  run.stop(systemClock.now(), 30_000)
  await until('the container has ended', () => Number.isFinite(run.exit.at))
  t.match(run, { exit: { exitCode: 137 }, start: { error: undefined } })
})

t.test('a container whose log cannot be written fails, also while its hook runs', async (t) => {
  const { pod, stateFolder, processes, destroy } = await podWithoutProcesses(t, {
    containers: [{ lifecycle: { postStart: { sleep: { seconds: 1000 } } } }],
  })
  const logs = join(stateFolder, 'logs', pod.pod.metadata.uid)
  mkdirSync(join(stateFolder, 'logs'))
  // Because of this file at the path of the log folder, the folder cannot be created.
  writeFileSync(logs, '')
  const run = startRun(pod)
  await until('the container has failed', () => run.start.error !== undefined)
  t.match(run.start.error, { reason: 'RunContainerError' })
  t.equal(await processes[0]!.process.exited, 137, 'its process does not run on')
  await destroy()
})

t.test('a Pod whose folder cannot be made has an Event, and gets its volumes when the folder can be made', async (t) => {
  const clock = new FakeClock()
  // `pods` is a file, so no folder can be created at its path.
  const stateFolder = t.testdir({ pods: '' })
  const { pod } = await podWithoutProcesses(t, {}, { context: { clock, stateFolder } })
  const events: string[] = []
  await until('the Event', () => events.push(...eventsOf(pod)) > 0)
  t.strictSame(events, [
    `Warning FailedToMakePodDataDirectories: error making pod data directories: EEXIST: file already exists, mkdir '${join(stateFolder, 'pods')}'`,
  ])
  t.equal(pod.readyAt, Number.POSITIVE_INFINITY)
  rmSync(join(stateFolder, 'pods'))
  await clock.advance(500)
  await until('the Pod is ready', () => pod.readyAt === clock.now())
})

t.test('a Pod whose folder cannot be made ends', async (t) => {
  const stateFolder = t.testdir({ pods: '' })
  const { pod, destroy } = await podWithoutProcesses(t, {}, { context: { stateFolder } })
  await until('the Event', () => eventsOf(pod).length > 0)
  await destroy()
  await pod.halt()
  t.ok(Number.isFinite(pod.removedAt))
})

const token = {
  containers: [{ volumeMounts: [{ name: 'kube-api-access-x1y2z', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }] }],
  volumes: [{ name: 'kube-api-access-x1y2z', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
}

t.test('in the mode plain, a container starts without the volume of its token, and an Event of the Pod says so once', async (t) => {
  const { pod, stateFolder, start } = await podWithoutProcesses(t, token, { mode: 'plain' })
  t.strictSame((await start()).options.mounts, [])
  await start()
  t.strictSame(
    eventsOf(pod).filter((text) => text.includes('Token')),
    [
      'Normal ServiceAccountTokenOmitted: The containers have no volume kube-api-access-x1y2z with the token of the ServiceAccount: ' +
        'this machine cannot give them files of their own',
    ],
  )
  t.notOk(existsSync(join(stateFolder, 'pods', pod.pod.metadata.uid, 'volumes')))
})

t.test('in the mode plain, a Pod without the volume of a token has no Event about it', async (t) => {
  const { pod, start } = await podWithoutProcesses(t, {}, { mode: 'plain' })
  await start()
  t.notMatch(eventsOf(pod).join(), 'Token')
})

t.test('a Pod with a limit of CPU or memory has one Event: limits are not enforced', async (t) => {
  const expected = ['Normal LimitsNotEnforced: The limits of CPU and memory are not enforced: the containers are processes of this machine']
  const limited = (limits: object): object => ({ resources: { limits } })
  for (const [spec, events] of [
    [{ containers: [limited({ cpu: '1' })] }, expected],
    [{ initContainers: [{ name: 'init', image: 'x', ...limited({ memory: '1Gi' }) }] }, expected],
    [limited({ memory: '1Gi' }), expected],
    [{ containers: [{ resources: { requests: { cpu: '1' }, limits: { 'ephemeral-storage': '1Gi' } } }] }, []],
    [{}, []],
  ] as const) {
    const { pod, start } = await podWithoutProcesses(t, spec)
    await start()
    await start()
    pod.update(pod.pod)
    t.strictSame(eventsOf(pod), events, JSON.stringify(spec))
  }
})

t.test('a limit that a Pod gets later has the Event, too', async (t) => {
  const { pod, start } = await podWithoutProcesses(t, {})
  await start()
  const [main] = pod.pod.spec!.containers
  pod.update({ ...pod.pod, spec: { ...pod.pod.spec, containers: [{ ...main!, resources: { limits: { cpu: '1' } } }] } })
  t.match(eventsOf(pod), [/LimitsNotEnforced/])
})

t.test('a container that is stopped while its process is being started is killed', async (t) => {
  const mayStart = Promise.withResolvers<void>()
  const { pod, processes } = await podWithoutProcesses(t, {}, { mayStart: mayStart.promise })
  const run = startRun(pod)
  await until('the process is being started', () => processes.length > 0)
  run.stop(systemClock.now(), 30_000)
  mayStart.resolve()
  await until('the container has ended', () => Number.isFinite(run.exit.at))
  t.equal(run.exit.exitCode, 137)
})

t.test('a container has ended when its output is complete', async (t) => {
  const { pod, processes } = await podWithoutProcesses(t, { containers: [{ terminationMessagePolicy: 'FallbackToLogsOnError' }] })
  const run = startRun(pod)
  await until('the process runs', () => Number.isFinite(run.start.endsAt))
  const { exitCode, output, exit } = processes[0]!
  exitCode.resolve(3)
  // The exit code is known several iterations of the event loop before the rest of the output arrives.
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  output.end('last words')
  exit(3)
  await until('the container has ended', () => Number.isFinite(run.exit.at))
  t.match(run.exit, { exitCode: 3, message: 'last words' })
})

t.test('the files of a Pod stay until its sandbox has been removed', async (t) => {
  const mayRemove = Promise.withResolvers<void>()
  const { pod, stateFolder, processes, start, destroy } = await podWithoutProcesses(t, {}, { mayRemove: mayRemove.promise })
  await start()
  const folder = join(stateFolder, 'pods', pod.pod.metadata.uid)
  processes[0]!.exit(0)
  const destroyed = destroy()
  t.ok(existsSync(folder))
  mayRemove.resolve()
  await destroyed
  t.notOk(existsSync(folder))
})
