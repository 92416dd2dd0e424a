/** Test cases for `probeNamespaces`, and for the time from the start of a Pod to its first response. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { probeNamespaces } from '../../../../../src/devcluster/pods/namespaces/probe-namespaces.ts'
import { ids, start, traces, world } from './driver.ts'
import { nodeProgram } from '../../../../support/pods/node-program.ts'

t.test('the probe reports what the machine permits, and leaves nothing', async (t) => {
  const before = traces()
  const capabilities = await probeNamespaces()
  const lacking = capabilities.filter(({ works }) => !works)
  if (ids === 'single') {
    t.match(lacking, [
      { name: 'subordinate ids', isRequired: false, reason: /no line for the user /, remedy: /usermod/ },
      { name: 'another uid', isRequired: false, reason: /Invalid argument/, remedy: /subordinate/ },
    ])
  } else t.strictSame(lacking, [])
  t.strictSame(traces(), before)
})

t.test('a Pod with two containers and a volume answers almost as soon as a program without a container', async (t) => {
  const { pod } = await world(t)
  const volume = mkdtempSync(join(tmpdir(), 'volume-'))
  const serve = `require('node:net').createServer((socket) => socket.end('hello')).listen(80, () => console.log('ready'))`
  const durations: { inPod: number; alone: number }[] = []
  for (let round = 0; round < 5; round += 1) {
    const begin = performance.now()
    const one = await pod()
    const mounts = [{ source: volume, target: '/data', isReadOnly: false }]
    const [server] = await Promise.all([start(one, [nodeProgram, '-e', serve], { mounts }), start(one, ['sleep', '1000'], { mounts })])
    await once(server.stdout, 'readable')
    t.equal(await text(await one.connect(80, one.address)), 'hello')
    const inPod = performance.now() - begin
    await one.remove()
    const beginAlone = performance.now()
    const alone = spawn(process.execPath, ['-e', `console.log('ready')`], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(alone.stdout, 'readable')
    durations.push({ inPod, alone: performance.now() - beginAlone })
  }
  const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  const [inPod, alone] = [median(durations.map((each) => each.inPod)), median(durations.map((each) => each.alone))]
  t.comment(`${Math.round(inPod)} ms; Node.js alone: ${Math.round(alone)} ms`)
  // A busy machine slows down both the Pod and the program outside a container. Therefore, a Pod that takes more than 500 ms is accepted if
  // it takes less than eight times as long as the program.
  t.ok(inPod < 500 || inPod < 8 * alone, `${inPod} ms`)
})
