/** Tests of exec, attach, logs and forwarded ports of a Pod whose driver starts no real processes. */
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { ContainerProcess } from '../../../../src/devcluster/pods/driver.ts'
import { ContainerLogs } from '../../../../src/devcluster/pods/logs/container-logs.ts'
import { Output } from '../../../../src/devcluster/pods/runtime/output.ts'
import { forwardPort } from '../../../../src/devcluster/http/streams/forward-port.ts'
import type { StoredPod } from '../../../../src/devcluster/http/streams/target-container.ts'
import { PodAccess } from '../../../../src/devcluster/pods/runtime/pod-access.ts'
import type { ProcessPod } from '../../../../src/devcluster/pods/runtime/process-pod.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { silentLogger } from '../../../../src/telemetry/logger.ts'
import { until } from '../../../../src/testing/until.ts'
import { podWith } from '../../../support/pods/fake-sources.ts'
import { podWithoutProcesses } from '../../../support/pods/pod-without-processes.ts'

const target = { pod: 'web', uid: 'u', container: 'main' }

function accessTo(pod: object): PodAccess {
  const context = { stateFolder: '/missing', clock: systemClock, logger: silentLogger() }
  return new PodAccess({ context, podOf: () => pod as ProcessPod })
}

/** The expected results are those of github.com/containerd/containerd, internal/cri/server: execInternal. */
t.test('a process of exec has TERM=xterm when it has a terminal, whatever TERM the container has', async (t) => {
  const { pod, stateFolder, start } = await podWithoutProcesses(t, { containers: [{ env: [{ name: 'TERM', value: 'dumb' }] }] })
  const access = new PodAccess({ context: { stateFolder, clock: systemClock, logger: silentLogger() }, podOf: () => pod })
  const { executed } = await start()
  for (const tty of [true, false]) await t.rejects(access.exec(target, { command: ['sh'], tty, stdin: true }), /refused/)
  t.strictSame(executed, [
    { command: ['sh'], tty: true, stdin: true, environment: { TERM: 'xterm' } },
    { command: ['sh'], tty: false, stdin: true },
  ])
})

t.test('a client that attaches to a container that is just ending learns that it has ended', async (t) => {
  const source = new PassThrough()
  const finished = Promise.withResolvers<void>()
  const run = {
    process: { exited: finished.promise.then(() => 0), resize() {} },
    stdout: new Output(source),
    exit: { at: Number.POSITIVE_INFINITY, exitCode: 0 },
    finished: finished.promise,
  }
  const pod = { containers: new Map([['main', { run, spec: {} }]]) } as unknown as ProcessPod
  const access = new PodAccess({ context: { stateFolder: '', clock: systemClock, logger: silentLogger() }, podOf: () => pod })
  run.stdout.log.resume()
  const early = await access.attach(target, { tty: false, stdin: false })
  t.equal(early.stdout.readableEnded, false)
  source.end()
  await until('the output has ended', () => run.stdout.hasEnded)
  const late = access.attach(target, { tty: false, stdin: false })
  run.exit.at = 1
  finished.resolve()
  await t.rejects(late, { message: 'container not found ("main")' })
})

t.test('an error of a forwarded port names the port and the Pod once', async (t) => {
  const { pod, stateFolder } = await podWithoutProcesses(t, {})
  const podOf = (uid: string): ProcessPod | undefined => (uid === 'u' ? pod : undefined)
  const containers = new PodAccess({ context: { stateFolder, clock: systemClock, logger: silentLogger() }, podOf })
  for (const [uid, reason] of [
    ['u', 'refused'],
    ['gone', 'the pod does not run'],
  ] as const) {
    const target = { containers, pod: { name: 'web', uid } as StoredPod, port: 81 }
    const streams = { input: new PassThrough(), output: new PassThrough(), hasHalfClose: true }
    t.equal(await forwardPort(target, streams), `error forwarding port 81 to pod web, uid ${uid}: ${reason}`)
  }
})

// The expected results are those of k8s.io/kubernetes/pkg/kubelet: validateContainerLogStatus.
t.test('the previous log of a container that waits for its restart is the one of its latest run', async (t) => {
  const logs = await ContainerLogs.open({ stateFolder: t.testdir(), podUid: 'u', container: 'main' })
  for (const run of [0, 1]) await (await logs.start(run)).capture(Readable.from([Buffer.from(`run ${run}\n`)]))
  const read = async (state: object, previous: boolean): Promise<string> => {
    const pod = podWith({}, {}, { containerStatuses: [{ name: 'main', state }] })
    const access = accessTo({ pod, containers: new Map([['main', { logs: Promise.resolve(logs) }]]) })
    return text(await access.log(target, { previous, follow: false, timestamps: false }, new AbortController().signal))
  }
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } }
  t.equal(await read({ running: {} }, false), 'run 1\n')
  t.equal(await read({ running: {} }, true), 'run 0\n')
  t.equal(await read(waiting, false), 'run 1\n')
  t.equal(await read(waiting, true), 'run 1\n')
})

t.test('with stdinOnce, the input of a container ends with the first client that leaves', async (t) => {
  for (const stdinOnce of [true, false]) {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const process = { stdin, stdout, exited: new Promise(() => undefined), resize() {} } as unknown as ContainerProcess
    const run = { process, stdout: new Output(stdout), exit: { at: Number.POSITIVE_INFINITY } }
    const session = await accessTo({ containers: new Map([['main', { run, spec: { stdinOnce } }]]) }).attach(target, {
      tty: false,
      stdin: true,
    })
    t.equal(session.stdin, stdin)
    session.close()
    t.equal(stdin.writableEnded, stdinOnce)
  }
})
