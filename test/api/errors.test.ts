import t from 'tap'
import { errorCodes, messageOf, ProreusError } from '../../src/api/errors.ts'

t.test('the message of a thrown value includes each cause once', async (t) => {
  const cases: [string, unknown, string][] = [
    ['a value that is not an error', 'enough', 'enough'],
    ['nothing', undefined, 'undefined'],
    ['an error', new Error('a'), 'a'],
    ['its causes', new Error('a', { cause: new Error('b', { cause: new Error('c') }) }), 'a: b: c'],
    ['a cause that is not an error', new Error('a', { cause: 'b' }), 'a: b'],
    ['a cause that is part of the message', new Error('a because of b', { cause: new Error('b') }), 'a because of b'],
    ['a cause without a message', new Error('a', { cause: new Error() }), 'a'],
    ['several at once', new AggregateError([new Error('a', { cause: 'b' }), new Error('c')]), 'a: b; c'],
    ['several at once, with a message of their own', new AggregateError([new Error('b')], 'a'), 'a'],
  ]
  for (const [name, thrown, message] of cases) t.equal(messageOf(thrown), message, name)
})

t.test('a ProreusError has a code, a message and an optional cause', async (t) => {
  const cause = new Error('why')
  const error = new ProreusError('PRO_INPUT', 'what', { cause })
  t.ok(error instanceof Error)
  t.strictSame([error.name, error.code, error.message, error.cause], ['ProreusError', 'PRO_INPUT', 'what', cause])
  t.notOk('cause' in new ProreusError('PRO_INPUT', 'what'))
  for (const [code, meaning] of Object.entries(errorCodes)) {
    t.match(code, /^PRO_[A-Z_]+$/)
    t.match(meaning, /\.$/)
  }
})
