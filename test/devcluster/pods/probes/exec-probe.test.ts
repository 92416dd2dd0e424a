/** Tests of `exec` probes with real commands. */
import { PassThrough } from 'node:stream'
import t from 'tap'
import type { ContainerSpec } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import type { ExecProcess } from '../../../../src/devcluster/pods/driver.ts'
import { execProbe } from '../../../../src/devcluster/pods/probes/exec-probe.ts'
import type { ProbeContext } from '../../../../src/devcluster/pods/probes/probe-context.ts'
import type { ProbeTarget } from '../../../../src/devcluster/pods/probes/probe-target.ts'
import { ProbeError } from '../../../../src/devcluster/pods/probes/probe-outcome.ts'
import { systemClock } from '../../../../src/runtime/clock.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { loopbackTarget } from '../../../support/devcluster/loopback-target.ts'
import { rejectionOf } from '../../../support/rejection.ts'

const contextOf = (changes: Partial<ProbeContext> = {}): ProbeContext => ({
  container: { name: 'main' } as ContainerSpec,
  target: loopbackTarget,
  clock: systemClock,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  ...changes,
})
const shell = (script: string, ...args: string[]): { command: string[] } => ({ command: ['sh', '-c', script, 'sh', ...args] })

/**
 * Returns a target that starts real commands. `processes` contains the processes that the target has started. `killed` returns the number
 * of calls of `kill` on these processes.
 */
function watched(): { readonly target: ProbeTarget; readonly processes: ExecProcess[]; readonly killed: () => number } {
  const processes: ExecProcess[] = []
  let kills = 0
  const execute = async (command: readonly string[]): Promise<ExecProcess> => {
    const process = await loopbackTarget.execute(command)
    const kill = (): void => {
      kills += 1
      process.kill()
    }
    processes.push({ ...process, kill })
    return { ...process, kill }
  }
  return { target: { ...loopbackTarget, execute }, processes, killed: () => kills }
}

t.test('exit code 0 is a success, others are failures, and the output is stdout before stderr', async (t) => {
  const script = 'echo warning >&2; echo done; exit'
  t.strictSame(await execProbe(shell(`${script} 0`), contextOf()), { kind: 'success', output: 'done\nwarning\n' })
  t.strictSame(await execProbe(shell(`${script} 3`), contextOf()), { kind: 'failure', output: 'done\nwarning\n' })
  t.strictSame(await execProbe(shell('kill -9 $$$$'), contextOf()), { kind: 'failure', output: '' })
})

t.test('arguments are not words of a shell', async (t) => {
  const outcome = await execProbe({ command: ['printf', '%s', '$HOME; `id`'] }, contextOf())
  t.strictSame(outcome, { kind: 'success', output: '$HOME; `id`' })
})

t.test('references to variables with a value are expanded', async (t) => {
  const env = [
    { name: 'PORT', value: '80' },
    { name: 'SECRET', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: '__proto__', value: 'own' },
  ]
  const container = { name: 'main', env } as ContainerSpec
  const outcome = await execProbe({ command: ['echo', '$(PORT) $$(PORT) $(SECRET) $(MISSING) $(__proto__)'] }, contextOf({ container }))
  t.equal(outcome.output, '80 $(PORT)  $(MISSING) own\n')
})

t.test('ten kilobytes of the output are kept, and a command can write any amount', async (t) => {
  const outcome = await execProbe(shell('yes out | head -c 5000; yes err | head -c 3000000 >&2'), contextOf())
  t.equal(outcome.kind, 'success')
  t.equal(outcome.output.length, 10_240)
  t.equal(outcome.output.slice(4992, 5008), 'out\nout\nerr\nerr\n')
})

t.test('a command that takes too long is killed', async (t) => {
  const clock = new FakeClock()
  const { target, processes, killed } = watched()
  const outcome = execProbe(shell('echo started; sleep 1000'), contextOf({ clock, target, timeoutMs: 2000 }))
  await clock.untilPending()
  while (processes.length === 0) await clock.advance(0)
  await clock.advance(2000)
  t.strictSame(await outcome, {
    kind: 'failure',
    output: 'command timed out: "sh -c echo started; sleep 1000 sh" timed out after 2s',
  })
  t.equal(killed(), 1)
  t.equal(await processes[0]!.exited, 137)
})

t.test('a process in the background does not delay the end of a command', async (t) => {
  const { target, processes } = watched()
  const outcome = await execProbe(shell('echo done; sleep 1000 & exit 0'), contextOf({ target }))
  t.strictSame(outcome, { kind: 'success', output: 'done\n' })
  processes[0]?.kill()
})

t.test('a command that does not exist has no outcome', async (t) => {
  const error = await rejectionOf(execProbe({ command: ['no-such-program'] }, contextOf()))
  t.type(error, ProbeError)
  t.match(error, { state: 'unknown', message: 'exec: "no-such-program": executable file not found in $PATH', cause: Error })
})

t.test('a command that starts too late is killed', async (t) => {
  const clock = new FakeClock()
  const started = Promise.withResolvers<ExecProcess>()
  const outcome = execProbe(
    { command: ['x'] },
    contextOf({ clock, timeoutMs: 1000, target: { ...loopbackTarget, execute: () => started.promise } }),
  )
  await clock.advance(1000)
  t.strictSame(await outcome, { kind: 'failure', output: 'command timed out: "x" timed out after 1s' })
  const stdout = new PassThrough()
  const killed = new Promise<void>((resolve) =>
    started.resolve({ stdout, resize: () => undefined, exited: new Promise(() => undefined), kill: resolve }),
  )
  await killed
  t.equal(stdout.destroyed, true)
})

t.test('the end of the container kills the command, and errors of its streams do no harm', async (t) => {
  const ended = new AbortController()
  const { target, processes, killed } = watched()
  const rejection = rejectionOf(execProbe(shell('sleep 1000'), contextOf({ target, signal: ended.signal })))
  while (processes.length === 0) await new Promise((resolve) => setImmediate(resolve))
  processes[0]!.stdout.emit('error', new Error('broken'))
  const reason = new Error('ended')
  ended.abort(reason)
  t.equal(await rejection, reason)
  t.equal(killed(), 1)
  t.equal(await processes[0]!.exited, 137)
})
