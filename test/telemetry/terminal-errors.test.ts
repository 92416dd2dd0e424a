/** Tests that errors in human-readable log lines are shortened: stack frames are removed, and a repeated error has no stack. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { createLogger } from '../../src/telemetry/logger.ts'
import { shortenErrors } from '../../src/telemetry/terminal-errors.ts'
import { repository } from '../support/process/process.ts'

const root = pathToFileURL(repository).href
const mine = '    at sizeOf (file:///home/jane/operator.ts:7:9)'
const library = '    at parse (file:///home/jane/node_modules/yaml/dist/index.js:1:1)'
const ours = [
  `    at async ObjectReconciler.reconcile (${root}/src/controller/object-reconciler.ts:70:5)`,
  `    at async run (${root}/dist/chunks/run-Bx2.js:1:200)`,
  `    at async ${join(repository, 'src/controller/workers.ts')}:12:3`,
]
const internals = [
  '    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
  '    at async node:internal/main:1:1',
]
const builtIn = ['    at new Promise (<anonymous>)', '    at async Promise.all (index 0)']

function lineOf(stack: readonly string[], fields: Record<string, unknown> = {}) {
  const err = { type: 'Error', message: 'no size', stack: stack.join('\n') }
  return { level: 'error', time: '2026-03-01T09:30:00.000Z', controller: 'mypod', err, msg: 'the reconcile failed', ...fields }
}

t.test('frames of Node.js and of Proreus are left out, and one frame stays', (t) => {
  const bundled = `    at reconcile (${root}/src/operators/mypod/reconcile.ts:9:1)`
  for (const [stack, expected] of [
    [
      ['Error: no size', mine, library, ...builtIn, ...ours, ...internals],
      ['Error: no size', mine, library],
    ],
    [
      ['Error: no size', ...ours, ...internals],
      ['Error: no size', ours[0]],
    ],
    [
      ['Error: at home', ' and two lines', ...internals, mine, 'caused by: TypeError: x', ...internals],
      ['Error: at home', ' and two lines', mine, 'caused by: TypeError: x', internals[0]],
    ],
    [
      ['Error: no size', bundled, ...ours],
      ['Error: no size', bundled],
    ],
    [['Error: no size'], ['Error: no size']],
    [[''], ['']],
  ] as const) {
    const shortened = shortenErrors()(lineOf(stack))
    t.match(shortened.err, { type: 'Error', message: 'no size', stack: expected.join('\n') })
  }
  const aggregate = { ...lineOf(['AggregateError', mine, ...ours]).err, aggregateErrors: [lineOf([mine, ...ours]).err, 'text'] }
  t.match(shortenErrors()(lineOf([], { err: aggregate })).err, {
    stack: `AggregateError\n${mine}`,
    aggregateErrors: [{ stack: mine }, 'text'],
  })
  for (const err of [undefined, null, 'text', 5, [], {}, { stack: 5 }])
    t.strictSame(shortenErrors()(lineOf([], { err })), lineOf([], { err }))
  t.end()
})

t.test('an error that repeats is one line, and has its stack again after a minute', (t) => {
  const shorten = shortenErrors()
  const at = (time: string, fields: Record<string, unknown> = {}) =>
    shorten(lineOf(['Error: no size', mine], { time: `2026-03-01T${time}.000Z`, ...fields }))
  t.match(at('09:30:00', { name: 'a' }), { msg: 'the reconcile failed', err: { stack: String } })
  const { err, msg, name } = at('09:30:01', { name: 'b' }) as Record<string, unknown>
  t.strictSame({ err, msg, name }, { err: undefined, msg: 'the reconcile failed: no size', name: 'b' })
  t.match(at('09:30:02', { controller: 'other' }), { err: { stack: String } }, 'another controller')
  t.match(at('09:30:02', { msg: 'other' }), { err: { stack: String } }, 'another message of the line')
  const other = { type: 'Error', message: 'no\n  name', stack: 'Error' }
  t.match(at('09:30:02', { err: other }), { err: { stack: String } }, 'another message of the error')
  t.match(at('09:30:03', { err: other }), { msg: 'the reconcile failed: no name', err: undefined })
  t.match(at('09:30:03', { msg: 'no size' }), { err: { stack: String } })
  t.match(at('09:30:04', { msg: 'no size' }), { msg: 'no size', err: undefined }, 'no message is printed twice')
  t.match(at('09:30:59'), { err: undefined })
  t.match(at('09:31:00'), { err: { stack: String } })
  t.match(at('09:31:01'), { err: undefined })
  for (let i = 0; i < 200; i += 1) at('09:31:02', { msg: `${i}` })
  t.match(at('09:31:03'), { err: { stack: String } }, 'not every message is remembered')
  t.end()
})

t.test('only lines for a person are shortened', (t) => {
  for (const pretty of [true, false]) {
    const lines: string[] = []
    const logger = createLogger({ pretty, destination: { write: (line: string) => void lines.push(line) } })
    const error = Object.assign(new Error('no size'), { stack: ['Error: no size', mine, ...ours, ...internals].join('\n') })
    for (let i = 0; i < 3; i += 1) logger.child({ controller: 'c' }).error({ err: error }, 'failed')
    const text = lines.join('')
    t.equal(text.match(/sizeOf/g)?.length, pretty ? 1 : 3)
    t.equal(text.match(/object-reconciler/g)?.length ?? 0, pretty ? 0 : 3)
    if (pretty) t.match(lines.at(-1), /^\[[\d:.]+\] ERROR: failed: no size \{"controller":"c"\}\n$/)
  }
  t.end()
})
