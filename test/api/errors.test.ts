import t from 'tap'
import { messageOf } from '../../src/api/errors.ts'

t.test('the message of what was thrown tells its causes, each once', async (t) => {
  const cases: [string, unknown, string][] = [
    ['no error', 'enough', 'enough'],
    ['nothing', undefined, 'undefined'],
    ['an error', new Error('a'), 'a'],
    ['its causes', new Error('a', { cause: new Error('b', { cause: new Error('c') }) }), 'a: b: c'],
    ['a cause that is no error', new Error('a', { cause: 'b' }), 'a: b'],
    ['a cause that is part of the message', new Error('a because of b', { cause: new Error('b') }), 'a because of b'],
    ['a cause without a message', new Error('a', { cause: new Error() }), 'a'],
    ['several at once', new AggregateError([new Error('a', { cause: 'b' }), new Error('c')]), 'a: b; c'],
    ['several at once, with a message of their own', new AggregateError([new Error('b')], 'a'), 'a'],
  ]
  for (const [name, thrown, message] of cases) t.equal(messageOf(thrown), message, name)
})
