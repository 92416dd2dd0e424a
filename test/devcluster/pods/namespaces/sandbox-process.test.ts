/** Tests of `startProcess`, which runs a script that starts a process of a container. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { execScript } from '../../../../src/devcluster/pods/namespaces/process-scripts.ts'
import { startProcess } from '../../../../src/devcluster/pods/namespaces/sandbox-process.ts'
import { until } from '../../../../src/testing/until.ts'

t.test('a process can have tens of thousands of arguments', async (t) => {
  const parameters = Array.from({ length: 60_000 }, (_, index) => (index % 1000 === 999 ? `line\n\\${index}` : `$(x) "${index}"`))
  const { stdout, exited } = await startProcess({
    ...{ enter: [], tty: false, stdin: false, pipes: join(t.testdir({}), 'main') },
    script: execScript({ tty: false }),
    lists: [['printf', '%s\\0', ...parameters]],
  })
  t.ok((await text(stdout)) === `${parameters.join('\0')}\0`, 'all arguments arrive in their order')
  t.equal(await exited, 0)
})

t.test('a start that is aborted ends its script, before the start and during it', async (t) => {
  const folder = t.testdir({})
  const [pipes, begun] = [join(folder, 'main'), join(folder, 'begun')]
  const stop = new AbortController()
  const start = (): Promise<unknown> =>
    startProcess({
      ...{ enter: [], tty: false, stdin: false, pipes },
      // The script waits for a value that never arrives.
      script: { script: ': >"$BEGUN"; read -r line <&3', environment: { BEGUN: begun } },
      lists: [],
      signal: stop.signal,
    })
  const starting = start()
  starting.catch(() => undefined)
  await until('the script has begun', () => existsSync(begun))
  stop.abort()
  await t.rejects(starting, { message: 'the process ended before it was started' })
  await t.rejects(start(), { message: 'the process ended before it was started' })
})

t.test('a start that is aborted while the report of its script arrives does not run the program', async (t) => {
  const folder = t.testdir({})
  const ran = join(folder, 'ran')
  /**
   * A signal that aborts one second after Proreus has added a listener. During this second, the script writes its report, but this process
   * cannot read the report, because `addEventListener` blocks the event loop. If the file `ran` appears, the signal aborts at once.
   */
  const signal = {
    aborted: false,
    addEventListener(_type: string, abort: () => void) {
      const deadline = performance.now() + 1000
      // The `while` loop blocks the event loop of this process, so Proreus cannot tell the script to run the program. If the script does
      // not wait for Proreus, the script runs the program during the `while` loop, and the program creates the file `ran`.
      while (!existsSync(ran) && performance.now() < deadline);
      this.aborted = true
      abort()
    },
    removeEventListener() {},
  }
  const starting = startProcess({
    ...{ enter: [], tty: false, stdin: false, pipes: join(folder, 'main') },
    script: execScript({ tty: false }),
    lists: [['sh', '-c', ': >"$0"; exec sleep 10', ran]],
    signal: signal as unknown as AbortSignal,
  })
  await t.rejects(starting, { message: 'the process ended before it was started' })
  t.notOk(existsSync(ran))
})
