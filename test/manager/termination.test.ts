/** Tests of the effects of signals and uncaught errors on a process. Each test starts a child process. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { finished, repository } from '../support/process/process.ts'

const source = join(repository, 'src')

/**
 * Runs a module in a child process, and returns the exit code and the output of the process. The module calls `onTermination` and executes
 * `body`. When the signal that `onTermination` returned aborts, the module executes `end`.
 */
async function run(t: Test, body: string, end = '', args = 'createLogger()'): ReturnType<typeof finished> {
  const file = join(t.testdir(), 'main.ts')
  writeFileSync(
    file,
    `import { onTermination } from '${source}/manager/termination.ts'
import { createLogger } from '${source}/telemetry/logger.ts'
const { signal, release } = onTermination(${args})
const ended = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
const keepAlive = setInterval(() => undefined, 1000)
${body}
await ended
${end}
clearInterval(keepAlive)
release()
process.stdout.write('ended in order')
`,
  )
  return finished(process.execPath, [file])
}

t.test('SIGTERM stops the process in order', async (t) => {
  const { code, stdout, stderr } = await run(t, "process.kill(process.pid, 'SIGTERM')")
  t.match({ code, stdout }, { code: 0, stdout: 'ended in order' })
  t.match(
    stderr,
    /"msg":"received SIGTERM: shutting down after the running requests and reconciles have ended; a second signal ends the process immediately"/,
  )
})

t.test('a second signal ends a process that does not stop in order', async (t) => {
  const never = 'await new Promise(() => undefined)'
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const kill = `process.kill(process.pid, '${signal}')`
    t.match(await run(t, kill, `${kill}\n${never}`), { code, stdout: /^$/ }, signal)
  }
})

t.test('an unhandled rejection is logged and does not stop the process', async (t) => {
  const { code, stdout, stderr } = await run(
    t,
    "void Promise.reject(new Error('forgotten'))\nsetTimeout(() => process.kill(process.pid, 'SIGTERM'), 50)",
  )
  t.match({ code, stdout }, { code: 0, stdout: 'ended in order' })
  t.match(stderr, /"level":"error".*unhandled rejection: forgotten/)
})

t.test('an uncaught exception stops the process in order, with exit code 1', async (t) => {
  const { code, stdout, stderr } = await run(t, "setImmediate(() => { throw new Error('broken') })")
  t.match({ code, stdout }, { code: 1, stdout: 'ended in order' })
  t.match(stderr, /"level":"fatal".*uncaught exception: broken/)
})

t.test('after the release, signals and exceptions have their default effect', async (t) => {
  const abort = "process.kill(process.pid, 'SIGTERM')"
  const deadline = 'await new Promise((resolve) => setTimeout(resolve, 5000))'
  for (const [event, happens] of [
    ['SIGTERM', "process.kill(process.pid, 'SIGTERM')"],
    ['SIGINT', "process.kill(process.pid, 'SIGINT')"],
    ['an exception', "setImmediate(() => { throw new Error('broken') })"],
    ['a rejection', "void Promise.reject(new Error('broken'))"],
  ] as const) {
    const { code, stderr } = await run(t, abort, `release()\n${happens}\n${deadline}`)
    const isSignal = event.startsWith('SIG')
    t.equal(code, isSignal ? null : 1, event)
    t.equal(stderr.split('\n').filter((line) => line.startsWith('{')).length, 1, `${event} is not logged`)
    if (!isSignal) t.match(stderr, /^Error: broken$/m)
  }
})

t.test('only the given signals are handled', async (t) => {
  const body = `process.once('SIGINT', () => { process.stdout.write('left to others, '); process.kill(process.pid, 'SIGTERM') })
process.kill(process.pid, 'SIGINT')`
  const { code, stdout, stderr } = await run(t, body, '', "createLogger(), ['SIGTERM']")
  t.match({ code, stdout }, { code: 0, stdout: 'left to others, ended in order' })
  t.notMatch(stderr, /received SIGINT/)
})
