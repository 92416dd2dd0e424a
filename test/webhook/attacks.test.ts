import { Agent } from 'node:https'
import t from 'tap'
import { shippedLimitBytes } from '../support/shipped-limit.ts'
import { startAttackedServer } from '../support/attacked-server.ts'
import { attacks, sendSmall } from '../support/attacks.ts'
import { until } from '../support/process.ts'

/** Each attack goes on for so long; `npm run bench -- hostile` takes longer, and measures. */
const attackMs = 1500
/** In milliseconds of the processor, many times what the longest turn takes here: without what this test is about, they take seconds. */
const defaultLongestTurn = 1500

t.test('attacks neither end the process nor hold up others, and leave nothing behind', { timeout: 300_000 }, async (t) => {
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
    t.equal((await server.ready()).status, 200, `${name}: it is ready`)
    t.notMatch(await attack, /ECONNRESET|EPIPE|socket hang up/, `${name}: no connection is ended that sends whole reviews`)
    const { longestTurn: turn } = await server.state()
    t.ok(turn < longestTurn, `${name}: no turn of the event loop takes longer than ${turn} ms`)
    t.equal(server.ended(), undefined, `${name}: it lives`)
    t.strictSame([...answers], ['200 "allowed":true'], `${name}: others are answered`)
    const { peak } = server.resident()
    t.ok(peak * 1e6 < shippedLimitBytes, `${name}: it takes ${peak} MB`)
    await until('nothing is in flight', async () => {
      const { inFlight, inFlightBytes } = await server.state()
      return inFlight === 0 && inFlightBytes === 0
    })
  }
})
