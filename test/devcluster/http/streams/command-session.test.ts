/** Tests of sessions in which several clients are attached to the same process. */
import { PassThrough } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { runSession } from '../../../../src/devcluster/http/streams/command-session.ts'
import { until } from '../../../../src/testing/until.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

t.test('a client that has left leaves nothing with the process', async (t) => {
  const stdin = new PassThrough()
  const exited = new Promise<number>(() => undefined)
  const [first, second] = await Promise.all([attachAndLeave(), attachAndLeave()])
  const counts = (): number[] => stdin.eventNames().map((name) => stdin.listenerCount(name))
  const before = counts()
  const left: WeakRef<object>[] = [first, second]
  for (let index = 0; index < 15; index += 1) left.push(await attachAndLeave())
  t.strictSame(counts(), before)
  t.equal(stdin.listenerCount('error'), 1)
  await until('the streams of all clients are freed', () => {
    collect()
    return left.every((one) => one.deref() === undefined)
  })

  /** Attaches a client, and ends its session. Resolves with a weak reference to the client's input. */
  async function attachAndLeave(): Promise<WeakRef<object>> {
    const client = new AbortController()
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), finish: () => Promise.resolve() }
    const session = { stdin, stdout: new PassThrough(), resize: () => undefined, exited, close: () => undefined }
    const ended = runSession(session, streams, client.signal)
    streams.stdin.write('input')
    await until('the input arrives', () => stdin.read() !== null)
    client.abort(new Error('left'))
    await t.rejects(ended, { message: 'left' })
    for (const stream of [session.stdout, streams.stdin, streams.stdout]) stream.destroy()
    return new WeakRef(streams.stdin)
  }
})

t.test('the input of other clients still arrives after one has left', async (t) => {
  const stdin = new PassThrough()
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>()
  const [leaving, staying] = [new PassThrough(), new PassThrough()]
  const stdout = new PassThrough()
  const session = { stdin, stdout, resize: () => undefined, exited, close: () => undefined }
  const finish = (): Promise<void> => Promise.resolve()
  const client = new AbortController()
  const left = runSession({ ...session, stdout: new PassThrough() }, { stdin: leaving, finish }, client.signal)
  const ended = runSession(session, { stdin: staying, finish }, new AbortController().signal)
  client.abort(new Error('left'))
  await t.rejects(left, { message: 'left' })
  staying.write('input')
  await until('the input arrives', () => String(stdin.read()) === 'input')
  stdout.end()
  exit(3)
  t.equal(await ended, 3)
})
