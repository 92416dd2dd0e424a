import t from 'tap'
import { hostileReviews } from '../support/hostile-reviews.ts'
import { ask, serve, small } from '../support/hostile-server.ts'
import { Turns } from '../support/turns.ts'

/**
 * In milliseconds of the processor, ten times and more what a turn takes here, for the garbage collector's sake; without what this
 * test is about, most of these bodies hold the event loop for whole seconds. `npm run bench -- hostile` measures.
 */
const longestTurn = 300

t.test('what is hard to read is answered, and others are in between', async (t) => {
  const { server } = await serve(t)
  for (const { name, text, allowed, code } of hostileReviews) {
    const body = Buffer.from(text())
    const turns = new Turns()
    let others = 0
    let done = false
    const hostile = ask(server, 'mutate', body).finally(() => (done = true))
    do {
      const { uid, allowed } = await ask(server, 'mutate', small)
      if (uid !== 'small' || !allowed) t.fail('a small one was not answered')
      others += 1
    } while (!done)
    const answer = await hostile
    t.ok(turns.stop() < longestTurn, `${name}: ${turns.longest.toFixed(1)} ms`)
    t.match({ uid: answer.uid, allowed: answer.allowed, code: answer.status?.code }, { uid: 'hostile', allowed, code }, name)
    if (code !== 413) t.ok(others > 3, `${name}: ${others}`)
  }
})
