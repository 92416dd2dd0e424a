import { Agent } from 'node:https'
import t from 'tap'
import { shippedLimitBytes } from '../support/hostile/shipped-limit.ts'
import { startAttackedServer } from '../support/hostile/attacked-server.ts'
import { attacks, sendSmall } from '../support/hostile/attacks.ts'
import { until } from '../../src/testing/until.ts'

/** The duration of each attack in milliseconds. `npm run bench -- hostile` attacks for longer and measures the effects. */
const attackMs = 1500
/**
 * The limit for an iteration of the event loop, in milliseconds of processor time. The limit is many times the duration of the longest
 * iteration on an ordinary machine. If the server had no limits, some iterations would take seconds.
 */
const defaultLongestTurn = 1500

t.test('attacks neither crash the process nor block other clients, and leave nothing in flight', { timeout: 300_000 }, async (t) => {
  const server = await startAttackedServer()
  t.after(() => server.stop())
  for (const { name, run, longestTurn = defaultLongestTurn } of attacks) {
    const agent = new Agent({ keepAlive: true })
    server.forgetPeak()
    await server.state()
    const over = AbortSignal.timeout(attackMs)
    const attack = run(server, over)
    const answers = new Set<string>()
    do {
      answers.add(await sendSmall(server, agent))
    } while (!over.aborted)
    agent.destroy()
    t.equal((await server.ready()).status, 200, `${name}: the server is ready`)
    t.notMatch(await attack, /ECONNRESET|EPIPE|socket hang up/, `${name}: connections that send complete reviews stay open`)
    const { longestTurn: turn } = await server.state()
    t.ok(turn < longestTurn, `${name}: no turn of the event loop takes longer than ${turn} ms`)
    t.equal(server.ended(), undefined, `${name}: the process is running`)
    t.strictSame([...answers], ['200 "allowed":true'], `${name}: other clients are answered`)
    const { peak } = server.resident()
    t.ok(peak * 1e6 < shippedLimitBytes, `${name}: ${peak} MB of memory`)
    await until('nothing is in flight', async () => {
      const { inFlight, inFlightBytes } = await server.state()
      return inFlight === 0 && inFlightBytes === 0
    })
  }
})
