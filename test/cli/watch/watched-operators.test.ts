/** Tests of the operators of `proreus dev --watch`, with scripted processes. */
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { OperatorMessage, ReadyMessage, StartMessage } from '../../../src/cli/watch/messages.ts'
import { sourceFile } from '../../../src/cli/watch/source-file.ts'
import { runWatchedOperators } from '../../../src/cli/watch/watched-operators.ts'
import { listen } from '../../../src/runtime/listen.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { eventually } from '../../support/eventually.ts'
import { recordingLogger } from '../../support/recording-logger.ts'

type Message = Exclude<OperatorMessage, ReadyMessage>

interface ScriptedChild {
  readonly start: StartMessage
  /** Simulates that the process ends without a call of `stop`. */
  end(how: string): void
  send(message: Message): void
  /** Simulates that the operators of the process have started. */
  ready(): void
}

/**
 * Runs scripted processes until the end of the test. Each process loads `a.ts` and `b.ts`. These files do not exist on disk. Therefore,
 * only a call of `change` reports a changed file.
 */
function watched(t: Test, { stopped = () => undefined }: { readonly stopped?: (child: ScriptedChild) => void } = {}) {
  const folder = t.testdir()
  const files = { a: join(folder, 'a.ts'), b: join(folder, 'b.ts') }
  const clock = new FakeClock()
  const children: ScriptedChild[] = []
  const said: string[] = []
  const steps: string[] = []
  const reasons: (string | undefined)[] = []
  const stop = new AbortController()
  const running = runWatchedOperators(
    {
      ...{
        selection: {},
        log: { logLevel: 'info', logFormat: 'json' },
        certDir: folder,
        connection: { server: 'https://127.0.0.1:1', describe: 'a test' },
      },
      ...{ clock, logger: recordingLogger().logger, signal: stop.signal },
      done: (step) => void steps.push(step),
      ready: () => Promise.resolve(),
      setUnreachable: (url, reason) => void reasons.push(reason && `${url}: ${reason}`),
      say: (line) => void said.push(line),
    },
    (start, _clock, send) => {
      const ready = Promise.withResolvers<object | undefined>()
      const ended = Promise.withResolvers<string>()
      const child = { start, send, ready: () => ready.resolve({}), end: ended.resolve }
      void ended.promise.then(() => ready.resolve(undefined))
      children.push(child)
      for (const path of Object.values(files)) send({ type: 'loading', file: sourceFile(path) })
      return {
        ready: ready.promise,
        ended: ended.promise,
        stop: () => {
          stopped(child)
          ended.resolve('exit code 0')
          return Promise.resolve()
        },
      }
    },
  )
  t.teardown(() => {
    stop.abort()
    return Promise.allSettled([running])
  })
  /** Resolves with the process that has this number. The first process has the number 1. */
  const child = async (number: number): Promise<ScriptedChild> => {
    await eventually(() => children.length >= number)
    return children[number - 1]!
  }
  return {
    ...{ files, clock, said, steps, reasons, child },
    /**
     * Simulates a change of the file `path`. To do this, the child process reports that it loads the file, but with a state that differs
     * from the state of the file on disk. Then the function advances the clock until the burst of changes has ended.
     */
    async change(child: ScriptedChild, path: string) {
      child.send({ type: 'loading', file: { path, state: 'older' } })
      await clock.untilPending()
      await clock.advance(50)
    },
  }
}

t.test('a change during a restart is reported with the change that caused the restart', async (t) => {
  const { files, said, child, change } = watched(t)
  const first = await child(1)
  first.ready()
  await eventually(() => said.length === 1)
  await change(first, files.a)
  await change(await child(2), files.b)
  const third = await child(3)
  third.ready()
  await eventually(() => said.length === 2)
  const name = (file: string): string => `.*/${file}\\.ts`
  t.match(said[1], new RegExp(`^${name('a')}, ${name('b')} changed: the operators were restarted in 0\\.10 s$`))
  await change(third, files.b)
  ;(await child(4)).ready()
  await eventually(() => said.length === 3)
  t.match(said[2], new RegExp(`^${name('b')} changed: the operators were restarted in 0\\.05 s$`), 'the earlier changes are reported')
})

t.test('messages of a process that stops are ignored', async (t) => {
  const server = async (name: string): Promise<number> => {
    const tcp = createServer((socket) => socket.end(name))
    t.teardown(() => tcp.close())
    return listen(tcp, { host: '127.0.0.1', port: 0 })
  }
  const [old, successor] = [await server('old'), await server('successor')]
  const { files, steps, child, change } = watched(t, {
    stopped(child) {
      child.send({ type: 'done', step: 'late', detail: '' })
      child.send({ type: 'serving', webhook: old, metrics: old })
    },
  })
  const first = await child(1)
  const answers = [first.start.urls.webhook, first.start.urls.metrics].map((url) => {
    const { hostname, port } = new URL(url)
    return text(connect({ host: hostname, port: Number(port) }))
  })
  first.send({ type: 'done', step: 'early', detail: '' })
  await change(first, files.a)
  const second = await child(2)
  second.send({ type: 'serving', webhook: successor, metrics: successor })
  t.strictSame(await Promise.all(answers), ['successor', 'successor'], 'the connections have waited')
  t.strictSame(steps, ['early'])
})

t.test('the reason why the webhooks cannot be reached is reported', async (t) => {
  const { files, reasons, child, change } = watched(t)
  const first = await child(1)
  const { webhook } = first.start.urls
  first.send({ type: 'serving', webhook: 1 })
  t.strictSame(reasons.splice(0), [undefined])
  await change(first, files.a)
  const second = await child(2)
  t.strictSame(reasons.splice(0), [`${webhook}: the operators are being restarted`])
  second.end('exit code 1')
  await eventually(() => reasons.length === 1)
  t.strictSame(reasons, [
    `${webhook}: the operators do not run (exit code 1): see the output of proreus dev; the next change starts them again`,
  ])
})
