/** Tests of container processes that could outlive Proreus or their supervisor. */
import { spawn } from 'node:child_process'
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { PodDriver, PodSandbox } from '../../../../src/devcluster/pods/driver.ts'
import { createPlainDriver } from '../../../../src/devcluster/pods/plain/plain-driver.ts'
import { startTimeOf } from '../../../../src/devcluster/pods/plain/process-list.ts'
import { terminalProblem } from '../../../../src/devcluster/pods/plain/terminal.ts'
import { until } from '../../../../src/testing/until.ts'
import { container, outputOf, shell } from '../../../support/pods/plain/container.ts'
import { KilledOwner, supervisorOf } from '../../../support/pods/plain/killed-owner.ts'
import { asOtherUser, otherUserProblem } from '../../../support/pods/plain/other-user.ts'
import { scatter, scattered, sleepers, sleeping, uniqueSleep } from '../../../support/pods/plain/processes.ts'
import { newStateFolder } from '../../../support/pods/plain/state-folder.ts'

t.jobs = 4

const hasTerminal = (await terminalProblem()) === undefined

function startOwner(t: Test, folder: string, scripts: readonly string[], before: readonly string[] = []): KilledOwner {
  const owner = new KilledOwner(folder, scripts, before)
  t.teardown(() => owner.kill())
  return owner
}

async function startDriver(t: Test, stateFolder: string): Promise<{ readonly driver: PodDriver; readonly pod: PodSandbox }> {
  const driver = await createPlainDriver({ stateFolder })
  t.teardown(() => driver.close())
  return { driver, pod: await driver.createSandbox({ hostname: 'a', address: '10.244.0.2', hostNetwork: false }) }
}

/** Starts a process that belongs to no driver. The process is killed at the end of the test. */
function startOther(t: Test, seconds: string): number {
  const child = spawn('sleep', [seconds], { stdio: 'ignore', detached: true })
  t.teardown(() => child.kill('SIGKILL'))
  return child.pid ?? 0
}

const users = [
  { user: 'the user who runs the tests', skip: false as const, before: () => [] },
  { user: 'a user without privileges', skip: otherUserProblem(), before: asOtherUser },
]

for (const { user, skip, before } of users) {
  t.test(`as ${user}: kill -9 of Proreus leaves no process`, { skip }, async (t) => {
    const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
    const ignoring = `trap '' TERM HUP INT; ${scatter(seconds)}\nsleep 1000`
    const scripts = [ignoring, ignoring, ...(hasTerminal ? [`tty ${ignoring}`] : [])]
    const owner = startOwner(t, folder, scripts, before(folder))
    await owner.ready()
    await sleeping(seconds, scripts.length * scattered)
    const { supervisor } = owner
    await owner.kill()
    await sleeping(seconds, 0)
    await until('the supervisor has ended', () => startTimeOf(supervisor) === undefined)
    t.notOk(existsSync(join(folder, 'processes.json')))
  })

  t.test(`as ${user}: what outlives the supervisor, too, is ended at the next start`, { skip }, async (t) => {
    const [folder, seconds, bare] = [newStateFolder(t), uniqueSleep(), uniqueSleep()]
    const words = before(folder)
    // The process of the second container has an empty environment and therefore no marker. The supervisor of the next driver can find this
    // process only by the entry in the file `processes.json`.
    const scripts = [`${scatter(seconds)}\nsleep 1000`, `exec env -i sleep ${bare}`]
    const first = startOwner(t, folder, scripts, words)
    await first.ready()
    await sleeping(seconds, scattered)
    await sleeping(bare, 1)
    process.kill(first.supervisor, 'SIGSTOP')
    await first.kill()
    process.kill(first.supervisor, 'SIGKILL')
    t.strictSame([sleepers(seconds).length, sleepers(bare).length], [scattered, 1])
    const second = startOwner(t, folder, [], words)
    await second.ready()
    t.strictSame([sleepers(seconds), sleepers(bare)], [[], []])
  })
}

t.test('kill -9 while containers are being started leaves no process', async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  const owner = startOwner(
    t,
    folder,
    Array.from({ length: 40 }, () => `sleep ${seconds}; :`),
  )
  await until('some containers run', () => sleepers(seconds).length > 2)
  const { supervisor } = owner
  await owner.kill()
  await until('the supervisor has ended', () => startTimeOf(supervisor) === undefined)
  t.strictSame(sleepers(seconds), [])
})

t.test('a supervisor that is killed is replaced: its containers have ended, and others can be started', async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  const { pod } = await startDriver(t, folder)
  const lost = await pod.start(shell(`${scatter(seconds)}\nsleep 1000`))
  await sleeping(seconds, scattered)
  const before = supervisorOf(folder)
  process.kill(before, 'SIGKILL')
  t.equal(await lost.exited, 137)
  await t.rejects(lost.execute({ command: ['true'], tty: false, stdin: false }), { message: 'the container has ended' })
  await sleeping(seconds, 0)
  t.equal((await outputOf(await pod.start(shell('echo new')))).stdout, 'new\n')
  t.not(supervisorOf(folder), before)
})

t.test('the supervisor ignores the signals that end a service', async (t) => {
  const folder = newStateFolder(t)
  const { pod } = await startDriver(t, folder)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(supervisorOf(folder), signal)
  t.equal((await outputOf(await pod.start(shell('echo yes')))).stdout, 'yes\n')
})

t.test('close ends all processes and removes the files', async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  const { driver, pod } = await startDriver(t, folder)
  const started = await pod.start(shell(`${scatter(seconds)}\nsleep 1000`))
  await sleeping(seconds, scattered)
  await driver.close()
  t.strictSame(sleepers(seconds), [])
  t.equal(await started.exited, 137)
  t.notOk(existsSync(join(folder, 'processes.json')) || existsSync(join(folder, 'pipes')))
  await t.rejects(pod.start(container(['true'])), { message: 'the driver of the Pods has been closed' })
})

t.test('a state folder is used by one driver at a time', async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  const { pod } = await startDriver(t, folder)
  await pod.start(container(['sleep', seconds]))
  await t.rejects(createPlainDriver({ stateFolder: folder }), {
    code: 'PRO_STATE_FILE',
    message: `Pods cannot run as processes: the process ${process.pid} runs Pods with the same state folder`,
  })
  t.equal(sleepers(seconds).length, 1)
  // The file `processes.json` still contains the pid of the first driver's supervisor, and this supervisor still runs.
  t.not(startTimeOf(supervisorOf(folder)), undefined)
})

t.test('a state folder that cannot be created is an error', async (t) => {
  const file = join(newStateFolder(t), 'file')
  writeFileSync(file, '')
  await t.rejects(createPlainDriver({ stateFolder: join(file, 'folder') }), { code: 'PRO_STATE_FILE' })
})

t.test('of the recorded processes, only those that are the same are ended', async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  const [same, reused] = [startOther(t, seconds), startOther(t, seconds)]
  await sleeping(seconds, 2)
  const ended = { pid: reused, startTime: 'earlier' }
  const processes = [ended, { pid: same, startTime: startTimeOf(same) }, ...[0, -1, 1].map((pid) => ({ pid, startTime: startTimeOf(1) }))]
  writeFileSync(join(folder, 'processes.json'), JSON.stringify({ owner: ended, supervisor: ended, processes }))
  await startDriver(t, folder)
  t.strictSame(sleepers(seconds), [reused])
})

t.test('a damaged file of processes is ignored', async (t) => {
  const contents = ['', 'null', '[]', '{"owner":{"pid":1,"startTime":"a"}}', '{"owner":1,"supervisor":{},"processes":[]}']
  for (const content of contents) {
    const folder = newStateFolder(t)
    writeFileSync(join(folder, 'processes.json'), content)
    await startDriver(t, folder)
    t.equal(supervisorOf(folder) > 0, true, content)
  }
})

t.test('a file that another user has written is ignored', { skip: process.getuid?.() !== 0 && 'only root gives files away' }, async (t) => {
  const [folder, seconds] = [newStateFolder(t), uniqueSleep()]
  const pid = startOther(t, seconds)
  const file = join(folder, 'processes.json')
  const identity = { pid, startTime: startTimeOf(pid) }
  writeFileSync(file, JSON.stringify({ owner: identity, supervisor: identity, processes: [identity] }))
  chownSync(file, 65_001, 65_001)
  await startDriver(t, folder)
  t.strictSame(sleepers(seconds), [pid])
  t.match(JSON.parse(readFileSync(file, 'utf8')), { owner: { pid: process.pid } })
})
