import t from 'tap'
import { errorFields } from '../../src/telemetry/error-fields.ts'

function withStack<E extends object>(error: E, stack: string): E {
  return Object.assign(error, { stack })
}

t.test('an error has its type, its causes and its own properties', (t) => {
  class Refusal extends Error {
    readonly code = 7
  }
  const last = withStack(new TypeError('c', { cause: 'a text' }), 'stack c')
  const middle = withStack(new Error('', { cause: last }), 'stack b')
  const error = withStack(new Refusal('a', { cause: middle }), 'stack a')
  t.strictSame(errorFields(error, 12), {
    type: 'Refusal',
    message: 'a: c',
    stack: 'stack a\ncaused by: stack b\ncaused by: stack c',
    code: 7,
    cause: 'a text',
  })
  t.strictSame(errorFields(error, 2), { type: 'Refusal', message: 'a', stack: 'stack a\ncaused by: stack b', code: 7 })
  t.strictSame(errorFields(error, 1), { type: 'Refusal', message: 'a', stack: 'stack a', code: 7 })
  t.end()
})

t.test('the errors of an AggregateError are unchanged', (t) => {
  const one = new Error('one')
  const all = withStack(new AggregateError([one], 'all'), 'stack')
  t.strictSame(errorFields(all, 12), { type: 'AggregateError', message: 'all', stack: 'stack', aggregateErrors: [one] })
  t.strictSame(errorFields(withStack(Object.assign(new Error('a'), { errors: 2 }), 's'), 12), { type: 'Error', message: 'a', stack: 's' })
  t.end()
})

t.test('a cycle of causes is read once', (t) => {
  const [a, b] = [withStack(new Error('a'), 'stack a'), withStack(new Error('b'), 'stack b')]
  a.cause = b
  b.cause = a
  t.strictSame(errorFields(a, 12), { type: 'Error', message: 'a: b', stack: 'stack a\ncaused by: stack b' })
  t.end()
})

t.test('odd messages, unreadable properties and missing constructors are handled', (t) => {
  const odd = Object.assign(new Error(), { message: { a: 1 }, stack: ['b'] })
  t.strictSame(errorFields(odd, 12), { type: 'Error', message: { a: 1 }, stack: '' })
  const bare = Object.setPrototypeOf(withStack(new Error('a'), 's'), null) as Error
  t.strictSame(errorFields(bare, 12), { type: 'Error', message: 'a', stack: 's' })
  const named = Object.assign(Object.setPrototypeOf(withStack(new Error('a'), 's'), null) as Error, { name: 'Named' })
  t.strictSame(errorFields(named, 12), { type: 'Named', message: 'a', stack: 's', name: 'Named' })
  const throwing = Object.defineProperty(withStack(new Error('a'), 's'), 'bad', {
    enumerable: true,
    get: () => {
      throw new Error('no')
    },
  })
  t.strictSame(errorFields(throwing, 12), { type: 'Error', message: 'a', stack: 's', bad: undefined })
  t.end()
})
