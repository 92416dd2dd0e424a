import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { inBackground } from '../../src/manager/background.ts'
import { createLogger } from '../../src/telemetry/logger.ts'

interface Line {
  readonly level: string
  readonly msg: string
  readonly err?: { readonly message: string }
}

function recording(): { lines: Line[]; logger: ReturnType<typeof createLogger> } {
  const lines: Line[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) }
  return { lines, logger: createLogger({ level: 'debug', destination }) }
}

const untilStopped = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

t.test('errors of a task are logged, before its stop and after it', async (t) => {
  const cases: [string, (signal: AbortSignal) => Promise<void>, Partial<Line>[]][] = [
    ['nothing', async (signal) => void (await untilStopped(signal)), []],
    [
      "the signal's reason: how most tasks end",
      async (signal) => {
        await untilStopped(signal)
        signal.throwIfAborted()
      },
      [{ level: 'debug', msg: 'the task was stopped' }],
    ],
    [
      'an error because of the reason',
      async (signal) => {
        await untilStopped(signal)
        throw new ProreusError('PRO_ABORTED', 'The request was aborted.', { cause: signal.reason })
      },
      [{ level: 'debug', msg: 'the task was stopped' }],
    ],
    [
      'an AbortError of Node.js',
      async (signal) => {
        await untilStopped(signal)
        throw new DOMException('This operation was aborted', 'AbortError')
      },
      [{ level: 'debug', msg: 'the task was stopped' }],
    ],
    [
      'an error while it stops',
      async (signal) => {
        await untilStopped(signal)
        throw new Error('the Lease was not released')
      },
      [{ level: 'warn', msg: 'the task has failed while it was being stopped', err: { message: 'the Lease was not released' } }],
    ],
  ]
  for (const [name, work, expected] of cases) {
    const { lines, logger } = recording()
    const task = inBackground('the task', work, logger)
    t.equal(task.state, 'running', name)
    let stopped: unknown
    void task.ended.then(() => (stopped = 'ended'))
    await task.stop()
    t.equal(stopped, 'ended', name)
    t.equal(task.state, 'ended', name)
    t.match(lines, expected, name)
    t.equal(lines.length, expected.length, name)
  }
})

t.test('a failure before the stop remains a failure', async (t) => {
  const { lines, logger } = recording()
  const error = new Error('no')
  const task = inBackground('the task', () => Promise.reject(error), logger)
  await task.ended
  t.strictSame(task.state, { failed: error })
  await task.stop()
  t.strictSame(task.state, { failed: error })
  t.match(lines, [{ level: 'error', msg: 'the task has failed; everything else goes on', err: { message: 'no' } }])
})

t.test('the signal of a task has the reason of the stop', async (t) => {
  let reason: unknown
  const task = inBackground('the task', async (signal) => void (await untilStopped(signal), (reason = signal.reason)), recording().logger)
  await task.stop()
  t.match(reason, { message: 'the task is stopped' })
})
