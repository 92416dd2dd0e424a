import t from 'tap'
import { hostileReviews } from '../support/hostile/reviews.ts'
import { ask, serve, small } from '../support/hostile/server.ts'
import { Turns } from '../support/turns.ts'

/**
 * The maximum processor time of one iteration of the event loop, in milliseconds. The maximum is at least ten times the usual time, because
 * garbage collection can lengthen an iteration. Without the limits of the server, most bodies in `hostileReviews` would block the event
 * loop for seconds. `npm run bench -- hostile` measures exact times.
 */
const longestTurn = 300

t.test('bodies that are expensive to parse are answered, and others are answered meanwhile', async (t) => {
  const { server } = await serve(t)
  for (const { name, text, allowed, code } of hostileReviews) {
    const body = Buffer.from(text())
    const turns = new Turns()
    let others = 0
    let done = false
    const hostile = ask(server, 'mutate', body).finally(() => (done = true))
    do {
      const { uid, allowed } = await ask(server, 'mutate', small)
      if (uid !== 'small' || !allowed) t.fail('a small review was not answered')
      others += 1
    } while (!done)
    const answer = await hostile
    t.ok(turns.stop() < longestTurn, `${name}: ${turns.longest.toFixed(1)} ms`)
    t.match({ uid: answer.uid, allowed: answer.allowed, code: answer.status?.code }, { uid: 'hostile', allowed, code }, name)
    if (code !== 413) t.ok(others > 3, `${name}: ${others}`)
  }
})
