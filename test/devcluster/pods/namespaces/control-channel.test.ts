/** Tests of `ControlChannel`, the channel between Proreus and a script that starts a process. */
import { duplexPair, finished } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import { ControlChannel } from '../../../../src/devcluster/pods/namespaces/control-channel.ts'

t.test('the channel is closed when the script may run the program, even if the script keeps its side open', async (t) => {
  const [stream, script] = duplexPair()
  const channel = new ControlChannel(stream)
  script.write('container 7\nstarted 7 3 1\n')
  t.strictSame(await channel.started, { outerPid: 7, podPid: 3 })
  const closed = promisify(finished)(stream).catch(() => undefined)
  channel.proceed()
  t.equal(await text(script), '\n')
  await closed
  t.equal(stream.destroyed, true)
})
