/** Tests of the functions that find and end the processes of a container. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { endProcesses, membersOf } from '../../../../src/devcluster/pods/plain/end-processes.ts'
import { listByProgram, listProcesses, startTimeOf } from '../../../../src/devcluster/pods/plain/process-list.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'

const entry = (pid: number, parent: number, group: number, marker?: string) => ({
  ...{ pid, parent, group, startTime: `at ${pid}` },
  ...(marker !== undefined && { marker }),
})

t.test('the members of a container', async (t) => {
  const processes = [
    entry(1, 0, 1),
    entry(100, 1, 100),
    // Process 102 is a child of process 100, but belongs to another process group. Process 101 is a child of process 102, but precedes
    // process 102 in the list.
    entry(101, 102, 102),
    entry(102, 100, 102),
    // The parent of this process has ended, but the process is still in the group of the container.
    entry(103, 1, 100),
    // Process 104 is a daemon. Only its marker shows that it belongs to the container. Process 105 is in the process group of the daemon.
    entry(104, 1, 104, 'a/1'),
    entry(105, 1, 104),
    entry(200, 1, 200, 'a/10'),
    entry(201, 200, 200),
  ]
  const members = (started: readonly [number, string][], marker?: string): number[] =>
    membersOf(processes, { started: new Map(started), hasMarker: (value) => value === marker }).map(({ pid }) => pid)
  t.strictSame(members([[100, 'at 100']]), [100, 101, 102, 103])
  t.strictSame(members([[100, 'at 100']], 'a/1'), [100, 101, 102, 103, 104, 105])
  t.strictSame(members([[100, 'at an earlier time']]), [])
  t.strictSame(members([[1, 'at 1']]), [], 'the first process of the machine has only descendants of others')
  t.strictSame(members([]), [])
})

t.test('the own process is never a member', async (t) => {
  const own = [entry(process.pid, 1, process.pid, 'a')]
  t.strictSame(membersOf(own, { started: new Map(), hasMarker: () => true }), [])
})

t.test('a process that cannot be killed is left after two seconds', async (t) => {
  const clock = new FakeClock()
  let polls = 0
  // No process has this pid, because it is larger than the largest possible pid of Linux and macOS.
  const ending = endProcesses(clock, () => (polls++ < 1 ? [entry(2 ** 30, 1, 2 ** 30)] : []))
  await clock.advance(5)
  await ending
  t.equal(polls, 2)
  const child = spawn('sleep', ['1000'])
  const [pid, ended] = [child.pid ?? 0, once(child, 'exit')]
  const stuck = endProcesses(clock, () => [entry(pid, 1, pid)])
  t.equal((await ended)[1], 'SIGKILL')
  await clock.advance(2_010)
  await stuck
})

t.test('/proc and ps(1) know the same processes', { skip: process.platform !== 'linux' && 'only Linux has /proc' }, async (t) => {
  const child = spawn('sleep', ['1000'], { detached: true, env: { ...process.env, PROREUS_CONTAINER: 'a=b/1' } })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const { pid = 0 } = child
  const byFile = listProcesses().find((one) => one.pid === pid)
  t.match(byFile, { pid, parent: process.pid, group: pid, marker: 'a=b/1' })
  t.match(listByProgram(['-ax']).find((one) => one.pid === pid), { pid, parent: process.pid, group: pid, startTime: /:\d\d:\d\d \d{4}$/ }) // prettier-ignore
  t.equal(startTimeOf(pid), byFile?.startTime)
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.equal(startTimeOf(pid), undefined)
  t.strictSame(listByProgram(['-p', String(pid)]), [])
})
