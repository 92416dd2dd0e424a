import t from 'tap'
import { warningLog } from '../../src/manager/api-warnings.ts'
import { withLogContext } from '../../src/telemetry/log-context.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

interface Line {
  readonly level: string
  readonly msg: string
}

function setUp(): { clock: FakeClock; logger: Logger; lines: Line[]; warn: (text: string) => void; count: (level: string) => number } {
  const clock = new FakeClock()
  const lines: Line[] = []
  const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(JSON.parse(line) as Line) } })
  const log = warningLog(logger, clock)
  const warn = (text: string): void => log(text, { method: 'PATCH', path: '/apis/example.com/v1/namespaces/ns/things/a' })
  return { clock, logger, lines, warn, count: (level) => lines.filter((line) => line.level === level).length }
}

t.test('a warning has its request, and the controller and object of its reconcile', async (t) => {
  const { logger, lines, warn } = setUp()
  warn('unknown field "spec.a"')
  const reconcile = async (name: string): Promise<void> => {
    await Promise.resolve()
    warn('unknown field "spec.a"')
    t.equal(lines.at(-1)?.msg.includes('unknown field'), true, name)
  }
  for (const owner of ['one', 'two', 'two'])
    await withLogContext({ controller: owner, logger: logger.child({ controller: owner, namespace: 'ns', name: 'a' }) }, () =>
      reconcile(owner),
    )
  const msg = 'the API server warns: unknown field "spec.a" (PATCH /apis/example.com/v1/namespaces/ns/things/a)'
  t.match(lines, [
    { level: 'warn', msg, controller: undefined },
    { level: 'warn', msg, controller: 'one', namespace: 'ns', name: 'a' },
    { level: 'warn', msg, controller: 'two' },
    { level: 'debug', msg: msg.replace('warns:', 'warns again:'), controller: 'two' },
  ])
  t.equal(lines.length, 4)
})

t.test('each warning is logged once an hour, and at debug level in between', async (t) => {
  const { clock, warn, count } = setUp()
  for (let minute = 0; minute < 60; minute += 1) {
    warn('v1 is deprecated')
    warn('unknown field "spec.a"')
    await clock.advance(60_000)
  }
  t.equal(count('warn'), 2)
  t.equal(count('debug'), 118)
  warn('v1 is deprecated')
  t.equal(count('warn'), 3)
})

t.test('a time of day that is set back does not hide a warning for longer', async (t) => {
  const { clock, warn, count } = setUp()
  warn('v1 is deprecated')
  clock.set(clock.now() - 86_400_000)
  await clock.advance(3_600_000)
  warn('v1 is deprecated')
  t.equal(count('warn'), 2)
})

t.test('a repeated warning is no longer the oldest', async (t) => {
  const { clock, warn, count } = setUp()
  warn('first')
  warn('second')
  await clock.advance(3_600_000)
  warn('first')
  for (let name = 0; name < 255; name += 1) warn(`unknown field "spec.${name}"`)
  t.equal(count('warn'), 258)
  warn('first')
  t.equal(count('debug'), 1, 'it is not forgotten')
})

t.test('the number of remembered warnings is bounded, and the oldest is forgotten', async (t) => {
  const { warn, count } = setUp()
  for (let name = 0; name < 257; name += 1) warn(`unknown field "spec.${name}"`)
  warn('unknown field "spec.256"')
  warn('unknown field "spec.1"')
  t.equal(count('warn'), 257)
  warn('unknown field "spec.0"')
  t.equal(count('warn'), 258)
})
