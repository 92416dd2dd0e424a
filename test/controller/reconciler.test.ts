import t from 'tap'
import { errorCodes, ProreusError } from '../../src/api/errors.ts'
import type { Result } from '../../src/controller/reconciler.ts'
import { isTerminal, priorityOf, requeueOf, TerminalError } from '../../src/controller/reconciler.ts'

t.test('a result determines the requeue', async (t) => {
  const cases: readonly (readonly [unknown, string | number])[] = [
    [undefined, 'success'],
    [{}, 'success'],
    [{ requeue: false }, 'success'],
    [{ requeue: undefined, requeueAfterMs: undefined }, 'success'],
    [{ requeue: true }, 'requeue'],
    [{ requeue: true, requeueAfterMs: 5 }, 'requeue'],
    [{ requeue: false, requeueAfterMs: 5 }, 5],
    [{ requeueAfterMs: 0.5 }, 0.5],
    [{ requeueAfterMs: 0 }, 'requeue'],
    [{ requeueAfterMs: -1 }, 'requeue'],
    [{ requeueAfterMs: 5, priority: 3 }, 5],
    [{ requeue: true, priority: -3 }, 'requeue'],
    [{ priority: 3 }, 'success'],
  ]
  for (const [result, expected] of cases) t.equal(requeueOf(result as Result), expected, JSON.stringify(result))
})

t.test('a result may have a priority, which is an integer', async (t) => {
  const results: [Result, number | undefined][] = [
    [undefined, undefined],
    [{ requeue: true }, undefined],
    [{ requeue: true, priority: 0 }, 0],
    [{ requeueAfterMs: 5, priority: -100 }, -100],
  ]
  for (const [result, priority] of results) t.equal(priorityOf(result), priority)
  for (const priority of [0.5, NaN, Infinity, '1', null]) {
    const message = `The reconciler returned priority: ${priority}; expected is an integer.`
    t.throws(() => requeueOf({ requeue: true, priority } as never), new TypeError(message))
  }
})

t.test('an invalid result is refused', async (t) => {
  for (const [result, found] of [
    [null, 'null'],
    [[], ''],
    ['requeue', 'requeue'],
    [{ requeue: 'yes' }, 'requeue: yes'],
    [{ requeueAfterMs: '5' }, 'requeueAfterMs: 5'],
    [{ requeueAfterMs: NaN }, 'requeueAfterMs: NaN'],
    [{ requeueAfterMs: Infinity }, 'requeueAfterMs: Infinity'],
    [{ requeue: true, after: 5 }, 'an object with "after"'],
  ] as const) {
    const message = `The reconciler returned ${found}; expected is nothing, { requeueAfterMs: milliseconds } or { requeue: true }.`
    t.throws(() => requeueOf(result as never), new TypeError(message))
  }
})

t.test('a TerminalError is a ProreusError with its own name', async (t) => {
  const cause = new Error('x')
  const error = new TerminalError('malformed', { cause })
  t.ok(error instanceof ProreusError)
  t.strictSame([error.name, error.code, error.message, error.cause], ['TerminalError', 'PRO_INPUT', 'malformed', cause])
  t.ok(error.code in errorCodes)
})

t.test('an error is terminal when it or one of its causes is a TerminalError', async (t) => {
  const terminal = new TerminalError('no')
  t.ok(isTerminal(terminal))
  t.ok(isTerminal(new Error('a', { cause: new Error('b', { cause: terminal }) })))
  const circle = new Error('circle')
  circle.cause = circle
  for (const other of [new Error('no'), circle, new Error('a', { cause: 'TerminalError' }), undefined, null, 'no', { cause: terminal }])
    t.notOk(isTerminal(other))
})
